package loadmode

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// DefaultMax is how many skills an agent can have loaded at once unless the host
// says otherwise.
const DefaultMax = 8

// Victim chooses which loaded skill to unload when there is one too many. It
// returns the Skill of one of the candidates, which are in load order and must not
// be changed; for any other answer the least recently used skill is unloaded.
type Victim func(candidates []state.Active) string

// LeastRecentlyUsed is the default [Victim]. Loads and selections of docs count as
// use; reads and runs do not.
func LeastRecentlyUsed(candidates []state.Active) string {
	return slices.MinFunc(candidates, func(a, b state.Active) int { return a.Used - b.Used }).Skill
}

// Evict unloads skills until at most limit are loaded, and returns the names of
// those that it unloaded, in order. It never unloads a skill of keep. A limit below
// 1 means no limit, and a nil choose means [LeastRecentlyUsed]. It changes rec.
func Evict(rec *state.Record, limit int, keep []string, choose Victim) (evicted []string) {
	for limit > 0 && len(rec.Active) > limit {
		var candidates []state.Active
		for _, a := range rec.Active {
			if !slices.Contains(keep, a.Skill) {
				candidates = append(candidates, a)
			}
		}
		if len(candidates) == 0 {
			return evicted
		}
		name := LeastRecentlyUsed(candidates)
		if choose != nil {
			chosen := choose(slices.Clone(candidates))
			if slices.ContainsFunc(candidates, func(a state.Active) bool { return a.Skill == chosen }) {
				name = chosen
			}
		}
		rec.Unload(name)
		evicted = append(evicted, name)
	}
	return evicted
}
