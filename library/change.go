package library

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/library/internal/textedit"
	"github.com/satchel-go/satchel/skillmd"
)

// editResult is the result of an edit before it is committed.
type editResult struct {
	item     *item             // nil for a new skill
	before   map[string][]byte // the files before; nil for a new skill
	files    map[string][]byte
	state    string
	warnings []string
}

// checkRole returns an ErrRole error if the actor may not perform the action.
func (v *view) checkRole(i *item, action string) error {
	h := i.head
	switch {
	case i.base != nil:
		return need(v.role, roleMaintainer, "editing plugin skills", copyInstead)
	case !h.Shared && v.owns(h):
		return need(v.role, roleAuthor, "editing skills", "")
	case action == actionArchive || action == actionRestore:
		return need(v.role, roleMaintainer, "archiving shared skills", "")
	case !h.Shared:
		return need(v.role, roleMaintainer, "editing private skills of others", copyInstead)
	}
	return need(v.role, roleEditor, "editing shared skills", copyInstead)
}

// change applies an edit to a skill that exists.
func (l *Library) change(ctx context.Context, v *view, e *Edit) (Outcome, error) {
	if e.Skill == "" {
		return Outcome{}, invalid("skill is missing: name the skill to change")
	}
	i, err := v.find(ctx, e.Skill)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Action: e.Action, ID: i.id, Name: i.name()}
	if err := v.checkRole(i, e.Action); err != nil {
		return out, err
	}
	if e.Status == stateDraft && i.head != nil && i.head.Shared {
		if err := need(v.role, roleMaintainer, "making a shared skill a draft", ""); err != nil {
			return out, err
		}
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
		from, err = v.open(ctx, i, e.Expected)
		if isOwn(err) && i.base != nil && strings.HasPrefix(e.Expected, "p-") { // packaged before an upgrade
			return out, l.conflict(ctx, v, i, nil, head, e.Expected)
		}
		if err != nil {
			return out, err
		}
	}
	m, err := l.apply(ctx, i, from, e)
	if err != nil {
		if from != head { // the conflict is more useful to the caller than err
			return out, l.conflict(ctx, v, i, from, head, from.VersionRef)
		}
		return out, err
	}
	files, blobs := filesAndBlobs(m.files, from.Files)
	digest := digestOf(files)
	same := digest == head.Digest && m.state == stateOf(i)
	if from != head && !same {
		return out, l.conflict(ctx, v, i, from, head, from.VersionRef)
	}
	out.Digest, out.Warnings = digest, m.warnings
	if same {
		out.Status, out.VersionRef = "unchanged", head.VersionRef
		return out, nil
	}
	if out.Diagnostics, err = l.judge(e, head, m); err != nil {
		return out, err
	}
	out.Diff = Diff(textedit.CompareFiles(m.before, m.files, skillFile))
	if n := replacedLines(e, m.before); n*6 < 10*(n-out.Diff.Removed) {
		out.Warnings = append(out.Warnings, "most lines are as before: use patch")
	}
	return l.commit(ctx, v, e, m, out, files, blobs, "")
}

// replacedLines returns how many lines a "replace" edit replaces, 0 for other edits.
func replacedLines(e *Edit, before map[string][]byte) int {
	if e.Action != actionReplace {
		return 0
	}
	text := before[cmp.Or(e.Target, skillFile)]
	if e.Target == "body" || e.Target == "promptTemplate" {
		text = before[skillFile]
		text = text[max(0, skilltext.WholeFrontMatterEnd(text)):]
	}
	return bytes.Count(text, []byte("\n"))
}

func stateOf(i *item) string {
	if i.head == nil {
		return statePackaged
	}
	return i.head.State
}

// newest returns the newest version, even if the actor may not load it.
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

// apply returns the result of edit e on the version from.
func (l *Library) apply(ctx context.Context, i *item, from *Skill, e *Edit) (*editResult, error) {
	files, err := from.ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	m := &editResult{item: i, before: files, files: files, state: stateOf(i)}
	if m.state == statePackaged {
		m.state = stateActive
	}
	switch e.Action {
	case actionArchive:
		m.state = stateArchived
		if i.base != nil && i.overlaid() && i.head.State != stateArchived {
			m.state = statePackaged
		}
		return m, nil
	case actionMetadata:
		return m, m.metadata(e)
	case actionImport:
		m.files = e.Files
		return m, nil
	}
	if i.head != nil && i.head.State == stateArchived {
		return nil, refused("%s is archived; restore it first", i.id)
	}
	return m, l.text(m, e)
}

// judge returns an error if the result is no valid skill, or if a model may not make this change.
// It also returns the findings about the new SKILL.md. head is nil for a new skill.
func (l *Library) judge(e *Edit, head *Skill, m *editResult) ([]skillmd.Diagnostic, error) {
	if err := l.checkFiles(m.files); err != nil {
		return nil, err
	}
	doc, found, err := parse(m.files[skillFile])
	if err != nil {
		return nil, err
	}
	if head == nil {
		if e.Model && e.Action == actionCreate {
			return found, checkModel(nil, &doc, "", "")
		}
		return found, nil
	}
	if skilltext.CleanName(doc.Skill.Name) != skilltext.CleanName(head.Name) {
		return nil, refused(`rename with action "copy"`)
	}
	if !e.Model || e.Action == actionArchive {
		return found, nil
	}
	before, after := m.before[skillFile], m.files[skillFile]
	if end := skilltext.WholeFrontMatterEnd(before); end > 0 && end == skilltext.WholeFrontMatterEnd(after) && bytes.Equal(before[:end], after[:end]) {
		return found, nil // what a model may not change is in the front matter
	}
	old, _, _ := skillmd.Parse(before)
	return found, checkModel(&old, &doc, string(before), string(after))
}

// target returns the file of an edit and its text. The edit may not change the first front bytes.
func (m *editResult) target(e *Edit) (name, text string, front int, err error) {
	name = cmp.Or(e.Target, skillFile)
	switch name {
	case "body", "promptTemplate":
		text = string(m.files[skillFile])
		return skillFile, text, max(0, skilltext.WholeFrontMatterEnd([]byte(text))), nil
	case skillFile:
		return name, string(m.files[skillFile]), 0, nil
	}
	if !validPath(name) {
		return "", "", 0, invalid("%q is no path within the skill", printable.Cut(name, 200))
	}
	data, ok := m.files[name]
	if !ok && e.Action == actionPatch {
		return "", "", 0, invalid("there is no file %q; files are %s", printable.Cut(name, 200), quotedNames(slices.Sorted(maps.Keys(m.files))))
	}
	if e.Model && !isDoc(name) {
		return "", "", 0, refused("an edit may not change %s; ask a person to do it", name)
	}
	if !utf8.Valid(data) {
		return "", "", 0, invalid("%s is no text", name)
	}
	return name, string(data), 0, nil
}

// text applies a "patch" or "replace" edit to m.files.
func (l *Library) text(m *editResult, e *Edit) error {
	name, text, front, err := m.target(e)
	if err != nil {
		return err
	}
	var next string
	if e.Action == actionReplace {
		if e.Content == "" && name == skillFile {
			return invalid("content is missing")
		}
		next = withLineEnd(text[:front]) + withLineEnd(e.Content)
	} else {
		done, err := patch(text, front, name, e, l.limits.of(name))
		if f, ok := errors.AsType[*textedit.Failure](err); ok {
			switch {
			case f.Code == textedit.TooLarge:
				return refuse("too_large", ErrTooLarge, "the text would have more than the %d bytes that it may have", l.limits.of(name))
			case strings.HasSuffix(f.Text, " changes nothing"):
				return nil // the outcome will be "unchanged"
			}
			return refuse(string(f.Code), ErrInvalid, "%s", f.Text)
		}
		if err != nil {
			return err
		}
		next, m.warnings = done.Text, append(m.warnings, done.Warnings...)
	}
	if size, limit := len(next), l.limits.of(name); size > limit {
		return refuse("too_large", ErrTooLarge, "the text would have %d bytes, at most %d may be", size, limit)
	}
	m.files = maps.Clone(m.files)
	m.files[name] = []byte(next)
	return nil
}

// withLineEnd adds a line end to a text that has none at its end, unless the text is empty.
func withLineEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func patch(text string, front int, name string, e *Edit, limit int) (textedit.Result, error) {
	format := e.Format
	if format == "" {
		format = "unifiedDiff"
		if len(e.Edits) > 0 {
			format = "edits"
		}
	}
	switch {
	case e.Patch != "" && len(e.Edits) > 0:
		return textedit.Result{}, invalid("patch and edits are both there: send one of them")
	case format == "edits" && e.Patch != "", format == "unifiedDiff" && len(e.Edits) > 0:
		return textedit.Result{}, invalid("patchFormat is %s, but the change is of the other format", format)
	case format == "unifiedDiff" && e.Patch == "":
		return textedit.Result{}, invalid("patch is missing: send a diff in patch, or edits")
	case format == "unifiedDiff":
		return textedit.ApplyDiff(text, front, e.Patch, limit, name)
	case format != "edits":
		return textedit.Result{}, invalid("patchFormat is unifiedDiff or edits, not %q", printable.Cut(format, 40))
	}
	edits := make([]textedit.Edit, len(e.Edits))
	for i, te := range e.Edits {
		switch {
		case te.To != nil && te.From == nil, te.ReplaceAll && te.OldText == nil:
			return textedit.Result{}, invalid("edit %d: to needs from, and replaceAll needs oldText", i+1)
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
	return textedit.ApplyEdits(text, front, edits, limit)
}
