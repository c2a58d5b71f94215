package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/textedit"
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

	Restoring Action = "restore"
	Reviewing Action = "review"
	Rebasing  Action = "rebase"
	Granting  Action = "grant"
	Importing Action = "import"
)

// Edit is one change of a skill.
type Edit struct {
	Action Action
	Skill  string // canonical id or name; of Create nothing
	// Expected is the versionRef that the change was made for. Patch, Replace, Metadata
	// and Archive need it.
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

	// Files are what Copy copies of a skill that the library does not hold.
	Files map[string][]byte

	// Model: a model made the edit. It may touch less, and the result is unreviewed
	// unless Review approves it.
	Model bool
	// Held: the result is for its maker and for maintainers until a person reviews it,
	// if the skill is one that others see.
	Held bool
	// Approval is what a person was shown; the edit is made only if it is still that.
	Approval *Approval
}

// TextEdit is one structured edit. Which fields are set decides what it does.
type TextEdit struct {
	OldText    *string `json:"oldText"`
	NewText    string  `json:"newText"`
	ReplaceAll bool    `json:"replaceAll"`
	From       *int    `json:"from"`
	To         *int    `json:"to"`
	After      *int    `json:"after"`
}

// Approval binds an answer of a person to one result.
type Approval struct {
	ID, Base, Digest string
	// By is who has seen the whole difference, "" for nobody: then the result stays
	// unreviewed.
	By string
}

// Diff is the difference of two versions.
type Diff struct {
	// Unified has three lines of context and applies with patch. Numbered has old and
	// new number of each line. Of several files they follow each other by path.
	Unified, Numbered string
	Added, Removed    int
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
	e.Reason = printable(e.Reason)
	if utf8.RuneCountInString(e.Reason) > maxReason {
		e.Reason = string([]rune(e.Reason)[:maxReason])
	}
	out, err := l.edit(ctx, a, &e)
	if out.Status != "applied" && ctx.Err() == nil {
		outcome := out.Status
		var own *Error
		switch {
		case errors.As(err, &own):
			outcome = own.Code
		case err != nil:
			return Outcome{}, err
		}
		detail := ""
		if own != nil {
			detail = own.Message
		}
		id := out.ID
		if id == "" && (strings.HasPrefix(e.Skill, "db:") || strings.HasPrefix(e.Skill, "plugin:")) {
			id = e.Skill
		}
		entry := l.entry(a, e.Action, id, 0, 0, outcome, cut(detail, 500))
		if _, logErr := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: entry}); logErr != nil {
			return Outcome{}, logErr
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	if out.Status == "applied" {
		l.changed()
	}
	return out, nil
}

const maxReason = 500

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// printable makes text from outside one that every database takes.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func (l *Library) entry(a Actor, action Action, id string, from, to int, outcome, detail string) Entry {
	return Entry{At: l.now(), Subject: a.Subject, Agent: a.Agent, Session: a.Session, Action: action, ID: id, From: from, To: to, Outcome: outcome, Detail: printable(detail)}
}

// made is what an edit would make.
type made struct {
	item     *item  // nil for a new skill
	oldText  []byte // SKILL.md before
	files    map[string][]byte
	state    State
	warnings []string
}

func (l *Library) edit(ctx context.Context, a Actor, e *Edit) (Outcome, error) {
	v, err := l.view(ctx, a)
	if err != nil {
		return Outcome{}, err
	}
	switch e.Action {
	case Create, Importing:
		return l.create(ctx, v, e)
	case Copy:
		return l.copy(ctx, v, e)
	case Patch, Replace, Metadata, Archive:
		return l.change(ctx, v, e)
	}
	return Outcome{}, invalid("action is one of create, patch, replace, metadata, copy and archive, not %q", cut(string(e.Action), 40))
}

// allowed refuses what the role of the actor is not enough for.
func (v *view) allowed(i *item, action Action) error {
	h := i.head
	switch {
	case i.base != nil:
		return need(v.role, Maintainer, "editing plugin skills", copyInstead)
	case !h.Shared && v.owns(h):
		return need(v.role, Author, "editing skills", "")
	case action == Archive || action == Restoring:
		return need(v.role, Maintainer, "archiving shared skills", "")
	case !h.Shared:
		return need(v.role, Maintainer, "editing private skills of others", copyInstead)
	}
	return need(v.role, Editor, "editing shared skills", copyInstead)
}

// change is an edit of a skill that is there.
func (l *Library) change(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	if e.Skill == "" {
		return Outcome{}, invalid("skill is missing: name the skill to change")
	}
	i, err := v.find(e.Skill)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Action: e.Action, ID: i.id, Name: i.name()}
	if err := v.allowed(i, e.Action); err != nil {
		return out, err
	}
	if e.Expected == "" {
		return out, invalid("expectedVersionRef is missing: inspect the skill and send the versionRef that you saw")
	}
	head, err := v.newest(ctx, i)
	if err != nil {
		return out, err
	}
	out.Previous = head.VersionRef
	from := head
	if !sameRef(e.Expected, head) {
		if from, err = v.open(ctx, i, e.Expected); err != nil {
			return out, err
		}
	}
	m, err := l.apply(ctx, i, from, e)
	if err != nil {
		if from != head { // the text that it was made for is gone anyway
			return out, l.conflict(ctx, v, i, from, head)
		}
		return out, err
	}
	files, blobs := filesAndBlobs(m.files, from.Files)
	digest := digestOf(files)
	same := digest == head.Digest && m.state == stateOf(i)
	if from != head && !same {
		return out, l.conflict(ctx, v, i, from, head)
	}
	out.Digest, out.Warnings = digest, m.warnings
	if same {
		out.Status, out.VersionRef = "unchanged", head.VersionRef
		return out, nil
	}
	if out.Diagnostics, err = l.judge(ctx, e, head, m); err != nil {
		return out, err
	}
	before, err := head.texts(ctx, m.files)
	if err != nil {
		return out, err
	}
	out.Diff = compareFiles(before, m.files)
	if e.Action == Replace && head.lines(before)*6 < 10*(head.lines(before)-out.Diff.Removed) {
		out.Warnings = append(out.Warnings, "most lines are as before: use patch")
	}
	return l.commit(ctx, v, e, m, out, files, blobs, "")
}

// lines counts the lines of the texts before a change.
func (s *Skill) lines(files map[string][]byte) int {
	n := 0
	for _, data := range files {
		n += strings.Count(string(data), "\n")
	}
	return n
}

// texts reads those files that are not the same as in the other ones.
func (s *Skill) texts(ctx context.Context, other map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, f := range s.Files {
		if data, ok := other[f.Path]; ok && sumOf(data) == f.Digest {
			out[f.Path] = data
			continue
		}
		data, err := s.read(ctx, f)
		if err != nil {
			return nil, err
		}
		out[f.Path] = data
	}
	return out, nil
}

func stateOf(i *item) State {
	if i.head == nil {
		return Packaged
	}
	return i.head.State
}

// newest returns the head, whoever may load it.
func (v *view) newest(ctx context.Context, i *item) (*Skill, error) {
	if !i.overlaid() {
		return v.openBase(i), nil
	}
	return v.open(ctx, i, refOf(i.head.Version, i.head.Digest))
}

// sameRef reports whether a versionRef, or the beginning of one, names a version.
func sameRef(ref string, s *Skill) bool {
	return ref == s.VersionRef || s.Version > 0 && ref == fmt.Sprintf("v%d", s.Version)
}

// conflict says what has happened since the version that an edit was made for.
func (l *Library) conflict(ctx context.Context, v *view, i *item, from, head *Skill) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e := refuse("conflict", ErrConflict, "the skill is at %s, not %s: it was changed. Inspect it and make the change anew.", head.VersionRef, from.VersionRef)
	if head.Version > 0 {
		r, err := l.store.Load(ctx, v.actor.Tenant, i.id, head.Version)
		if err != nil {
			return err
		}
		e.Message = fmt.Sprintf("the skill is at %s, not %s: it was changed by %s (%q). Inspect it and make the change anew.", head.VersionRef, from.VersionRef, r.Subject, r.Reason)
	}
	e.VersionRef = head.VersionRef
	after, err := head.all(ctx)
	if err != nil {
		return err
	}
	before, err := from.texts(ctx, after)
	if err != nil {
		return err
	}
	e.ChangedSince = compareFiles(before, after).Numbered
	return e
}

// apply makes the new files.
func (l *Library) apply(ctx context.Context, i *item, from *Skill, e *Edit) (*made, error) {
	files, err := from.all(ctx)
	if err != nil {
		return nil, err
	}
	m := &made{item: i, oldText: files[skillFile], files: files, state: stateOf(i)}
	if m.state == Packaged {
		m.state = Active
	}
	switch e.Action {
	case Archive:
		m.state = Archived
		if i.base != nil && i.overlaid() && i.head.State != Archived {
			m.state = Packaged
		}
		return m, nil
	case Metadata:
		return m, l.metadata(m, e)
	}
	if i.head != nil && i.head.State == Archived {
		return nil, refused("%s is archived; restore it first", i.id)
	}
	return m, l.text(m, e)
}

// target says which file an edit is of, and which part of it.
func (m *made) target(e *Edit) (name, before, text string, err error) {
	name = cmp.Or(e.Target, skillFile)
	switch name {
	case "body", "promptTemplate":
		text = string(m.files[skillFile])
		end := max(0, skillmd.FrontMatterEnd([]byte(text)))
		return skillFile, text[:end], text[end:], nil
	case skillFile:
		return name, "", string(m.files[skillFile]), nil
	}
	if !validPath(name) {
		return "", "", "", invalid("%q is no path within the skill", cut(name, 200))
	}
	if e.Model && !isDoc(name) {
		return "", "", "", refused("an edit may not change %s; ask a person to do it", name)
	}
	data, ok := m.files[name]
	if !ok && e.Action == Patch {
		return "", "", "", invalid("there is no file %q; files are %s", cut(name, 200), quotedNames(slices.Sorted(maps.Keys(m.files))))
	}
	if !utf8.Valid(data) {
		return "", "", "", invalid("%s is no text", name)
	}
	return name, "", string(data), nil
}

// text makes a patch or a replacement.
func (l *Library) text(m *made, e *Edit) error {
	name, before, text, err := m.target(e)
	if err != nil {
		return err
	}
	var next string
	if e.Action == Replace {
		if e.Content == "" && name == skillFile {
			return invalid("content is missing")
		}
		next = e.Content
		if before != "" && !strings.HasPrefix(next, "\n") {
			next = "\n" + next
		}
		if next != "" && !strings.HasSuffix(next, "\n") {
			next += "\n"
		}
	} else {
		done, err := patch(text, name, e)
		var f *textedit.Failure
		if errors.As(err, &f) {
			if strings.HasSuffix(f.Text, " changes nothing") {
				return nil // of the only one
			}
			return refuse(string(f.Code), ErrInvalid, "%s", f.Text)
		}
		if err != nil {
			return err
		}
		next, m.warnings = done.Text, append(m.warnings, done.Warnings...)
	}
	limit := l.limits.File
	if name == skillFile {
		limit = l.limits.SkillFile
	}
	if size := len(before) + len(next); size > limit {
		return refuse("too_large", ErrTooLarge, "the text would have %d bytes, at most %d may be", size, limit)
	}
	m.files = maps.Clone(m.files)
	m.files[name] = []byte(before + next)
	return nil
}

func patch(text, name string, e *Edit) (textedit.Result, error) {
	format := e.Format
	if format == "" {
		format = "unifiedDiff"
		if len(e.Edits) > 0 {
			format = "edits"
		}
	}
	switch {
	case format == "unifiedDiff" && e.Patch == "":
		return textedit.Result{}, invalid("patch is missing: send a diff in patch, or edits")
	case format == "unifiedDiff":
		return textedit.ApplyDiff(text, e.Patch, name)
	case format != "edits":
		return textedit.Result{}, invalid("patchFormat is unifiedDiff or edits, not %q", cut(format, 40))
	}
	edits := make([]textedit.Edit, len(e.Edits))
	for i, te := range e.Edits {
		switch {
		case te.OldText != nil && te.From == nil && te.After == nil:
			edits[i] = textedit.Edit{OldText: *te.OldText, NewText: te.NewText, All: te.ReplaceAll}
		case te.From != nil && te.OldText == nil && te.After == nil:
			to := *te.From
			if te.To != nil {
				to = *te.To
			}
			edits[i] = textedit.Edit{Kind: textedit.ReplaceLines, From: *te.From, To: to, NewText: te.NewText}
		case te.After != nil && te.OldText == nil && te.From == nil:
			edits[i] = textedit.Edit{Kind: textedit.InsertAfter, After: *te.After, NewText: te.NewText}
		default:
			return textedit.Result{}, invalid(`edit %d has none or several of oldText, from and after: send {"oldText","newText"}, {"from","to","newText"} or {"after","newText"}`, i+1)
		}
	}
	return textedit.ApplyEdits(text, edits)
}

// metadata changes fields of the front matter and the state.
func (l *Library) metadata(m *made, e *Edit) error {
	text, err := withFields(string(m.files[skillFile]), e)
	if err != nil {
		return err
	}
	m.files = maps.Clone(m.files)
	m.files[skillFile] = []byte(text)
	switch {
	case e.Status == "":
	case e.Status != string(Active) && e.Status != string(Draft):
		return invalid("status is active or draft; archive is an action of its own")
	case m.item != nil && m.item.base != nil && e.Status == string(Draft):
		return refused("a plugin skill cannot be a draft; copy it with action \"copy\" and edit the copy")
	default:
		m.state = State(e.Status)
	}
	return nil
}

// withFields writes fields of an edit into a SKILL.md.
func withFields(text string, e *Edit) (string, error) {
	f, ok := splitFront(text)
	if !ok {
		return "", refused("the front matter cannot be read by lines")
	}
	if e.Description != nil {
		if strings.TrimSpace(*e.Description) == "" {
			return "", invalid("description is empty")
		}
		f.set("description", strings.TrimSpace(*e.Description))
	}
	values := maps.Clone(e.Metadata)
	if values == nil {
		values = map[string]any{}
	}
	if e.Category != nil {
		values["category"] = *e.Category
	}
	if e.Triggers != nil {
		values["triggers"] = e.Triggers
	}
	if e.ToolHints != nil {
		values["toolHints"] = e.ToolHints
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if keyIn(key+":") != key {
			return "", invalid("%q cannot be a key of metadata", cut(key, 80))
		}
		if !f.setMetadata(key, values[key]) {
			return "", refused("metadata is written on one line: change it with action \"patch\"")
		}
	}
	return f.String(), nil
}

// judge refuses results that cannot be, or that a model may not make.
func (l *Library) judge(_ context.Context, e *Edit, head *Skill, m *made) ([]skillmd.Diagnostic, error) {
	if err := l.checkFiles(m.files); err != nil {
		return nil, err
	}
	doc, found, err := parse(m.files[skillFile])
	if err != nil {
		return nil, err
	}
	if head == nil {
		if e.Model && e.Action == Create {
			return found, checkModel(nil, &doc, "", "")
		}
		return found, nil
	}
	if skillmd.CleanName(doc.Skill.Name) != skillmd.CleanName(head.Name) {
		return nil, refused(`rename with action "copy"`)
	}
	if !e.Model || e.Action == Archive {
		return found, nil
	}
	old, _, _ := skillmd.Parse(m.oldText)
	return found, checkModel(&old, &doc, string(m.oldText), string(m.files[skillFile]))
}

func (l *Library) create(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	out := Outcome{Action: e.Action, Name: e.Name}
	if err := need(v.role, Author, "creating skills", ""); err != nil {
		return out, err
	}
	files := maps.Clone(e.Files)
	if e.Action == Create {
		text, err := newText(e)
		if err != nil {
			return out, err
		}
		files = map[string][]byte{skillFile: []byte(text)}
	}
	return l.add(ctx, v, e, out, files)
}

// newText writes the SKILL.md of a new skill.
func newText(e *Edit) (string, error) {
	text := e.Content
	if skillmd.FrontMatterEnd([]byte(text)) < 0 || !strings.HasPrefix(text, "---") {
		if e.Name == "" {
			return "", invalid("name is missing")
		}
		if e.Description == nil || strings.TrimSpace(*e.Description) == "" {
			return "", invalid("description is missing: say what the skill does and when to use it")
		}
		text = "---\nname: " + e.Name + "\ndescription: x\n---\n\n" + strings.TrimLeft(text, "\n")
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
	}
	text, err := withFields(text, e)
	if err != nil {
		return "", err
	}
	doc, _, err := parse([]byte(text))
	if err != nil {
		return "", err
	}
	if e.Name == "" {
		e.Name = doc.Skill.Name
	}
	if doc.Skill.Name != e.Name {
		return "", invalid("name is %q, but the front matter says %q", e.Name, doc.Skill.Name)
	}
	return text, nil
}

// add commits a new skill of the database.
func (l *Library) add(ctx context.Context, v *view, e *Edit, out Outcome, files map[string][]byte) (Outcome, error) {
	if wrong := skillmd.ValidName(e.Name); len(wrong) > 0 {
		return out, invalid("%s", wrong[0].Message)
	}
	shared := e.Private != nil && !*e.Private
	if shared {
		if err := need(v.role, Maintainer, "sharing skills", `leave "private" out`); err != nil {
			return out, err
		}
	}
	m := &made{files: files, state: Active}
	if e.Draft {
		m.state = Draft
	}
	var err error
	if out.Diagnostics, err = l.judge(ctx, e, nil, m); err != nil {
		return out, err
	}
	for _, i := range v.items {
		if h := i.head; h != nil && clash(&h.Head, &Head{Name: e.Name, NameKey: skillmd.CleanName(e.Name), Owner: v.actor.Subject, Shared: shared, State: m.state}) {
			return out, nameTaken(e.Name)
		}
	}
	listed, blobs := filesAndBlobs(files, nil)
	out.Name, out.ID, out.Digest = e.Name, l.newID(), digestOf(listed)
	out.Diff = compareFiles(nil, files)
	owner := v.actor.Subject
	done, err := l.commit(ctx, v, e, m, out, listed, blobs, owner)
	if err == nil && done.Status == "dry_run" {
		done.ID = ""
	}
	return done, err
}

func nameTaken(name string) error {
	return refuse("refused", ErrNameTaken, "the name %q is taken: choose another one, or change that skill", name)
}

func (l *Library) copy(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	out := Outcome{Action: Copy, Name: e.Name}
	if err := need(v.role, Author, "copying skills", ""); err != nil {
		return out, err
	}
	if e.Name == "" {
		return out, invalid("name is missing: give the copy a name of its own")
	}
	files := e.Files
	if files == nil {
		i, err := v.find(e.Skill)
		if err != nil {
			return out, err
		}
		s, err := v.open(ctx, i, "")
		if err != nil {
			return out, err
		}
		if files, err = s.all(ctx); err != nil {
			return out, err
		}
	}
	f, ok := splitFront(string(files[skillFile]))
	if !ok {
		return out, refused("the front matter cannot be read by lines")
	}
	if wrong := skillmd.ValidName(e.Name); len(wrong) > 0 {
		return out, invalid("%s", wrong[0].Message)
	}
	f.set("name", e.Name)
	files = maps.Clone(files)
	files[skillFile] = []byte(f.String())
	return l.add(ctx, v, e, out, files)
}

// commit ends an edit: a dry run says what would be, an approval is compared, and the
// rest is one transaction.
func (l *Library) commit(ctx context.Context, v *view, e *Edit, m *made, out Outcome, files []File, blobs map[string][]byte, owner string) (Outcome, error) {
	a, now := v.actor, l.now()
	head := Head{ID: out.ID, Name: out.Name, Owner: owner, Shared: e.Private != nil && !*e.Private, Created: now}
	base := 0
	if i := m.item; i != nil {
		if i.head != nil {
			head, base = i.head.Head, i.head.Version
		} else {
			head = Head{ID: i.id, Plugin: i.base.plugin.ID, Name: i.base.skill.Name, Shared: true, Created: now}
		}
		if i.base != nil && (!i.overlaid() || e.Action == Rebasing) {
			head.BaseDigest = i.base.digest
			packaged, err := v.openBase(i).all(ctx)
			if err != nil {
				return out, err
			}
			maps.Copy(blobs, baseBlobs(i.base.files, packaged))
		}
	}
	head.NameKey, head.State, head.Digest, head.Editor, head.Updated = skillmd.CleanName(head.Name), m.state, out.Digest, a.Subject, now
	head.Version = base + 1
	if text := m.files[skillFile]; text != nil {
		if end := skillmd.FrontMatterEnd(text); end > 0 {
			head.Front = text[:end]
		}
	}
	out.VersionRef = refOf(head.Version, head.Digest)
	if e.Approval != nil && (e.Approval.Digest != out.Digest || e.Approval.Base != out.Previous || m.item != nil && e.Approval.ID != out.ID) {
		return out, approvedOther()
	}
	reviewer := l.reviewer(a, e, m, head)
	switch {
	case reviewer != "":
		head.Reviewed, head.Served = head.Version, head.Version
	case e.Held && v.role != Maintainer && head.Shared:
		// head.Served stays what it was
	default:
		head.Served = head.Version
	}
	if e.DryRun {
		out.Status = "dry_run"
		return out, nil
	}
	revision := Revision{
		ID: head.ID, Version: head.Version, Digest: head.Digest, BaseDigest: head.BaseDigest, Action: e.Action, Reason: e.Reason,
		Subject: a.Subject, Agent: a.Agent, ReviewedBy: reviewer, At: now, Files: files,
	}
	entry := l.entry(a, e.Action, head.ID, base, head.Version, "applied", e.Reason)
	_, err := l.store.Commit(ctx, Change{Tenant: a.Tenant, Head: &head, Base: base, Revision: &revision, Blobs: blobs, Entry: entry, Keep: l.keep})
	switch {
	case errors.Is(err, ErrNameTaken):
		return out, nameTaken(head.Name)
	case errors.Is(err, ErrConflict):
		return out, l.raced(ctx, a, out)
	case err != nil:
		return out, err
	}
	out.Status = "applied"
	if m.item != nil {
		out.Warnings = append(out.Warnings, "conversations that have loaded it keep the text that they have; run it again for the new one")
	}
	return out, nil
}

// reviewer is who has approved the very result: a person who made it, or one who was
// shown all of it.
func (l *Library) reviewer(a Actor, e *Edit, m *made, head Head) string {
	switch {
	case e.Approval != nil && e.Approval.By != "":
		return e.Approval.By
	case !e.Model && e.Action != Copy:
		return cmp.Or(a.Subject, "host")
	case e.Action == Archive && m.item != nil && head.Reviewed == head.Version-1:
		return cmp.Or(a.Subject, "host") // the text is the same
	}
	return ""
}

func approvedOther() error {
	return refuse("conflict", ErrConflict, "the change that was approved is another one: the skill or the change is no longer the same. Inspect it and make the change anew.")
}

// raced is the conflict of an edit that somebody else was faster than.
func (l *Library) raced(ctx context.Context, a Actor, out Outcome) error {
	v, err := l.view(ctx, a)
	if err != nil {
		return err
	}
	i, err := v.find(out.ID)
	if err != nil {
		return err
	}
	head, err := v.newest(ctx, i)
	if err != nil {
		return err
	}
	from, err := v.open(ctx, i, out.Previous)
	if err != nil {
		from = head
	}
	e := l.conflict(ctx, v, i, from, head)
	return e
}

// filesAndBlobs lists files, keeping what is known of those of before.
func filesAndBlobs(files map[string][]byte, before []File) ([]File, map[string][]byte) {
	var listed []File
	blobs := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		f := File{Path: name, Digest: sumOf(data), Size: int64(len(data))}
		for _, old := range before {
			if old.Path == name {
				f.Executable = old.Executable
			}
		}
		listed = append(listed, f)
		blobs[f.Digest] = data
	}
	return listed, blobs
}

// compareFiles is the difference of all files that differ.
func compareFiles(before, after map[string][]byte) Diff {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var d Diff
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := before[name], after[name]
		if string(a) == string(b) {
			continue
		}
		if !utf8.Valid(a) || !utf8.Valid(b) {
			d.Unified += fmt.Sprintf("Binary files a/%s and b/%s differ\n", name, name)
			continue
		}
		one := textedit.Compare(string(a), string(b), name)
		if len(names) > 1 && name != skillFile {
			d.Numbered += name + "\n"
		}
		d.Unified, d.Numbered = d.Unified+one.Unified, d.Numbered+one.Numbered
		d.Added, d.Removed = d.Added+one.Added, d.Removed+one.Removed
	}
	return d
}
