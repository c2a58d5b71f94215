package satchel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// boundKey finds, in a context, the bounds that callers leave to the agents under it.
type boundKey struct{}

// bound holds the lists of an agent, which also bound the agents that it calls, and
// its turn.
type bound struct {
	key   core.SessionKey
	turn  int
	judge *permission.Judge
	lists []permission.List
	held  []session.ToolList // the lists, as a record has them
	// runtime is the agent's, nil where the record of another agent has kept the lists.
	runtime *Runtime
	// lost: the record of the agent is, so that nobody knows its lists.
	lost bool
}

// boundBy returns what the agent of a record leaves to those that it calls.
func (r *Runtime) boundBy(rec *session.Record) []bound {
	if len(rec.Lists) == 0 || !r.judge.Policy.Restricts() {
		return nil
	}
	return []bound{{key: rec.Key, turn: rec.Turn, judge: r.judging(r.states.Of(rec.Key)), lists: r.lists(rec), held: rec.Lists, runtime: r}}
}

// lostBound is what an agent leaves to others whose record is lost: they do only what
// no list can forbid.
func (r *Runtime) lostBound(key core.SessionKey) bound {
	judge := r.judging(r.states.Of(key))
	if !judge.Policy.Restricts() {
		judge.Policy = permission.Restrict
	}
	return bound{key: key, judge: judge, lists: []permission.List{{Skill: key.Agent}}, lost: true}
}

// kept returns the bound as it stands in the record of the agent of key, which has
// these tools: with the lists, where that agent's runtime, r, cannot read them in its
// store or would judge by them otherwise.
func (b *bound) kept(r *Runtime, key core.SessionKey, tools []string) session.Handover {
	h := session.Handover{Agent: b.key.Agent, Turn: b.turn}
	if b.runtime != r || b.key.Session != key.Session || b.key.Anonymous {
		h.Lists, h.Policy, h.Combine = b.held, b.judge.Policy.String(), b.judge.Combine.String()
		h.Tools = b.judge.Mentions.Among(tools)
	}
	return h
}

// keptBound is the inverse of kept. Words that it does not know are taken for the
// strictest.
func (r *Runtime) keptBound(session string, h session.Handover) bound {
	judge := r.judge
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
func (b *bound) frees(agent string) bool { return b.runtime != nil && isFree(b.runtime.free, agent) }

// isFree reports whether an agent is among the free ones. An agent that runs inside
// another one of its name is called agent/agent.
func isFree(free []string, agent string) bool {
	return slices.ContainsFunc(free, func(name string) bool {
		return agent == name || strings.HasPrefix(agent, name+"/"+name)
	})
}
