package library

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/satchel-go/satchel/skillmd"
)

// Action is what an edit does.
type Action string

// The actions. Those after Archive are for hosts and commands.
const (
	Create   Action = "create"
	Patch    Action = "patch"
	Replace  Action = "replace"
	Metadata Action = "metadata"
	Copy     Action = "copy"
	Archive  Action = "archive"

	restoring Action = "restore"
	reviewing Action = "review"
	rebasing  Action = "rebase"
	Granting  Action = "grant"
	Importing Action = "import"
)

// Edit is one change of a skill.
type Edit struct {
	Action Action
	Skill  string // canonical id or name; of Create nothing
	// Expected is the versionRef that the change was made for. Patch, Replace, Metadata,
	// Archive, and Importing with a Skill need it.
	Expected string
	Reason   string // at most 500 runes are kept
	DryRun   bool

	// Target is the file of Patch and Replace: "" is SKILL.md, "body" and
	// "promptTemplate" its body, else a doc.
	Target string
	Format string // of Patch: "unifiedDiff" or "edits"; "" is by what is there
	Patch  string
	Edits  []TextEdit
	// Content is the text of Replace, and the body or the whole SKILL.md of Create.
	Content string

	// Name is that of Create and Copy.
	Name        string
	Description *string
	Category    *string
	Triggers    []string // nil leaves them
	ToolHints   []string
	Status      string // "active" or "draft"
	// Metadata are values of the front matter's metadata; nil takes a key away.
	Metadata map[string]any
	Private  *bool // of Create and Copy; default true
	Draft    bool  // of Create

	// Files are the files of a skill that the library does not hold. Copy copies them.
	// Importing makes them the next version of Skill or, if Skill is empty, a new skill.
	Files map[string][]byte

	// Model: a model made the edit. It may touch less, and the result is unreviewed
	// unless Review approves it.
	Model bool
	// Held: the result is for its maker and for maintainers until a person reviews it,
	// if the skill is one that others see.
	Held bool

	// prepared gets the change that a dry run does not make; nil for none.
	prepared *Prepared
}

// TextEdit is one structured edit. Exactly one of OldText, From and After is set. Lines
// count from 1.
type TextEdit struct {
	// OldText becomes NewText. It must be there once, unless ReplaceAll says that each
	// place is meant.
	OldText    *string `json:"oldText"`
	NewText    string  `json:"newText"`
	ReplaceAll bool    `json:"replaceAll"`
	// The lines From to To become NewText; without To only the line From does.
	From *int `json:"from"`
	To   *int `json:"to"`
	// NewText is inserted after the line After; 0 is before the first.
	After *int `json:"after"`
}

// Outcome is what an edit has done.
type Outcome struct {
	Action      Action
	Status      string // "applied", "dry_run" or "unchanged"
	ID, Name    string
	VersionRef  string // after the edit
	Previous    string // before it, "" for a new skill
	Digest      string // of the files after the edit
	Diff        Diff
	Warnings    []string
	Diagnostics []skillmd.Diagnostic
}

// Edit makes one change, or none at all: the error is then an [Error], or that of the
// store or the context. Everything but failures of the store is in the audit.
func (l *Library) Edit(ctx context.Context, a Actor, e Edit) (Outcome, error) {
	out, err := l.edit(ctx, a, shortened(&e))
	return l.audited(ctx, a, &e, out, err)
}

// audited enters into the audit what was not committed, which has an entry, and returns
// the result of the edit.
func (l *Library) audited(ctx context.Context, a Actor, e *Edit, out Outcome, err error) (Outcome, error) {
	if out.Status != "applied" && ctx.Err() == nil {
		outcome, detail := out.Status, ""
		if own, ok := errors.AsType[*Error](err); ok {
			outcome, detail = own.Code, own.Message
		} else if err != nil {
			return Outcome{}, err
		}
		entry := l.entry(a, e.Action, cmp.Or(out.ID, idIn(e.Skill)), 0, 0, outcome, cut(detail, 500))
		if _, logErr := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: entry}); logErr != nil {
			return Outcome{}, logErr
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	if out.Status == "applied" {
		l.waiting.Tell()
	}
	return out, nil
}

// Denied keeps in the audit that a prepared edit was not approved, and why.
func (l *Library) Denied(ctx context.Context, p *Prepared, why string) error {
	a, e := p.actor, p.edit
	if e.Reason != "" {
		why += "; the edit says: " + e.Reason
	}
	_, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: l.entry(a, e.Action, idIn(e.Skill), 0, 0, "denied", cut(why, 500))})
	return err
}

// idIn returns a reference that is a canonical id, else "".
func idIn(ref string) string {
	if strings.HasPrefix(ref, "db:") || strings.HasPrefix(ref, "plugin:") {
		return ref
	}
	return ""
}

const maxReason = 500

func (l *Library) edit(ctx context.Context, a Actor, e *Edit) (Outcome, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	switch e.Action {
	case Create:
		return l.create(ctx, v, e)
	case Importing:
		if e.Skill != "" {
			return l.change(ctx, v, e)
		}
		return l.create(ctx, v, e)
	case Copy:
		return l.copy(ctx, v, e)
	case Patch, Replace, Metadata, Archive:
		return l.change(ctx, v, e)
	}
	return Outcome{}, invalid("action is one of create, patch, replace, metadata, copy and archive, not %q", cut(string(e.Action), 40))
}
