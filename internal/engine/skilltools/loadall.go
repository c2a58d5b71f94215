package skilltools

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/tools"
)

// Providing returns the name of the operation with this name or, without one, of that which
// stands for it; "" for none.
func (s *Set) Providing(name string) string {
	if s.Has(name) {
		return name
	}
	for i := range s.operations {
		if s.operations[i].StandsFor(name) {
			return s.operations[i].Name
		}
	}
	return ""
}

// Answered formats the result of a load or unload. next is the new record, and notes describe
// the change. receipt is "" if nothing changed.
type Answered func(next *state.Record, notes []string, receipt string) (string, error)

// LoadAll loads all skills of names, which are names or locations, or none: an unknown one
// changes nothing, and neither does more than the cap unless others are unloaded to make
// room. replace unloads all other skills.
func LoadAll(ctx context.Context, s *Scope, names []string, replace bool, answered Answered) (string, error) {
	if s.Max > 0 && len(names) > s.Max {
		return "", tools.ModelErrorf("%d skills in one call are more than the %d that can be loaded; load fewer", len(names), s.Max)
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	var texts []skillText
	var unknown []string
	for _, name := range names {
		skill, err := s.skillAt(rec, name)
		if err == nil && slices.ContainsFunc(texts, func(t skillText) bool { return t.skill.Name == skill.Name }) {
			continue
		}
		var t skillText
		if err == nil {
			t, err = readSkillText(ctx, s, skill, nil, false)
		}
		if told, ok := errors.AsType[tools.ModelError](err); ok {
			unknown = append(unknown, string(told))
			continue
		}
		if err != nil {
			return "", err
		}
		texts = append(texts, t)
	}
	if len(unknown) > 0 {
		return "", tools.ModelErrorf("%s", strings.Join(unknown, "; "))
	}
	change := loading{scope: s, texts: texts, replace: replace, answered: answered}
	return change.save(ctx, &reply{})
}

// skillAt returns what [Scope.Skill] returns for a name, and else the one skill with this
// location: its place as overviews and receipts show it, or its absolute path.
func (s *Scope) skillAt(rec *state.Record, ref string) (core.Skill, error) {
	skill, err := s.toLoad(rec, ref)
	if err == nil || !strings.Contains(ref, "/") {
		return skill, err
	}
	var found []core.Skill
	for _, skill := range s.Catalog().Snapshot().Skills() {
		at, _ := s.Catalog().Path(skill.Name)
		if path.Clean(ref) != skill.Location && ref != at && ref != strings.Join(strings.Fields(skill.Place), " ") {
			continue
		}
		if skill, err := s.toLoad(rec, skill.ID); err == nil {
			found = append(found, skill)
		}
	}
	switch len(found) {
	case 0:
		return core.Skill{}, err
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].Name
	}
	return core.Skill{}, tools.ModelErrorf("%q is the location of %d skills: name one of %s", callargs.Cut(ref, 200), len(found), jsonList(names, 10))
}

// room refuses a load above the cap where no skill is unloaded to make room.
func (l *loading) room(next *state.Record) error {
	if l.answered == nil || l.scope.Evicts || l.scope.Max < 1 {
		return nil
	}
	more := 0
	for _, t := range l.texts {
		if next.Find(t.skill.Name) == nil {
			more++
		}
	}
	if loaded := len(next.Active); loaded+more > l.scope.Max {
		return tools.ModelErrorf(`%d loaded and %d more are over %d: load fewer, or use mode "replace"`, loaded, more, l.scope.Max)
	}
	return nil
}

// UnloadAll unloads the named skills that are loaded, or all.
func UnloadAll(ctx context.Context, s *Scope, names []string, all bool, answered Answered) (string, error) {
	if len(names) == 0 && !all {
		return "", tools.ModelErrorf(`name skills, such as {"names":["…"]}, or set all`)
	}
	c := unloading{scope: s, snapshot: s.Catalog().Snapshot(), names: names, all: all, answered: answered}
	return c.save(ctx)
}
