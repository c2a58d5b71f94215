package call

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
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
	return []bound{{key: rec.Key, turn: rec.Turn, judge: b.judging(b.Agents.Of(rec.Key)), lists: lists}}
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
	before := slices.Clone(callctx.AgentsBefore(ctx))
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
const transferTool = "transfer_to_agent"

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

// runLists holds what the agents under one context of the host leave to each other, by their
// names: one agent of each name takes part. They may have neither a session nor a runtime
// in common.
type runLists struct {
	mu sync.Mutex
	// handed are the bounds of the agents to which a call has handed the conversation over.
	handed map[string][]bound
	// begun are the agents that have begun a turn since the first one did.
	begun map[string]bool
	// records are the newest records of the agents.
	records map[string]runRecord
}

type runRecord struct {
	of     *Bounds
	record *state.Record
}

// runOf returns what the run of ctx holds, nil where the host's context names neither a
// session nor a turn.
func runOf(ctx context.Context) *runLists {
	shared := callctx.RunOf(ctx)
	if shared == nil {
		return nil
	}
	return shared.Keep(func() any {
		return &runLists{handed: map[string][]bound{}, begun: map[string]bool{}, records: map[string]runRecord{}}
	}).(*runLists)
}

// See notes the record of an agent for the agents that follow it in its run.
func (b *Bounds) See(ctx context.Context, rec *state.Record) {
	in := runOf(ctx)
	if in == nil || rec == nil || rec.Version == 0 {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if old := in.records[rec.Key.Agent]; old.record == nil || old.record.Key != rec.Key || old.record.Version < rec.Version {
		in.records[rec.Key.Agent] = runRecord{b, rec}
	}
}

// Begin notes that an agent has begun a user turn. Where the context of a session serves
// several turns, the second one of an agent ends what agents have left in the turn before.
// Turns of agents that are called do not count: they may be many in one of the
// conversation.
func (b *Bounds) Begin(ctx context.Context, agent string) {
	in := runOf(ctx)
	if _, isCalled := callersOf(ctx); in == nil || isCalled || adapter.TurnOf(ctx) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.begun[agent] {
		clear(in.handed)
		clear(in.begun)
	}
	in.begun[agent] = true
}

// note notes the bounds of the agent to which a call hands the conversation over.
func (in *runLists) note(to string, bounds []bound) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.handed[to] = slices.DeleteFunc(slices.Clone(bounds), func(b bound) bool { return b.key.Agent == to })
}

// above returns the bounds of an agent. They are those of the agents that handed the
// conversation over to it by a call, in a turn that goes on. Those of before, by which the
// host handed it over, follow.
func (in *runLists) above(agent string, before []string) []bound {
	in.mu.Lock()
	defer in.mu.Unlock()
	var bounds []bound
	for _, b := range in.handed[agent] {
		if by := in.records[b.key.Agent]; by.record == nil || by.record.Key != b.key || by.record.Turn == b.turn {
			bounds = append(bounds, b)
		}
	}
	for _, name := range before {
		if by, ok := in.records[name]; ok && name != agent && !has(bounds, name) {
			bounds = append(bounds, by.of.leaves(by.record)...)
		}
	}
	return bounds
}
