package lifetime

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// otherWeight and quietWeight are how many turns without its text a turn counts
// that began with it and did not seem to need it.
const otherWeight, quietWeight = 1.5, 2.5

// turns are those that say something of a skill, by what they say.
func turns(r *state.Return) float64 {
	return float64(r.Out) + otherWeight*float64(r.Other) + quietWeight*float64(r.Quiet)
}

// Ended is a turn that is over.
type Ended struct {
	// Loaded are the skills that it loaded, or selected docs of. InView are those
	// whose text it began with.
	Loaded, InView []string
	// Quiet: no tool was called.
	Quiet bool
}

// Learn returns what is known of skills that come back after one more turn. It does not
// change r. A text in view is used without a call. So a turn that began with the text of a
// skill says nothing of that skill, with two exceptions. A turn that loaded another skill,
// or called no tool, most likely needed none of the texts in view.
func Learn(r state.Returns, t Ended) state.Returns {
	next := state.Returns{Skills: slices.Clone(r.Skills), Rest: r.Rest}
	loaded, inView := shortNames(t.Loaded), shortNames(t.InView)
	for i := range next.Skills {
		s := &next.Skills[i]
		switch {
		case slices.Contains(loaded, s.Skill):
			s.Out++
			s.Back++
		case !slices.Contains(inView, s.Skill):
			s.Out++
		case len(loaded) > 0:
			s.Other++
		case t.Quiet:
			s.Quiet++
		}
	}
	for _, name := range loaded {
		s := state.Return{Skill: name}
		if i := indexOf(&next, name); i >= 0 {
			s = next.Skills[i]
			next.Skills = slices.Delete(next.Skills, i, i+1)
		}
		next.Skills = append(next.Skills, s)
	}
	for len(next.Skills) > MaxReturns {
		s := next.Skills[0]
		next.Rest.Out, next.Rest.Back = next.Rest.Out+s.Out, next.Rest.Back+s.Back
		next.Rest.Other, next.Rest.Quiet = next.Rest.Other+s.Other, next.Rest.Quiet+s.Quiet
		next.Skills = slices.Delete(next.Skills, 0, 1)
	}
	return next
}

// shortNames are those of skills as returns keep them.
func shortNames(skills []string) []string {
	short := make([]string, len(skills))
	for i := range skills {
		short[i] = state.ReturnName(skills[i])
	}
	return short
}

func indexOf(r *state.Returns, name string) int {
	return slices.IndexFunc(r.Skills, func(s state.Return) bool { return s.Skill == name })
}

// chance estimates how likely a turn needs one of the skills. It mixes what was seen of
// each with what was seen of all, and that with a prior.
func chance(r *state.Returns, skills []string) float64 {
	back, seen := priorReturn*priorTurns+float64(r.Rest.Back), priorTurns+turns(&r.Rest)
	for i := range r.Skills {
		back, seen = back+float64(r.Skills[i].Back), seen+turns(&r.Skills[i])
	}
	all, none := back/seen, 1.0
	for _, name := range shortNames(skills) {
		var s state.Return
		if i := indexOf(r, name); i >= 0 {
			s = r.Skills[i]
		}
		none *= 1 - (pooledTurns*all+float64(s.Back))/(pooledTurns+turns(&s))
	}
	return 1 - none
}

// timesBack is how often any of the skills was seen to come back.
func timesBack(r *state.Returns, skills []string) int {
	most := 0
	for _, name := range shortNames(skills) {
		if i := indexOf(r, name); i >= 0 {
			most = max(most, r.Skills[i].Back)
		}
	}
	return most
}
