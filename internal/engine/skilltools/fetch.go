package skilltools

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// fetch fetches a skill that the catalog may list without its SKILL.md, and returns it with the
// fields of that file. name is its name in the call. The error is that of a skill which the catalog
// lists with these fields: the file may hide the skill from the model, or declare needs that hide it.
func (s *Scope) fetch(ctx context.Context, rec *state.Record, skill core.Skill, name string) (core.Skill, error) {
	fetched, err := s.withName(skill).Catalog().FrontMatter(ctx, skill.Name)
	if err != nil {
		return core.Skill{}, readError(ctx, err, "skill %q cannot be read", skill.Name)
	}
	if rec.Find(skill.Name) != nil {
		return fetched, nil
	}
	if fetched.Hidden {
		isItself := func(near string) bool { return near == skill.Name || near == name }
		return core.Skill{}, unknownSkill(name, slices.DeleteFunc(s.Catalog().Suggest(name), isItself))
	}
	if s.HidesUnmet && skill.Needs == nil && fetched.Needs != nil && !fetched.Needs.Always {
		if missing := s.Unmet(ctx, fetched); len(missing) > 0 {
			return core.Skill{}, lacking(name, needs.Text(missing))
		}
	}
	return fetched, nil
}
