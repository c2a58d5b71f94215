package lifetime

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// leastRecentlyUsed is the default [Victim].
func leastRecentlyUsed(candidates []loadmode.Candidate) string {
	return slices.MinFunc(candidates, func(a, b loadmode.Candidate) int { return a.Used - b.Used }).Skill
}

// Evict unloads skills until at most limit are loaded, and returns the names of
// those that it unloaded, in order. It never unloads a skill of keep. A limit below
// 1 means no limit, and a nil choose means the least recently used one. It changes rec.
func Evict(rec *state.Record, limit int, keep []string, choose loadmode.Victim) (evicted []string) {
	for limit > 0 && len(rec.Active) > limit {
		var candidates []loadmode.Candidate
		for _, a := range rec.Active {
			if !slices.Contains(keep, a.Skill) {
				candidates = append(candidates, loadmode.Candidate{Skill: a.Skill, Used: a.Used, Loaded: a.Loaded})
			}
		}
		if len(candidates) == 0 {
			return evicted
		}
		name := leastRecentlyUsed(candidates)
		if choose != nil {
			chosen := choose(slices.Clone(candidates))
			if slices.ContainsFunc(candidates, func(a loadmode.Candidate) bool { return a.Skill == chosen }) {
				name = chosen
			}
		}
		rec.Unload(name)
		evicted = append(evicted, name)
	}
	return evicted
}
