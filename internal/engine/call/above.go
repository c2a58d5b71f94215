package call

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/permission"
)

// bound holds the lists of an agent in one turn, which also bound the agents below it.
type bound struct {
	key   core.SessionKey
	turn  int
	judge *judging.Judge
	lists []judging.List
}

// leaves returns the lists that the agent of a record leaves to those below it.
func (b *Bounds) leaves(rec *state.Record) []bound {
	lists := b.lists(rec, "")
	if len(lists) == 0 || !b.Judge.Policy.Restricts() {
		return nil
	}
	return []bound{{key: rec.Key, turn: rec.Turn, judge: b.judging(b.States.Of(rec.Key)), lists: lists}}
}

// decide judges a request of another agent by the bound.
func (b *bound) decide(ctx context.Context, q permission.Request) (judging.Verdict, error) {
	v, err := b.judge.Decide(ctx, q, b.lists)
	if v.Outcome == judging.Denied {
		v.Reason += " These lists are of the agent that called you."
	}
	return v, err
}

// has reports whether some of the bounds are those of an agent.
func has(bounds []bound, agent string) bool {
	return slices.ContainsFunc(bounds, func(b bound) bool { return b.key.Agent == agent })
}

// callersKey finds, in a context, the bounds that callers leave to the agents under it.
type callersKey struct{}

// callersOf returns the bounds of the callers of the agent that runs under ctx. isCalled
// reports whether it has callers at all.
func callersOf(ctx context.Context) (bounds []bound, isCalled bool) {
	bounds, isCalled = ctx.Value(callersKey{}).([]bound)
	return bounds, isCalled
}

// above returns the bounds of the agents that have called an agent, and of those that
// have handed the conversation over to it.
func (b *Bounds) above(ctx context.Context, key core.SessionKey) []bound {
	callers, _ := callersOf(ctx)
	handed := b.handed(ctx, key)
	if len(callers) == 0 {
		return handed
	}
	return append(slices.Clip(callers), handed...)
}

// handed returns the bounds of the agents that have handed the conversation over to the
// agent of key, as the run of ctx knows them.
func (b *Bounds) handed(ctx context.Context, key core.SessionKey) []bound {
	in := runOf(ctx)
	if in == nil {
		return nil
	}
	before := slices.Clone(adapter.AgentsBefore(ctx))
	for i, name := range before {
		before[i] = adapter.NestedKey(ctx, core.SessionKey{Session: key.Session, Agent: name}).Agent
	}
	return in.above(key.Agent, before)
}

// IsBound reports whether lists of agents above this one hold for it.
func (b *Bounds) IsBound(ctx context.Context, key core.SessionKey) bool {
	return len(b.above(ctx, key)) > 0
}

// Within returns the context under which a tool of the host answers the call of an agent.
// The lists of the agent bound those that run under it. They also bound the agent to which
// the call hands the conversation over, where the context comes from satchel.WithSession
// or satchel.BeginTurn. record returns the agent's record as the call sees it. It is
// called only where lists may bound somebody.
func (b *Bounds) Within(ctx context.Context, key core.SessionKey, call core.ToolCall, record func(context.Context) (*state.Record, error)) (context.Context, error) {
	bounds := b.handed(ctx, key)
	if b.Judge.Policy.Restricts() {
		rec, err := record(ctx)
		if err != nil {
			return nil, err
		}
		bounds = append(slices.Clip(bounds), b.leaves(rec)...)
	}
	if to := transferTo(call); to != "" {
		runOf(ctx).note(to, bounds)
	}
	callers, isCalled := callersOf(ctx)
	if isCalled && len(bounds) == 0 {
		return ctx, nil
	}
	return context.WithValue(ctx, callersKey{}, slices.Concat(callers, bounds)), nil
}

// transferTool is the tool by which an agent of Eino's adk hands its conversation over.
// maxAgentName bounds the names of agents that are looked for in its arguments, in bytes.
const (
	transferTool = "transfer_to_agent"
	maxAgentName = 256
)

// transferTo returns the agent that a call hands the conversation over to, "" for none.
// Where a transfer names no agent, the tool says what is wrong.
func transferTo(call core.ToolCall) string {
	var to struct {
		Agent string `json:"agent_name"`
	}
	if call.Name != transferTool {
		return ""
	}
	if _ = json.Unmarshal([]byte(call.Arguments), &to); len(to.Agent) > maxAgentName {
		return ""
	}
	return to.Agent
}
