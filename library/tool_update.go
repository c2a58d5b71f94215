package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/eventkind"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// updateTool returns the operation updateSkill, which creates, changes, copies and archives
// skills. name is the name of the tool. Under another name its texts do not mention runSkill.
func updateTool(name string) tools.Operation {
	say := func(text string) string { return text }
	if name != nameUpdate {
		say = withoutRunSkill.Replace
	}
	return tools.Operation{
		Name:        name,
		Description: say("Change a skill. patch, replace, metadata and archive need the versionRef that inspect showed. edits: {oldText,newText,replaceAll} or {from,to,newText} or {after,newText}."),
		Fields: []tools.Field{
			{Name: "skill", Kind: tools.Text, Description: "canonicalId", Aliases: []string{"skillRef", "skill_ref", "canonicalId", "canonical_id"}},
			{Name: "action", Kind: tools.Text, Required: true, Enum: []string{"create", "patch", "replace", "metadata", "copy", "archive"}},
			{Name: "expectedVersionRef", Kind: tools.Text, Aliases: []string{"expected_version_ref"}},
			{Name: "reason", Kind: tools.Text},
			{Name: "dryRun", Kind: tools.Flag, Aliases: []string{"dry_run"}},
			{Name: "target", Kind: tools.Text, Description: say("SKILL.md (default), body, or a doc; lines count as inspect shows them")},
			{Name: "patchFormat", Kind: tools.Text, Enum: []string{"unifiedDiff", "edits"}, Aliases: []string{"patch_format"}, Quiet: true},
			whole("patch", "unified diff", "diff"),
			{Name: "edits", Kind: tools.Value, Schema: listOf(map[string]any{"type": "object"}), Reads: listOf(map[string]any{"type": "object", "properties": editFields()})},
			whole("content", "of create and replace"),
			{Name: "name", Kind: tools.Text, Description: "of create and copy"},
			whole("description", ""),
			{Name: "category", Kind: tools.Text},
			{Name: "triggers", Kind: tools.Texts},
			{Name: "toolHints", Kind: tools.Texts, Aliases: []string{"tool_hints"}},
			{Name: "status", Kind: tools.Text, Enum: []string{"active", "draft"}},
			{Name: "metadata", Kind: tools.Value, Schema: map[string]any{"type": "object"}},
			{Name: "private", Kind: tools.Value, Schema: map[string]any{"type": "boolean"}},
			{Name: "draft", Kind: tools.Flag},
		},
		Kind: tools.Edits,
		Request: func(args tools.Args) permission.Request {
			return permission.Request{Takes: permission.Text, Text: args.Text("skill"), Idle: args.Err() != nil}
		},
		Prepare: func(ctx context.Context, s *tools.Scope, args tools.Args) (*tools.Prepared, error) {
			return prepare(ctx, s, args, say)
		},
		Refuse: fail,
		Call: func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
			return updateSkill(ctx, s, args, say)
		},
	}
}

// withoutRunSkill replaces what runSkill is advised for by what the default vocabulary has.
var withoutRunSkill = strings.NewReplacer(
	`find skills with action "list"`, "use a name from the list of available skills",
	"the versionRef that inspect showed", "the versionRef at the end of the receipt of a load, such as v3-0a1b2c3d4e5f",
	"lines count as inspect shows them", "lines count from the start of the file",
	"inspect the skill and send the versionRef that you saw", "load the skill and send the versionRef at the end of the receipt, such as v3-0a1b2c3d4e5f",
	"Inspect it and make the change anew.", "Load it again and make the change anew.",
	"run it again for the new one", "load it again for the new one",
)

// inWords returns an error of the library with another message.
func inWords(err error, say func(string) string) error {
	own, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	said := *own
	said.Message = say(said.Message)
	return &said
}

// textEdit is an edit as a model writes it, with the other spellings of each field.
type textEdit struct {
	TextEdit
	NewText    *string `json:"newText"`
	ReplaceAll *bool   `json:"replaceAll"`
	Old        *string `json:"old"`
	OldSnake   *string `json:"old_text"`
	New        *string `json:"new"`
	NewSnake   *string `json:"new_text"`
	AllSnake   *bool   `json:"replace_all"`
}

// join brings the spellings of each field together, of which one may be there.
func (te *textEdit) join() error {
	var err error
	te.OldText = only(&err, "oldText", te.OldText, te.Old, te.OldSnake)
	if text := only(&err, "newText", te.NewText, te.New, te.NewSnake); text != nil {
		te.TextEdit.NewText = *text
	}
	if all := only(&err, "replaceAll", te.ReplaceAll, te.AllSnake); all != nil {
		te.TextEdit.ReplaceAll = *all
	}
	return err
}

// only returns the value that is there, and fails if several are.
func only[T any](err *error, name string, values ...*T) (value *T) {
	for _, v := range values {
		if v != nil && value != nil {
			*err = fmt.Errorf("%s is there twice, in other words", name)
		}
		value = cmp.Or(value, v)
	}
	return value
}

func listOf(items map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": items}
}

// editFields are the fields of textEdit, also as models spell them; numbers may come as
// texts.
func editFields() map[string]any {
	fields := map[string]any{"replaceAll": map[string]any{"type": "boolean"}, "replace_all": map[string]any{"type": "boolean"}}
	for _, name := range []string{"oldText", "old_text", "newText", "new_text", "old", "new"} {
		fields[name] = map[string]any{"type": "string"}
	}
	for _, name := range []string{"from", "to", "after"} {
		fields[name] = map[string]any{"type": "integer"}
	}
	return fields
}

// editOf reads the arguments. Errors are tools.ModelError.
func editOf(args tools.Args) (Edit, error) {
	e := Edit{
		Action: args.Text("action"), Skill: args.Text("skill"), Expected: args.Text("expectedVersionRef"), Reason: args.Text("reason"),
		DryRun: args.Flag("dryRun"), Target: args.Text("target"), Format: args.Text("patchFormat"), Name: args.Text("name"),
		Triggers: args.Texts("triggers"), ToolHints: args.Texts("toolHints"), Status: args.Text("status"), Draft: args.Flag("draft"), Model: true,
	}
	err := checkFields(args, e.Action, updateFields)
	if err != nil {
		return e, err
	}
	if e.Patch, _, err = wholeText(args, "patch"); err != nil {
		return e, err
	}
	if e.Content, _, err = wholeText(args, "content"); err != nil {
		return e, err
	}
	if text, given, err := wholeText(args, "description"); err != nil {
		return e, err
	} else if given {
		e.Description = &text
	}
	if c := args.Text("category"); c != "" {
		e.Category = &c
	}
	if err := args.Value("private", &e.Private); err != nil {
		return e, err
	}
	if err := args.Value("metadata", &e.Metadata); err != nil {
		return e, err
	}
	var edits []textEdit
	if err := args.Value("edits", &edits); err != nil {
		return e, err
	}
	for i, te := range edits {
		if err := te.join(); err != nil {
			return e, tools.ModelErrorf("edit %d: %v", i+1, err)
		}
		e.Edits = append(e.Edits, te.TextEdit)
	}
	return e, nil
}

// prepare resolves the skill of an edit, and brings what the library does not hold.
func (d *editor) prepare(ctx context.Context, s *tools.Scope, a Actor, e *Edit) error {
	e.Held = d.Edit == Allow
	if e.Action == actionCreate || e.Skill == "" {
		return nil
	}
	f, err := d.find(ctx, s, a, e.Skill)
	if err != nil {
		return err
	}
	if e.Skill = f.ID; f.folder == "" {
		return nil
	}
	if e.Action != actionCopy {
		return &Error{Code: "refused", Message: fmt.Sprintf("%s cannot be edited: copy it first", f.ID)}
	}
	o, err := d.openFolder(ctx, s, f, "")
	if err != nil {
		return err
	}
	e.Files = map[string][]byte{}
	for _, file := range o.list {
		if e.Files[file.Path], err = o.read(ctx, file.Path); err != nil {
			return err
		}
	}
	return nil
}

// change is one call of updateSkill, decoded.
type change struct {
	editor *editor
	actor  Actor
	edit   Edit
	// prepared is the edit as shown, nil if no person is asked.
	prepared *preparedEdit
	err      error // why there is no edit
	// say words what is said of the library for the vocabulary of the tool.
	say func(string) string
}

// decode reads a call. Without a library it returns the answer instead.
func decode(ctx context.Context, s *tools.Scope, args tools.Args, say func(string) string) (c *change, answer string, err error) {
	d, actor, answer, err := editorOf(ctx, s)
	if d == nil {
		return nil, answer, err
	}
	c = &change{editor: d, actor: actor, say: say}
	if c.edit, c.err = editOf(args); c.err == nil {
		c.err = d.prepare(ctx, s, actor, &c.edit)
	}
	return c, "", nil
}

// prepare asks about an edit with its numbered difference. What fails anyway, a dry run
// and what changes nothing is not asked about.
func prepare(ctx context.Context, s *tools.Scope, args tools.Args, say func(string) string) (*tools.Prepared, error) {
	if d, ok := ctx.Value(editorKey{}).(*editor); !ok || d == nil || d.Edit != Ask || args.Err() != nil {
		return nil, nil
	}
	c, _, err := decode(ctx, s, args, say)
	if c == nil {
		return nil, err
	}
	p := &tools.Prepared{Commit: c.commit}
	if c.err != nil || c.edit.DryRun {
		return p, ctx.Err()
	}
	if c.prepared, c.err = c.editor.Library.prepareEdit(ctx, c.actor, c.edit); c.err == nil && c.prepared.Outcome.Status == "dry_run" {
		p.Question = c.question()
	}
	return p, ctx.Err()
}

// question is what a person is asked about a prepared edit.
func (c *change) question() *tools.Question {
	out := &c.prepared.Outcome
	q := &tools.Question{
		Detail: out.Diff.Numbered, Bound: strings.Join([]string{out.ID, out.Previous, out.Digest}, " "), Lasting: out.ID,
		LastingText: "edits of " + out.Name + ", which are then not reviewed",
		NoApprover:  "denied: skills are edited only with approval, and nobody can be asked; dryRun shows the change",
		Denied: func(ctx context.Context, why string) {
			if err := c.editor.Library.deny(ctx, c.prepared, why); err != nil && c.editor.Failed != nil {
				c.editor.Failed(ctx, err)
			}
		},
	}
	if c.isTooLong() {
		q.Detail = fmt.Sprintf("The change is too long to be shown: %d lines come and %d go. It stays unreviewed.", out.Diff.Added, out.Diff.Removed)
	}
	if q.Detail == "" {
		q.Detail = fmt.Sprintf("%s %s, without a change of its text", out.Action, out.Name)
	}
	if out.ID == "" { // a new skill: its id comes with it
		q.Lasting = "create " + out.Name
	}
	return q
}

// isTooLong reports whether the whole difference is too long to be shown.
func (c *change) isTooLong() bool { return len(c.prepared.Outcome.Diff.Numbered) > maxDetail }

// updated is the answer of an edit.
type updated struct {
	Action       string               `json:"action"`
	Status       string               `json:"status"`
	CanonicalID  string               `json:"canonicalId,omitempty"`
	Name         string               `json:"name"`
	VersionRef   string               `json:"versionRef"`
	Previous     string               `json:"previousVersionRef,omitempty"`
	Diff         *string              `json:"diff,omitempty"`
	NumberedDiff *string              `json:"numberedDiff,omitempty"`
	DiffID       string               `json:"diffId,omitempty"`
	Added        int                  `json:"added"`
	Removed      int                  `json:"removed"`
	Warnings     []printable.Text     `json:"warnings"`
	Diagnostics  []skillmd.Diagnostic `json:"diagnostics"`
}

func updateSkill(ctx context.Context, s *tools.Scope, args tools.Args, say func(string) string) (string, error) {
	c, answer, err := decode(ctx, s, args, say)
	if c == nil {
		return answer, err
	}
	return c.commit(ctx, s, false)
}

// commit makes the edit and writes the answer. isApproved reports that a person has
// allowed what the question showed.
func (c *change) commit(ctx context.Context, s *tools.Scope, isApproved bool) (string, error) {
	limit := s.Limits.OrDefaults().Answer
	if told, ok := errors.AsType[tools.ModelError](c.err); ok {
		return fail("invalid", string(told)), nil
	}
	if c.err != nil && c.prepared == nil {
		return c.editor.failed(ctx, inWords(c.err, c.say), limit)
	}
	if !c.edit.DryRun {
		scope, err := skilltools.From(s)
		if err != nil {
			return "", err
		}
		rec, err := scope.Record(ctx)
		if err != nil {
			return "", err
		}
		if !c.editor.spend(s.Key(), rec.Turn) {
			return fail("refused", fmt.Sprintf("at most %d edits may be made between two messages of the user", c.editor.MaxEdits)), nil
		}
	}
	out, err := c.make(ctx, isApproved)
	tell(ctx, s, c.actor, &c.edit, &out, err)
	if err != nil {
		return c.editor.failed(ctx, inWords(err, c.say), limit)
	}
	for i, warning := range out.Warnings {
		out.Warnings[i] = c.say(warning)
	}
	return fitted(&out, limit), nil
}

// make commits the edit: the prepared one where there is one.
func (c *change) make(ctx context.Context, isApproved bool) (Outcome, error) {
	if c.prepared == nil {
		return c.editor.Library.Edit(ctx, c.actor, c.edit)
	}
	by := ""
	if isApproved && !c.isTooLong() {
		by = "approver"
	}
	return c.editor.Library.commitEdit(ctx, c.prepared, by)
}

// tell reports what has become of an edit. A dry run and what changes nothing are no
// events, and neither is a store that does not answer.
func tell(ctx context.Context, s *tools.Scope, a Actor, e *Edit, out *Outcome, err error) {
	var own *Error
	switch {
	case errors.As(err, &own):
		s.Emit(ctx, core.Event{Kind: eventkind.LibraryRefused, Skill: cut(e.Skill, 200), Detail: fmt.Sprintf("%s by %q: %s: %s", e.Action, a.Subject, own.Code, cut(own.Message, 500))})
	case err == nil && out.Status == "applied":
		s.Emit(ctx, core.Event{Kind: eventkind.LibraryChanged, Skill: out.Name, Digest: out.Digest, Detail: fmt.Sprintf("%s of %s from %s to %s by %q", out.Action, out.ID, cmp.Or(out.Previous, "nothing"), out.VersionRef, a.Subject)})
	}
}

// fitted writes the answer. What does not fit is left out whole: the numbered
// difference first.
func fitted(out *Outcome, limit int) string {
	u := updated{
		Action: out.Action, Status: out.Status, CanonicalID: out.ID, Name: out.Name, VersionRef: out.VersionRef, Previous: out.Previous,
		Diff: &out.Diff.Unified, NumberedDiff: &out.Diff.Numbered, Added: out.Diff.Added, Removed: out.Diff.Removed,
		Warnings: printable.Texts(append([]string{}, out.Warnings...)), Diagnostics: append([]skillmd.Diagnostic{}, out.Diagnostics...),
	}
	text := encode(u)
	for _, leave := range []func(){
		func() {
			u.NumberedDiff = nil
			u.Warnings = append(u.Warnings, "numberedDiff is left out: it is too long for an answer")
		},
		func() {
			u.Diff, u.DiffID = nil, out.VersionRef
			u.Warnings[len(u.Warnings)-1] = "diff and numberedDiff are left out: they are too long for an answer"
		},
		func() {
			u.Warnings = u.Warnings[len(u.Warnings)-1:]
			u.Diagnostics = u.Diagnostics[:min(len(u.Diagnostics), maxDiagnostics)]
		},
	} {
		if len(text) <= limit {
			break
		}
		leave()
		text = encode(u)
	}
	return text
}

// whole is a field whose text is taken as it is, white space included.
func whole(name, description string, aliases ...string) tools.Field {
	return tools.Field{Name: name, Kind: tools.Value, Description: description, Schema: map[string]any{"type": "string"}, Aliases: aliases}
}

func wholeText(args tools.Args, name string) (string, bool, error) {
	var s *string
	if err := args.Value(name, &s); err != nil || s == nil {
		return "", false, err
	}
	return *s, true, nil
}
