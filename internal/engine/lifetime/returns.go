package lifetime

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// otherWeight and quietWeight are how many turns without a text a turn counts that began with the
// text but probably did not need it.
const otherWeight, quietWeight = 2.0, 1.0

// weigh returns the weighted number of observed turns.
func weigh(r *state.Return) float64 {
	return float64(r.Out) + otherWeight*float64(r.Other) + quietWeight*float64(r.Quiet)
}

// EndedTurn describes a completed turn.
type EndedTurn struct {
	// Loaded are the skills that the turn loaded, or selected docs of. InView are the skills
	// whose text was in view when it began.
	Loaded, InView []string
	// IsQuiet reports that the turn called no tool.
	IsQuiet bool
	// Read are the skills of which the turn read files without loading them.
	Read []string
	// Named are the skills that its prompt is about. Described is how many skills the overview
	// of the session describes.
	Named     []string
	Described int
	// StaysLoaded reports that loads do not end with their turn, so a model that needs a text in view
	// makes no call.
	StaysLoaded bool
}

// Learn returns r with the counts of one more turn. It does not change r. The model can use a
// text in view without a call. So a turn that began with a skill's text usually says nothing
// about that skill, with three exceptions. If its prompt is about the skill, or if it read a file
// of the skill, the turn counts as a reload. If it loaded another skill, or called no tool, it most
// likely did not need the text. A prompt about the skill in a turn that loaded another one says
// nothing, and neither does a turn of a session whose loads stay.
func Learn(r state.Returns, t EndedTurn) state.Returns {
	next := state.Returns{Skills: slices.Clone(r.Skills), Rest: r.Rest, Prompts: countPrompt(r.Prompts, t)}
	loaded, inView := shortNames(t.Loaded), shortNames(t.InView)
	read := shortNames(t.Read)
	var named []string
	if promptsTell(next.Prompts) {
		named = shortNames(t.Named)
	}
	for i := range next.Skills {
		s := &next.Skills[i]
		switch {
		case slices.Contains(loaded, s.Skill):
			s.Out++
			s.Back++
		case !slices.Contains(inView, s.Skill):
			s.Out++
		case slices.Contains(read, s.Skill), slices.Contains(named, s.Skill) && len(loaded) == 0:
			s.Out++
			s.Back++
		case slices.Contains(named, s.Skill), t.StaysLoaded:
		case len(loaded) > 0:
			s.Other++
		case t.IsQuiet:
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

// countPrompt returns p with the counts of one more turn.
func countPrompt(p state.Prompts, t EndedTurn) state.Prompts {
	needed := len(t.InView)
	for _, name := range t.Loaded {
		if slices.Contains(t.InView, name) {
			continue
		}
		needed++
		p.Loads++
		if slices.Contains(t.Named, name) {
			p.LoadsNamed++
		}
	}
	p.Others += max(0, t.Described-needed)
	for _, name := range t.Named {
		if !slices.Contains(t.InView, name) && !slices.Contains(t.Loaded, name) {
			p.OthersNamed++
		}
	}
	return p
}

// promptsTell reports whether the prompts of a session predict which skills a turn needs: whether
// they are about a needed skill several times as often as about any other.
func promptsTell(p state.Prompts) bool {
	needed := (float64(p.LoadsNamed) + priorNamed*priorLoads) / (float64(p.Loads) + priorLoads)
	others := (float64(p.OthersNamed) + priorChance*priorOthers) / (float64(p.Others) + priorOthers)
	return needed > tellingRatio*others
}

// shortNames returns the names of skills as [state.ReturnName] shortens them.
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

// reloadChance estimates the chance that a turn needs one of the skills. It combines the counts
// of each skill with those of all skills and a prior.
func reloadChance(r *state.Returns, skills []string) float64 {
	back, seen := priorReturn*priorTurns+float64(r.Rest.Back), priorTurns+weigh(&r.Rest)
	for i := range r.Skills {
		back, seen = back+float64(r.Skills[i].Back), seen+weigh(&r.Skills[i])
	}
	all, none := back/seen, 1.0
	for _, name := range shortNames(skills) {
		var s state.Return
		if i := indexOf(r, name); i >= 0 {
			s = r.Skills[i]
		}
		none *= 1 - (pooledTurns*all+float64(s.Back))/(pooledTurns+weigh(&s))
	}
	return 1 - none
}

// maxReloads returns the highest number of reloads of any of the skills.
func maxReloads(r *state.Returns, skills []string) int {
	most := 0
	for _, name := range shortNames(skills) {
		if i := indexOf(r, name); i >= 0 {
			most = max(most, r.Skills[i].Back)
		}
	}
	return most
}
