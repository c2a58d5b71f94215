package catalog

import (
	"slices"

	"github.com/satchel-go/satchel/core"
)

// hiding has the skills that [Catalog.WithHidden] hides.
type hiding struct {
	key string
	why map[string]string // by canonical id
}

// WithHidden returns the catalog with more hidden skills. why says why each skill is hidden, by its
// canonical id; ids of other skills are ignored. key names why: equal keys mean equal skills.
// [Snapshot.WhyHidden] returns the reason.
func (c *Catalog) WithHidden(key string, why map[string]string) *Catalog {
	if len(why) == 0 {
		return c
	}
	hidden := *c
	hidden.hides = &hiding{key, why}
	return &hidden
}

// WhyHidden returns the reason that [Catalog.WithHidden] has for a skill, "" for none.
func (s *Snapshot) WhyHidden(id string) string { return s.whyHidden[id] }

// hide returns the snapshot with more hidden skills, or the same one if it has none of them.
func (s *Snapshot) hide(why map[string]string) *Snapshot {
	isHidden := func(skill core.Skill) bool { return why[skill.ID] != "" && !skill.Hidden }
	if !slices.ContainsFunc(s.skills, isHidden) {
		return s
	}
	next := &Snapshot{
		skills: slices.Clone(s.skills), byKey: s.byKey, byID: s.byID, all: slices.Clone(s.all),
		rule: s.rule, ambiguous: s.ambiguous, diagnostics: s.diagnostics, whyHidden: map[string]string{},
	}
	for i := range next.skills {
		if skill := &next.skills[i]; isHidden(*skill) {
			skill.Hidden, next.whyHidden[skill.ID] = true, why[skill.ID]
		}
	}
	for i := range next.all {
		if skill := &next.all[i].skill; isHidden(*skill) {
			skill.Hidden = true
		}
	}
	next.digest = digestOf(next.skills)
	return next
}
