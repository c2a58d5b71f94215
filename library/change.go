package library

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// made is what an edit would make.
type made struct {
	item     *item  // nil for a new skill
	oldText  []byte // SKILL.md before
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
		if from != head { // the text that it was made for is gone anyway
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
	before, err := head.texts(ctx, m.files)
	if err != nil {
		return out, err
	}
	out.Diff = diffFiles(before, m.files)
	if n := replacedLines(e, before); n*6 < 10*(n-out.Diff.Removed) {
		out.Warnings = append(out.Warnings, "most lines are as before: use patch")
	}
	return l.commit(ctx, v, e, m, out, files, blobs, "")
}

// replacedLines counts the lines of the text that a Replace puts another one in place of.
func replacedLines(e *Edit, before map[string][]byte) int {
	if e.Action != actionReplace {
		return 0
	}
	text := before[cmp.Or(e.Target, skillFile)]
	if e.Target == "body" || e.Target == "promptTemplate" {
		text = before[skillFile]
		text = text[max(0, frontEnd(text)):]
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

// apply makes the new files.
func (l *Library) apply(ctx context.Context, i *item, from *Skill, e *Edit) (*made, error) {
	files, err := from.ReadAll(ctx)
	if err != nil {
		return nil, err
	}
	m := &made{item: i, oldText: files[skillFile], files: files, state: stateOf(i)}
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

// judge refuses results that cannot be, or that a model may not make.
func (l *Library) judge(e *Edit, head *Skill, m *made) ([]skillmd.Diagnostic, error) {
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
	old, _, _ := skillmd.Parse(m.oldText)
	return found, checkModel(&old, &doc, string(m.oldText), string(m.files[skillFile]))
}
