package skilltools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// skillText is what a load reads from the catalog. It is pinned for the session.
type skillText struct {
	skill core.Skill
	body  catalog.Content
	docs  []docText
	all   bool
	known []string           // every doc of the skill, if docs were named
	left  []tools.ModelError // why named docs are left out
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

// held returns the skill that is loaded under a name, whatever that name means by now.
// Its Name is the one under which it is loaded.
func held(skills *catalog.Snapshot, rec *state.Record, name string) (core.Skill, bool) {
	a := rec.Find(name)
	if a == nil || a.ID == "" {
		return core.Skill{}, false
	}
	skill, err := skills.Resolve(a.ID)
	skill.Name = a.Skill
	return skill, err == nil
}

// Known returns the skill that a name means to the agent of a record: the one that is
// loaded under it, else the one that the catalog has. Its Name is the one under which it
// is loaded, if it is.
func Known(skills *catalog.Snapshot, rec *state.Record, name string) (core.Skill, error) {
	if skill, ok := held(skills, rec, name); ok {
		return skill, nil
	}
	skill, err := skills.Resolve(name)
	if err == nil {
		skill.Name = loadName(rec, skill)
	}
	return skill, err
}

// loadName is the name under which a skill is loaded, or would be: not that of another one
// which is loaded.
func loadName(rec *state.Record, skill core.Skill) string {
	if a := rec.FindID(skill.ID); a != nil {
		return a.Skill
	}
	for _, name := range []string{skill.Name, skill.Qualified} {
		if a := rec.Find(name); a == nil || a.ID == "" || a.ID == skill.ID {
			return name
		}
	}
	return skill.ID
}

// Skill resolves the name of a skill that the model may see: one that is not
// hidden, or that is loaded. The error is a [ModelError] that names
// similar skills.
func (s *Scope) Skill(rec *state.Record, name string) (core.Skill, error) {
	if skill, ok := held(s.Catalog().Snapshot(), rec, name); ok {
		return skill, nil
	}
	return s.listed(rec, name, false)
}

// toLoad is [Scope.Skill] for a call that loads: a name that now is that of another skill
// than the loaded one means that.
func (s *Scope) toLoad(rec *state.Record, name string) (core.Skill, error) {
	skill, err := s.listed(rec, name, true)
	if held, ok := held(s.Catalog().Snapshot(), rec, name); ok && err != nil {
		return held, nil
	}
	return skill, err
}

// listed resolves a name by the catalog, for a call that loads or another one.
func (s *Scope) listed(rec *state.Record, name string, loads bool) (core.Skill, error) {
	snapshot := s.Catalog().Snapshot()
	skill, err := snapshot.Resolve(name)
	if ambiguous, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		return core.Skill{}, tools.ModelErrorf("%s", ambiguous)
	}
	if err == nil {
		switch {
		case rec.Find(skill.ID) != nil: // loaded by its id: another skill has its name too
			skill.Name = skill.ID
		case !loads || skill.Name != name: // a load of a name that is another skill's now supersedes
			skill.Name = loadName(rec, skill)
		default:
			if a := rec.FindID(skill.ID); a != nil {
				skill.Name = a.Skill
			}
		}
	}
	if err == nil && (!skill.Hidden || rec.Find(skill.Name) != nil) {
		return skill, nil
	}
	if near := s.Catalog().Suggest(name); len(near) > 0 {
		return core.Skill{}, tools.ModelErrorf("unknown skill %q: did you mean %s?", printable.Cut(name, 80), quotedList(near))
	}
	return core.Skill{}, tools.ModelErrorf("unknown skill %q: use a name from the list of available skills", printable.Cut(name, 80))
}

// Loaded is the catalog with each loaded skill under the name by which it was loaded, and
// at the revision whose text was.
func (s *Scope) Loaded(rec *state.Record) *catalog.Catalog {
	revisions, called := make(map[string]string), make(map[string]string)
	for i := range rec.Active {
		a := &rec.Active[i]
		if a.ID != "" && a.Revision != "" {
			revisions[a.ID] = a.Revision
		}
		if a.ID != "" {
			called[a.Skill] = a.ID
		}
	}
	return s.Catalog().WithNames(called).AtRevisions(revisions)
}

// ByDigest returns the one skill that had a name, under whatever qualifier, and whose body
// has a digest now, of which the beginning is enough.
func ByDigest(ctx context.Context, skills *catalog.Catalog, name, digest string) (core.Skill, bool) {
	var found core.Skill
	fit := 0
	for _, skill := range skills.Snapshot().Skills() {
		if skill.Name != name && state.BaseName(skill.Qualified) != state.BaseName(name) {
			continue
		}
		if _, body, err := skills.Body(ctx, skill.ID); err == nil && digest != "" && strings.HasPrefix(body.Digest, digest) {
			found = skill
			fit++
		}
	}
	found.Name = name
	return found, fit == 1
}

// inView finds a skill whose load has ended and whose text is still in view. name is the name
// that it had then, or one that means it now.
func (s *Scope) inView(ctx context.Context, rec *state.Record, name string) (core.Skill, bool) {
	meant, err := s.Skill(rec, name)
	if err == nil && rec.Find(meant.Name) != nil {
		return core.Skill{}, false
	}
	another := false // the text under the name is that of another skill
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if !d.Body || !s.shows(d) || state.BaseName(d.Skill) != state.BaseName(name) || rec.Find(d.Skill) != nil {
			continue
		}
		if digest, e := s.Digest(ctx, meant.ID); err == nil && e == nil && digest == rec.Full(d.Digest) {
			meant.Name = d.Skill
			return meant, true
		}
		skill, ok := ByDigest(ctx, s.Catalog(), d.Skill, rec.Full(d.Digest))
		if ok && !skill.Hidden && d.Skill == name {
			return skill, true
		}
		another = another || ok && d.Skill == meant.Name
	}
	return meant, err == nil && !another && s.showsBody(rec, meant.Name) // its text has changed
}

// findReadable resolves the name of a skill that is loaded, or whose text load
// mode Adaptive has left in view: its files can be read without loading it.
func findReadable(ctx context.Context, s *Scope, rec *state.Record, name string) (core.Skill, error) {
	if s.Mode == loadmode.Adaptive {
		if skill, ok := s.inView(ctx, rec, name); ok {
			return skill, nil
		}
	}
	skill, err := s.Skill(rec, name)
	if err == nil && rec.Find(skill.Name) == nil {
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
	skill, err := s.toLoad(rec, name)
	if err != nil {
		return skillText{}, err
	}
	return readSkillText(ctx, s, skill, docs, all)
}

func readSkillText(ctx context.Context, s *Scope, skill core.Skill, docs []string, all bool) (skillText, error) {
	t := skillText{skill: skill, all: all}
	s = s.calling(skill)
	var err error
	if t.skill, t.body, err = s.Catalog().Body(ctx, skill.Name); err != nil {
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
	if t.known, err = s.Catalog().Docs(ctx, skill.Name); err != nil {
		return t, unreadable(ctx, err, "docs of %q cannot be listed", skill.Name)
	}
	for _, name := range known(selected, t.known) { // a doc that is gone is no longer selected
		docs, _, err := readDocs(ctx, s, s.Catalog(), skill.Name, t.known, []string{name})
		if err != nil {
			return t, err
		}
		t.selected = append(t.selected, docs...)
	}
	want := t.known
	if !all {
		want = known(docs, t.known)
	}
	if t.docs, t.left, err = readDocs(ctx, s, s.Catalog(), skill.Name, t.known, want); err != nil {
		return t, err
	}
	return t, t.refer(ctx, s)
}

// calling returns the scope with a catalog in which the name of a skill means that skill.
func (s *Scope) calling(skill core.Skill) *Scope {
	return s.WithCatalog(s.Catalog().WithNames(map[string]string{skill.Name: skill.ID}))
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
	_, body, err := s.Catalog().Body(ctx, skill)
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
		return tools.ModelErrorf("the skill is no longer there")
	}
	return tools.ModelErrorf("%s: %s", fmt.Sprintf(format, args...), printable.CutLine(cause(err), 400))
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
