package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/internal/printable"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// skillText is what a load reads from the catalog. It is pinned for the session.
type skillText struct {
	skill core.Skill
	body  catalog.Content
	docs  []docText
	all   bool
	known []string     // every doc of the skill, if docs were named
	left  []ModelError // why named docs are left out
	// selected are the docs that were selected before, if the body has changed
	// since: a new text of a skill is delivered with all that belongs to it.
	selected []docText
	// listing follows the body, "" for none; framed is how many of docs the body has
	// named.
	listing catalog.Content
	framed  int
}

type docText struct {
	name    string
	content catalog.Content
	framed  bool // the body has named it
}

// Skill resolves the name of a skill that the model may see: one that is not
// hidden, or that the host has loaded. The error is a [ModelError] that names
// similar skills.
func (s *Scope) Skill(rec *session.Record, name string) (core.Skill, error) {
	snapshot := s.Catalog.Snapshot()
	skill, err := snapshot.Resolve(name)
	if ambiguous, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return core.Skill{}, ModelErrorf("%s", ambiguous)
	}
	if err == nil && rec.Find(skill.ID) != nil { // loaded by its id: another skill has its name too
		skill.Name = skill.ID
	}
	if err == nil && (!skill.Hidden || rec.Find(skill.Name) != nil) {
		return skill, nil
	}
	if near := s.Catalog.Suggest(name); len(near) > 0 {
		return core.Skill{}, ModelErrorf("unknown skill %q: did you mean %s?", callargs.Cut(name, 80), quotedList(near))
	}
	return core.Skill{}, ModelErrorf("unknown skill %q: use a name from the list of available skills", callargs.Cut(name, 80))
}

// Loaded is the catalog with each loaded skill at the revision whose text was loaded.
func (s *Scope) Loaded(rec *session.Record) *catalog.Catalog {
	revisions := make(map[string]string)
	for i := range rec.Active {
		if a := &rec.Active[i]; a.ID != "" && a.Revision != "" {
			revisions[a.ID] = a.Revision
		}
	}
	return s.Catalog.At(revisions)
}

// findReadable resolves the name of a skill that is loaded, or whose text load
// mode Adaptive has left in view: its files can be read without loading it.
func findReadable(s *Scope, rec *session.Record, name string) (core.Skill, error) {
	skill, err := s.Skill(rec, name)
	left := s.Mode == loadmode.Adaptive && err == nil && s.showsBody(rec, skill.Name)
	if err == nil && rec.Find(skill.Name) == nil && !left {
		err = NotLoaded(skill.Name)
	}
	return skill, err
}

// readSkill reads and pins a skill's body, and those of the named docs that it
// has.
func readSkill(ctx context.Context, s *Scope, name string, docs []string, all bool) (skillText, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return skillText{}, err
	}
	skill, err := s.Skill(rec, name)
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
	selected, err := s.selectedBefore(ctx, skill.Name, t.body.Digest)
	if err != nil {
		return t, err
	}
	if !all && len(docs)+len(selected) == 0 {
		return t, t.refer(ctx, s)
	}
	if t.known, err = s.Catalog.Docs(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	for _, name := range known(selected, t.known) { // a doc that is gone is no longer selected
		docs, _, err := readDocs(ctx, s, s.Catalog, skill.Name, t.known, []string{name})
		if err != nil {
			return t, err
		}
		t.selected = append(t.selected, docs...)
	}
	want := t.known
	if !all {
		want = known(docs, t.known)
	}
	if t.docs, t.left, err = readDocs(ctx, s, s.Catalog, skill.Name, t.known, want); err != nil {
		return t, err
	}
	return t, t.refer(ctx, s)
}

// selectedBefore returns the docs that were selected with an earlier text of a
// loaded skill.
func (s *Scope) selectedBefore(ctx context.Context, skill, digest string) ([]string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return nil, err
	}
	old, loaded := rec.Body(skill)
	if a := rec.Find(skill); a != nil && loaded && old != digest {
		return a.Docs, nil
	}
	return nil, nil
}

// Digest returns the digest of the text that a load of a skill would deliver now.
// Errors that the model can act on are [ModelError]s.
func (s *Scope) Digest(ctx context.Context, skill string) (string, error) {
	_, body, err := s.Catalog.Body(ctx, skill)
	if err != nil {
		return "", unreadable(ctx, err, "skill %q cannot be read", skill)
	}
	return body.Digest, nil
}

// unreadable turns an error of the catalog into an answer, unless the run itself
// is over.
func unreadable(ctx context.Context, err error, format string, args ...any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, catalog.ErrUnknownSkill) {
		return ModelErrorf("the skill is no longer there")
	}
	return ModelErrorf("%s: %s", fmt.Sprintf(format, args...), callargs.Line(cause(err), 400))
}

// cause returns the innermost reason of an error: the outer ones repeat names
// that the answer has given already.
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

// jsonList writes at most n names as a JSON array and says how many more there
// are. Format characters, such as overrides of the direction, are escapes in it.
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
	return printable.Lines(string(b)) + more
}
