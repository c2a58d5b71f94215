package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// skillText is what a load reads from the catalog, pinned for the session.
type skillText struct {
	skill core.Skill
	body  catalog.Content
	docs  []docText
	all   bool
	known []string // every doc of the skill, where docs were named
	left  []tell   // why docs that were named are left out
	// selected are the docs selected before, where the body has changed since:
	// a new text of a skill comes with all that belongs to it.
	selected []docText
}

type docText struct {
	name    string
	content catalog.Content
}

// find resolves the name of a skill that the model may see: one that is not
// hidden, or that the host has loaded.
func find(s *Scope, rec *session.Record, name string) (core.Skill, error) {
	snapshot := s.Catalog.Snapshot()
	skill, ok := snapshot.Skill(name)
	if ok && (!skill.Hidden || rec.Find(skill.Name) != nil) {
		return skill, nil
	}
	if near := snapshot.Suggest(name); len(near) > 0 {
		return core.Skill{}, tellf("unknown skill %q: did you mean %s?", cut(name, 80), quotedList(near))
	}
	return core.Skill{}, tellf("unknown skill %q: use a name from the list of available skills", cut(name, 80))
}

// findLoaded resolves the name of a skill that is loaded.
func findLoaded(s *Scope, rec *session.Record, name string) (core.Skill, error) {
	skill, err := find(s, rec, name)
	if err == nil && rec.Find(skill.Name) == nil {
		err = notLoaded(skill.Name)
	}
	return skill, err
}

// readSkill reads and pins a skill's body and those of the named docs that it
// has.
func readSkill(ctx context.Context, s *Scope, name string, docs []string, all bool) (skillText, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return skillText{}, err
	}
	skill, err := find(s, rec, name)
	if err != nil {
		return skillText{}, err
	}
	return readSkillText(ctx, s, skill, docs, all)
}

func readSkillText(ctx context.Context, s *Scope, skill core.Skill, docs []string, all bool) (skillText, error) {
	t := skillText{skill: skill, all: all}
	var err error
	if t.skill, t.body, err = s.Catalog.Body(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "skill %q cannot be read", skill.Name)
	}
	if err := s.Pin(ctx, t.body); err != nil {
		return t, err
	}
	if err := t.readSelected(ctx, s); err != nil {
		return t, err
	}
	if !all && len(docs) == 0 {
		return t, nil
	}
	if t.known, err = s.Catalog.Docs(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	want := t.known
	if !all {
		want = known(docs, t.known)
	}
	t.docs, t.left, err = readDocs(ctx, s, skill.Name, want)
	return t, err
}

// readSelected reads the docs that were selected with an earlier text. One that
// is gone is no longer selected.
func (t *skillText) readSelected(ctx context.Context, s *Scope) error {
	rec, err := s.Record(ctx)
	if err != nil {
		return err
	}
	old, loaded := rec.Body(t.skill.Name)
	if a := rec.Find(t.skill.Name); a != nil && loaded && old != t.body.Digest {
		for _, name := range a.Docs {
			docs, _, err := readDocs(ctx, s, t.skill.Name, []string{name})
			if told := tell(""); err != nil && !errors.As(err, &told) {
				return err
			}
			t.selected = append(t.selected, docs...)
		}
	}
	return nil
}

// withSelected returns the docs of t and those selected before.
func (t *skillText) withSelected() []docText {
	docs := slices.Clone(t.docs)
	for _, old := range t.selected {
		if !slices.ContainsFunc(docs, func(d docText) bool { return d.name == old.name }) {
			docs = append(docs, old)
		}
	}
	return docs
}

// unreadable turns an error of the catalog into an answer, unless the run
// itself is over.
func unreadable(ctx context.Context, err error, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, catalog.ErrUnknownSkill) {
		return tellf("the skill is no longer there")
	}
	return tellf("%s: %s", fmt.Sprintf(format, args...), cut(cause(err), 400))
}

// cause is the innermost reason of an error: what is around it names again what
// the answer has named already.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

func quotedList(names []string) string {
	var q []string
	for _, n := range names {
		q = append(q, fmt.Sprintf("%q", n))
	}
	return strings.Join(q, " or ")
}

// jsonList writes at most n names as a JSON array and says how many more
// there are.
func jsonList(names []string, n int) string {
	if names == nil {
		names = []string{}
	}
	more := ""
	if len(names) > n {
		more = fmt.Sprintf(" and %d more", len(names)-n)
		names = names[:n]
	}
	b, _ := json.Marshal(names) // strings always marshal
	return string(b) + more
}
