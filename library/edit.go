package library

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/skillmd"
)

// The actions of edits. The last five are for hosts and commands.
const (
	actionCreate   = "create"
	actionPatch    = "patch"
	actionReplace  = "replace"
	actionMetadata = "metadata"
	actionCopy     = "copy"
	actionArchive  = "archive"

	actionImport  = "import"
	actionRestore = "restore"
	actionReview  = "review"
	actionRebase  = "rebase"
	actionGrant   = "grant"

	actionUnreadable = "unreadable" // in the audit, for a call without a known action
)

// Edit is one change of a skill.
type Edit struct {
	// Action is what the edit does: "create", "patch", "replace", "metadata", "copy" or
	// "archive". Hosts may also use "import".
	Action string
	// Skill is the canonical id or the name of the skill. A "create" has none.
	Skill string
	// Expected is the versionRef of the text that the author of the edit has read. The actions
	// "patch", "replace", "metadata" and "archive" need it, and so does "import" with a Skill.
	Expected string
	Reason   string // at most 500 runes are kept
	DryRun   bool

	// Target is the file of "patch" and "replace": SKILL.md for "", its body for "body" and
	// "promptTemplate", else a doc.
	Target string
	// Format is "unifiedDiff" if Patch is set, or "edits" if Edits is. It may be empty.
	Format string
	Patch  string
	Edits  []TextEdit
	// Content is the text of "replace", and the body or the whole SKILL.md of "create".
	Content string

	// Name is the name of the new skill, for "create", "copy", and "import" without a Skill.
	Name        string
	Description *string
	Category    *string
	Triggers    []string // nil keeps them, as with ToolHints
	ToolHints   []string
	Status      string // "active" or "draft"
	// Metadata are values of the front matter's metadata; a nil value removes a key.
	Metadata map[string]any
	Private  *bool // for "create", "copy" and "import"; default true
	Draft    bool  // for "create"

	// Files are the files of a skill that the library does not have. "copy" copies them.
	// "import" makes them the next version of Skill or, without a Skill, a new skill.
	Files map[string][]byte

	// Model reports that a model made the edit. Such an edit may change fewer fields and files,
	// and its result is unreviewed until a person approves it.
	Model bool
	// Held reports that other actors get the result of an edit of a shared skill only after a
	// review. Its editor and maintainers get it at once.
	Held bool

	// prepared, if not nil, gets the change that a dry run does not commit.
	prepared *preparedEdit
	// view is the view in which Skill was resolved; nil if it was not resolved yet.
	view *view
}

// TextEdit is one structured edit. Exactly one of OldText, From and After is set. Lines
// count from 1.
type TextEdit struct {
	// OldText is replaced by NewText. It must occur once, unless ReplaceAll is set.
	OldText    *string `json:"oldText"`
	NewText    string  `json:"newText"`
	ReplaceAll bool    `json:"replaceAll"`
	// From and To are the first and the last line that NewText replaces. Without To it replaces
	// only the line From.
	From *int `json:"from"`
	To   *int `json:"to"`
	// After is the line after which NewText is inserted; 0 is before the first.
	After *int `json:"after"`
}

// Outcome is the result of an edit.
type Outcome struct {
	Action      string // as in [Edit]
	Status      string // "applied", "dry_run" or "unchanged"
	ID, Name    string
	VersionRef  string // after the edit
	Previous    string // before it, "" for a new skill
	Digest      string // of the files after the edit
	Diff        Diff
	Warnings    []string
	Diagnostics []skillmd.Diagnostic
}

// Edit makes one change in full, or returns an error and changes nothing. The error is an [Error],
// or that of the store or the context. The audit gets an entry unless the store fails.
func (l *Library) Edit(ctx context.Context, a Actor, e Edit) (Outcome, error) {
	out, err := l.edit(ctx, a, shortenReason(&e))
	return l.auditOutcome(ctx, a, &e, out, err)
}

// auditOutcome adds an entry to the audit for an edit that was not committed; a commit has written
// its own. It returns out and err.
func (l *Library) auditOutcome(ctx context.Context, a Actor, e *Edit, out Outcome, err error) (Outcome, error) {
	if out.Status != "applied" && ctx.Err() == nil {
		outcome, detail := out.Status, ""
		if own, ok := errors.AsType[*Error](err); ok {
			outcome, detail = own.code, own.Message
		} else if err != nil {
			return Outcome{}, err
		}
		entry := l.entry(a, knownAction(e.Action), cmp.Or(out.ID, idIn(e.Skill)), 0, 0, outcome, printable.Cut(named(e, detail), 500))
		if _, logErr := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: entry}); logErr != nil {
			return Outcome{}, logErr
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	if out.Status == "applied" {
		l.listeners.Notify()
	}
	return out, nil
}

// deny adds an entry to the audit that a prepared edit was not approved, and why.
func (l *Library) deny(ctx context.Context, p *preparedEdit, why string) error {
	a, e := p.actor, p.edit
	if e.Reason != "" {
		why += "; the edit says: " + e.Reason
	}
	_, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: l.entry(a, e.Action, idIn(e.Skill), 0, 0, "denied", printable.Cut(named(e, why), 500))})
	return err
}

// named returns the detail of an entry. If the edit has no canonical id, the detail begins with the
// name in the edit.
func named(e *Edit, detail string) string {
	name := printable.Cut(cmp.Or(e.Skill, e.Name), 100)
	if idIn(e.Skill) != "" || name == "" || strings.Contains(detail, strconv.Quote(name)) {
		return detail
	}
	return strings.TrimSuffix(strconv.Quote(name)+": "+detail, ": ")
}

// knownAction returns action, or actionUnreadable if it is no action of an edit.
func knownAction(action string) string {
	switch action {
	case actionCreate, actionImport, actionCopy, actionPatch, actionReplace, actionMetadata, actionArchive:
		return action
	}
	return actionUnreadable
}

// idIn returns ref if it is a canonical id, else "".
func idIn(ref string) string {
	if strings.HasPrefix(ref, "db:") || strings.HasPrefix(ref, "plugin:") {
		return ref
	}
	return ""
}

func (l *Library) edit(ctx context.Context, a Actor, e *Edit) (Outcome, error) {
	v := e.view
	if v == nil {
		var err error
		if v, err = l.view(ctx, a); err != nil {
			return Outcome{}, err
		}
	}
	switch e.Action {
	case actionCreate:
		return l.create(ctx, v, e)
	case actionImport:
		if e.Skill != "" {
			return l.change(ctx, v, e)
		}
		return l.create(ctx, v, e)
	case actionCopy:
		return l.copy(ctx, v, e)
	case actionPatch, actionReplace, actionMetadata, actionArchive:
		return l.change(ctx, v, e)
	}
	return Outcome{}, invalid("action is one of create, patch, replace, metadata, copy and archive, not %q", printable.Cut(e.Action, 40))
}

// storableText replaces invalid UTF-8 and control characters, which some databases refuse.
func storableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func (l *Library) entry(a Actor, action string, id string, from, to int, outcome, detail string) Entry {
	return Entry{At: l.now(), Subject: a.Subject, Agent: a.Agent, Session: a.Session, Action: action, ID: id, From: from, To: to, Outcome: outcome, Detail: storableText(detail)}
}

// refusal adds an entry to the audit if err is a refusal, and returns err. For other errors it
// does nothing, because the store has failed.
func (l *Library) refusal(ctx context.Context, a Actor, action string, id string, err error) error {
	own, ok := errors.AsType[*Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	if _, failed := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: l.entry(a, action, id, 0, 0, own.code, printable.Cut(own.Message, 500))}); failed != nil {
		return failed
	}
	return err
}

// Log returns entries of the audit.
func (l *Library) Log(ctx context.Context, a Actor, q LogQuery) ([]Entry, error) {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := need(have, roleMaintainer, "reading the log", ""); err != nil {
		return nil, err
	}
	return l.store.Entries(ctx, a.Tenant, q)
}
