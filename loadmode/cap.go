package loadmode

import (
	"slices"

	"github.com/satchel-go/satchel/session"
)

// DefaultMax is how many skills an agent has loaded at most, unless the host
// says otherwise.
const DefaultMax = 8

// Victim chooses which of the loaded skills goes when one load too many is
// made. It must return the Skill of one of them; for any other answer the least
// recently used one goes. The slice is in load order and may not be changed.
type Victim func(candidates []session.Active) string

// LeastRecentlyUsed is the default Victim. Loads and doc selections count as
// use; reads and runs do not.
func LeastRecentlyUsed(candidates []session.Active) string {
	return slices.MinFunc(candidates, func(a, b session.Active) int { return a.Used - b.Used }).Skill
}

// Evict unloads skills until at most limit are loaded, never one of keep, and
// returns the names of those it unloaded in that order. A limit below 1 is no
// limit. It changes rec.
func Evict(rec *session.Record, limit int, keep []string, choose Victim) (evicted []string) {
	for limit > 0 && len(rec.Active) > limit {
		var candidates []session.Active
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
			if slices.ContainsFunc(candidates, func(a session.Active) bool { return a.Skill == chosen }) {
				name = chosen
			}
		}
		rec.Unload(name)
		evicted = append(evicted, name)
	}
	return evicted
}
