package library

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/skillmd"
	"github.com/satchel-go/satchel/tools"
)

// prepare resolves the skill of an edit. For a copy of a folder's skill it adds the files.
func (d *editor) prepare(ctx context.Context, s *tools.Scope, a Actor, e *Edit) error {
	e.Held = d.Edit == Allow
	if e.Action == actionCreate || e.Skill == "" {
		return nil
	}
	v, err := d.Library.view(ctx, a)
	if err != nil {
		return err
	}
	f, err := d.find(ctx, s, v, e.Skill)
	if err != nil {
		return err
	}
	e.view = v
	if e.Skill = f.ID; f.folder == "" {
		return nil
	}
	if e.Action != actionCopy {
		return refused("%s cannot be edited: copy it first", f.ID)
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
	// prepared is the edit that the question shows; nil if no person is asked.
	prepared *preparedEdit
	err      error // why there is no edit
	// say words what is said of the library for the vocabulary of the tool.
	say func(string) string
}

// decode reads the arguments of a call. If there is no library, it returns the answer instead.
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

// prepare returns the question about an edit, with its numbered difference. There is no question
// about a dry run, a refused edit, or an edit that changes nothing.
func prepare(ctx context.Context, s *tools.Scope, args tools.Args, say func(string) string) (*tools.PreparedChange, error) {
	if d, ok := ctx.Value(editorKey{}).(*editor); !ok || d == nil || d.Edit != Ask || args.Err() != nil {
		return nil, nil
	}
	c, _, err := decode(ctx, s, args, say)
	if c == nil {
		return nil, err
	}
	p := &tools.PreparedChange{Commit: c.commit}
	if c.err != nil || c.edit.DryRun {
		return p, ctx.Err()
	}
	if c.prepared, c.err = c.editor.Library.prepareEdit(ctx, c.actor, c.edit); c.err == nil && c.prepared.Outcome.Status == "dry_run" {
		p.Question = c.question()
	}
	return p, ctx.Err()
}

// question returns the question to a person about a prepared edit.
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

// updateAnswer is the JSON answer to an edit.
type updateAnswer struct {
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

// refusedUpdate adds an entry to the audit for a call whose arguments cannot be read.
func refusedUpdate(ctx context.Context, s *tools.Scope, args tools.Args, err error) {
	d, actor, _, _ := editorOf(ctx, s)
	if d == nil {
		return
	}
	e := Edit{Action: actionUnreadable}
	if args.Err() == nil {
		e.Action, e.Skill, e.Name = knownAction(args.Text("action")), args.Text("skill"), args.Text("name")
	}
	_, err = d.Library.auditOutcome(ctx, actor, &e, Outcome{}, invalid("%s", err))
	if _, own := errors.AsType[*Error](err); !own && err != nil && d.Failed != nil {
		d.Failed(ctx, err)
	}
}

// commit makes the edit and returns the answer. isApproved reports that a person has approved the
// question.
func (c *change) commit(ctx context.Context, s *tools.Scope, isApproved bool) (string, error) {
	limit := s.Limits.Answer
	if c.err != nil && c.prepared == nil { // no edit came of the call
		err := c.err
		if modelErr, ok := errors.AsType[tools.ModelError](err); ok {
			err = invalid("%s", string(modelErr))
		}
		_, err = c.editor.Library.auditOutcome(ctx, c.actor, &c.edit, Outcome{}, err)
		return c.editor.failed(ctx, withMessage(err, c.say), limit)
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
	reportEdit(ctx, s, c.actor, &c.edit, &out, err)
	if err != nil {
		return c.editor.failed(ctx, withMessage(err, c.say), limit)
	}
	for i, warning := range out.Warnings {
		out.Warnings[i] = c.say(warning)
	}
	return fitAnswer(&out, limit), nil
}

// make commits the prepared edit, or makes the edit if none was prepared.
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

// reportEdit sends the event of an edit. Dry runs, edits that change nothing and failures of the
// store have no event.
func reportEdit(ctx context.Context, s *tools.Scope, a Actor, e *Edit, out *Outcome, err error) {
	var own *Error
	switch {
	case errors.As(err, &own):
		s.Emit(ctx, core.Event{Kind: core.LibraryRefused, Skill: printable.Cut(e.Skill, 200), Detail: fmt.Sprintf("%s by %q: %s: %s", e.Action, a.Subject, own.code, printable.Cut(own.Message, 500))})
	case err == nil && out.Status == "applied":
		s.Emit(ctx, core.Event{Kind: core.LibraryChanged, Skill: out.Name, Digest: out.Digest, Detail: fmt.Sprintf("%s of %s from %s to %s by %q", out.Action, out.ID, cmp.Or(out.Previous, "nothing"), out.VersionRef, a.Subject)})
	}
}

// fitAnswer returns the answer in at most limit bytes. It leaves out whole fields that do not fit,
// the numbered difference first.
func fitAnswer(out *Outcome, limit int) string {
	u := updateAnswer{
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
