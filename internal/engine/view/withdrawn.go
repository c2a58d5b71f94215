package view

import (
	"errors"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Withdraw takes from a record what its agent may not see any more, where it sees
// skills, and returns the names.
func (v *Overviews) Withdraw(rec *state.Record, skills *catalog.Catalog) []string {
	if skills == v.Catalog {
		return nil
	}
	all, seen := v.Catalog.Snapshot(), skills.Snapshot()
	withdrawn := func(name, id string) bool {
		if id == "" {
			skill, err := all.Resolve(name)
			if several, ok := errors.AsType[*catalog.AmbiguousError](err); ok { // one of them was meant
				return slices.ContainsFunc(several.Qualified, func(name string) bool {
					skill, known := all.Skill(name)
					_, sees := seen.Skill(skill.ID)
					return known && !sees
				})
			}
			if err != nil {
				return false // deleted: what was loaded of it stays
			}
			id = skill.ID
		}
		if _, known := all.Skill(id); !known {
			return false
		}
		_, sees := seen.Skill(id)
		return !sees
	}
	var gone []string
	for _, a := range slices.Clone(rec.Active) {
		if withdrawn(a.Skill, a.ID) {
			rec.Unload(a.Skill)
			gone = append(gone, a.Skill)
		}
	}
	ended := len(rec.Deliveries)
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d state.Delivery) bool {
		out := rec.Find(d.Skill) == nil && withdrawn(d.Skill, "")
		if out && !slices.Contains(gone, d.Skill) {
			gone = append(gone, d.Skill)
		}
		return out
	})
	if len(rec.Deliveries) < ended {
		rec.Break()
	}
	return gone
}

// takesBack reports whether a listing that the session was told names a skill that it
// may not see any more.
func (v *Overviews) takesBack(listing string, skills *catalog.Catalog) bool {
	if skills == v.Catalog {
		return false
	}
	all, seen := v.Catalog.Snapshot(), skills.Snapshot()
	for line := range strings.Lines(listing) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if skill, ok := all.Skill(name); ok {
			if _, sees := seen.Skill(skill.ID); !sees {
				return true
			}
		}
	}
	return false
}
