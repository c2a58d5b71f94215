package bounds

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/permission"
)

// bound holds the lists of an agent, which also bound the agents below it, and its turn.
type bound struct {
	key   core.SessionKey
	turn  int
	judge *permission.Judge
	lists []permission.List
	held  []state.ToolList // the lists, as a record has them
	// of is the agent's runtime, nil where the record of another agent has kept the lists.
	of *Bounds
	// lost: the record of the agent is, so that nobody knows its lists.
	lost bool
}

// leaves returns what the agent of a record leaves to those below it.
func (b *Bounds) leaves(rec *state.Record) []bound {
	held := heldBy(rec, "")
	if len(held) == 0 || !b.Judge.Policy.Restricts() {
		return nil
	}
	return []bound{{key: rec.Key, turn: rec.Turn, judge: b.judging(b.States.Of(rec.Key)), lists: b.lists(rec, ""), held: held, of: b}}
}

// leavesLists reports whether an agent may leave lists to others: some skill that it sees
// has one.
func (b *Bounds) leavesLists(key core.SessionKey) bool {
	return b.Judge.Policy.Restricts() && b.judging(b.States.Of(key)).Mentions != nil
}

// lost is what an agent leaves to others whose record is lost: they do only what no list
// can forbid.
func (b *Bounds) lost(key core.SessionKey) bound {
	judge := b.judging(b.States.Of(key))
	if !judge.Policy.Restricts() {
		judge.Policy = permission.Restrict
	}
	return bound{key: key, judge: judge, lists: []permission.List{{Skill: key.Agent}}, lost: true}
}

// kept returns a bound as it stands in the record of the agent of key, which has these
// tools: with the lists, where that agent's runtime, b, cannot read them in its store or
// would judge by them otherwise.
func (b *Bounds) kept(above *bound, key core.SessionKey, tools []string) state.Handover {
	h := state.Handover{Agent: above.key.Agent, Turn: above.turn}
	if above.of != b || above.key.Session != key.Session || above.key.Anonymous {
		h.Lists, h.Policy, h.Combine = above.held, above.judge.Policy.String(), above.judge.Combine.String()
		h.Tools = above.judge.Mentions.Among(tools)
	}
	return h
}

// recalled is the inverse of kept. Words that it does not know are taken for the
// strictest.
func (b *Bounds) recalled(session string, h state.Handover) bound {
	judge := b.Judge
	judge.Policy, judge.Combine = permission.RestrictAll, permission.Intersection
	_ = judge.Policy.UnmarshalText([]byte(h.Policy))
	_ = judge.Combine.UnmarshalText([]byte(h.Combine))
	var mentions []permission.Rule
	for _, name := range h.Tools {
		mentions = append(mentions, permission.Rule{Tool: name})
	}
	judge.Mentions = permission.NewMentions(mentions)
	key := core.SessionKey{Session: session, Agent: h.Agent}
	return bound{key: key, turn: h.Turn, judge: &judge, lists: listsOf(h.Lists), held: h.Lists}
}

// decide judges a request of another agent by the bound.
func (b *bound) decide(ctx context.Context, q permission.Request) (permission.Verdict, error) {
	v, err := b.judge.Decide(ctx, q, b.lists)
	switch {
	case v.Outcome != permission.Denied:
	case b.lost:
		v.Reason = fmt.Sprintf("denied: %q. This run was interrupted, and which lists the agent %q left to you is not known any more. "+
			"Do without, or say that the host must name a session and keep its records, or free this agent from lists of others (satchel.WithFreeAgents).", q.Tool.Name, b.key.Agent)
	default:
		v.Reason += " These lists are of the agent that called you."
	}
	return v, err
}

// frees reports whether the runtime of the bound lets an agent be.
func (b *bound) frees(agent string) bool { return b.of != nil && isFree(b.of.Free, agent) }

// isFree reports whether an agent is among the free ones. An agent that runs inside
// another one of its name is called agent/agent.
func isFree(free []string, agent string) bool {
	return slices.ContainsFunc(free, func(name string) bool {
		return agent == name || strings.HasPrefix(agent, name+"/"+name)
	})
}

// has reports whether some of the bounds are those of an agent.
func has(bounds []bound, agent string) bool {
	return slices.ContainsFunc(bounds, func(b bound) bool { return b.key.Agent == agent })
}
