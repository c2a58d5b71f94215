package call

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Unmet returns the needs of a skill that are not met for an agent with these tools, in words. tools
// is nil if they are not known.
func (cs *Calls) Unmet(ctx context.Context, skill core.Skill, tools []string) []string {
	if skill.Needs == nil {
		return nil
	}
	return needs.Missing(cs.CheckNeeds(ctx, skill, tools))
}

// CheckNeeds compares the needs of a skill with what there is for an agent with these tools. It asks
// for a probe if programs of the skill were not looked for yet. It waits for that only if the skill
// was fetched on demand.
func (cs *Calls) CheckNeeds(ctx context.Context, skill core.Skill, tools []string) []needs.Need {
	facts := needs.Facts{Variable: func(string) needs.Verdict { return needs.Unmet }, Tools: tools, HasTools: tools != nil}
	if cs.Prober != nil {
		cs.awaitFetched(ctx, skill)
		cs.Prober.Want()
		facts.Program, facts.System = cs.Prober.Program(skill), cs.Prober.System()
	}
	if runner := cs.Offer.Runner; runner != nil {
		given := runner.GivenVariables(ctx, skill)
		facts.Variable = func(name string) needs.Verdict { return needs.Of(given(name)) }
	}
	return needs.Check(skill.Needs, facts)
}

// awaitFetched waits for the probe of a skill whose needs were fetched after the catalog was listed, at
// most for [needs.MaxWait].
func (cs *Calls) awaitFetched(ctx context.Context, skill core.Skill) {
	if skill.OnDemand {
		ctx, cancel := context.WithTimeout(ctx, needs.MaxWait)
		defer cancel()
		cs.Prober.Await(ctx, skill)
	}
}

// UnmetInAll returns the needs of a skill that are met in no session, in words. It waits for programs
// that are looked for, at most for [needs.MaxWait]. It leaves out what may differ between sessions:
// tools of agents, and variables that functions of the host give.
func (cs *Calls) UnmetInAll(ctx context.Context, skill core.Skill) []string {
	ctx, cancel := context.WithTimeout(ctx, needs.MaxWait)
	defer cancel()
	cs.AwaitPrograms(ctx)
	runner := cs.Offer.Runner
	differ := runner != nil && (runner.Secret != nil || runner.Env != nil)
	return needs.Missing(slices.DeleteFunc(cs.CheckNeeds(ctx, skill, nil), func(n needs.Need) bool {
		return differ && (n.Kind == needs.Env || n.Kind == needs.Secret)
	}))
}

// resolveShown is [Calls.ResolveSkills] if unmet needs hide skills.
func (cs *Calls) resolveShown(ctx context.Context, key core.SessionKey, agent *state.Agent) error {
	skills, err := cs.Audiences.Resolve(ctx, key, agent)
	if err != nil {
		return err
	}
	rec, err := cs.Stores.Load(ctx, key)
	if err != nil {
		return err
	}
	if skills, err = cs.Hiding.Of(ctx, rec, skills); err == nil {
		agent.SetSkills(skills)
	}
	return err
}

// AwaitPrograms returns when the programs that skills need were looked for, or when ctx ends.
func (cs *Calls) AwaitPrograms(ctx context.Context) {
	if cs.Prober != nil {
		cs.Prober.Wait(ctx)
	}
}
