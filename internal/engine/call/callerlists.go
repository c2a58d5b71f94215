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

// agentLists holds the allowed-tools lists of an agent in one turn. They also apply to the agents
// that it calls, and to those to which it hands the conversation over.
type agentLists struct {
	key   core.SessionKey
	turn  int
	judge *judging.Judge
	lists []judging.List
	// denials are the disallowed-tools of the agent's skills.
	denials []judging.Denial
}

// listsOfAgent returns the lists of the agent of rec that apply to agents below it.
func (b *Allowlists) listsOfAgent(rec *state.Record) []agentLists {
	lists, denials := b.lists(rec, ""), b.denials(rec, "")
	if len(lists)+len(denials) == 0 || !b.Judge.Policy.Restricts() {
		return nil
	}
	return []agentLists{{key: rec.Key, turn: rec.Turn, judge: b.judgeFor(b.Agents.Of(rec.Key)), lists: lists, denials: denials}}
}

// decide judges a request of another agent by these lists.
func (b *agentLists) decide(ctx context.Context, q permission.Request) (judging.Verdict, error) {
	v, isForbidden := b.judge.Forbid(ctx, q, b.denials)
	err := ctx.Err()
	if !isForbidden {
		v, err = b.judge.Decide(ctx, q, b.lists)
	}
	if v.Outcome == judging.Denied {
		v.Reason += " These lists are of the agent that called you."
	}
	return v, err
}

// hasAgent reports whether some of the lists belong to an agent of that name.
func hasAgent(bounds []agentLists, agent string) bool {
	return slices.ContainsFunc(bounds, func(b agentLists) bool { return b.key.Agent == agent })
}

// callersKey is the context key of the lists of all calling agents.
type callersKey struct{}

// callerLists returns the lists of the agents that called the agent of ctx. isCalled reports
// whether it was called by an agent.
func callerLists(ctx context.Context) (bounds []agentLists, isCalled bool) {
	bounds, isCalled = ctx.Value(callersKey{}).([]agentLists)
	return bounds, isCalled
}

// listsAbove returns the lists of the agents that called the agent of key, or that handed the
// conversation over to it.
func (b *Allowlists) listsAbove(ctx context.Context, key core.SessionKey) []agentLists {
	callers, _ := callerLists(ctx)
	handed := b.handoverLists(ctx, key)
	if len(callers) == 0 {
		return handed
	}
	return append(slices.Clip(callers), handed...)
}

// handoverLists returns the lists of the agents that handed the conversation over to the agent of
// key in this run.
func (b *Allowlists) handoverLists(ctx context.Context, key core.SessionKey) []agentLists {
	in := runOf(ctx)
	if in == nil {
		return nil
	}
	before := slices.Clone(callctx.AgentsBefore(ctx))
	for i, name := range before {
		before[i] = adapter.NestedKey(ctx, core.SessionKey{Session: key.Session, Agent: name}).Agent
	}
	return in.listsAbove(key.Agent, before)
}

// IsBound reports whether lists of other agents apply to the agent of key.
func (b *Allowlists) IsBound(ctx context.Context, key core.SessionKey) bool {
	return len(b.listsAbove(ctx, key)) > 0
}

// ToolContext returns the context in which a host's tool answers a call of an agent. The agent's
// lists apply to the agents that run in it. If ctx comes from satchel.WithSession or
// satchel.BeginTurn, they also apply to the agent to which the call hands the conversation over.
// record returns the agent's record as the call sees it; ToolContext calls it only if lists may
// apply.
func (b *Allowlists) ToolContext(ctx context.Context, key core.SessionKey, call core.ToolCall, record func(context.Context) (*state.Record, error)) (context.Context, error) {
	bounds := b.handoverLists(ctx, key)
	if b.Judge.Policy.Restricts() {
		rec, err := record(ctx)
		if err != nil {
			return nil, err
		}
		bounds = append(slices.Clip(bounds), b.listsOfAgent(rec)...)
	}
	if to := transferTo(call); to != "" {
		runOf(ctx).note(to, bounds)
	}
	callers, isCalled := callerLists(ctx)
	if isCalled && len(bounds) == 0 {
		return ctx, nil
	}
	return context.WithValue(ctx, callersKey{}, slices.Concat(callers, bounds)), nil
}

// transferTool is the tool with which an agent of Eino's adk hands the conversation over.
const transferTool = "transfer_to_agent"

// transferTo returns the agent to which a call hands the conversation over, "" for none. If the
// arguments name no agent, the tool itself reports the error.
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

// runLists holds the lists of all agents in one run, by the names of the agents. The run is that
// of a context from satchel.WithSession or satchel.BeginTurn. Its agents may belong to different
// sessions and runtimes.
type runLists struct {
	mu sync.Mutex
	// handovers are the lists for agents to which a call has handed the conversation over.
	handovers map[string][]agentLists
	// hasBegun has the agents that have begun a turn since handovers was last cleared.
	hasBegun map[string]bool
	// records are the newest records of the agents.
	records map[string]runRecord
}

type runRecord struct {
	of     *Allowlists
	record *state.Record
}

// runOf returns the lists of the run of ctx. It returns nil if ctx has neither a session nor a
// turn of the host.
func runOf(ctx context.Context) *runLists {
	shared := callctx.RunOf(ctx)
	if shared == nil {
		return nil
	}
	return shared.Value(func() any {
		return &runLists{handovers: map[string][]agentLists{}, hasBegun: map[string]bool{}, records: map[string]runRecord{}}
	}).(*runLists)
}

// NoteRecord notes the record of an agent for agents to which the conversation is handed over
// later in the run.
func (b *Allowlists) NoteRecord(ctx context.Context, rec *state.Record) {
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

// NoteTurn notes that an agent has begun a user turn. If one context of a session serves several
// turns, the second turn of an agent ends the handovers of the first. Turns of called agents do
// not count, because an agent may be called several times in one turn.
func (b *Allowlists) NoteTurn(ctx context.Context, agent string) {
	in := runOf(ctx)
	if _, isCalled := callerLists(ctx); in == nil || isCalled || adapter.TurnOf(ctx) != nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.hasBegun[agent] {
		clear(in.handovers)
		clear(in.hasBegun)
	}
	in.hasBegun[agent] = true
}

// note notes the lists for the agent to which a call hands the conversation over.
func (in *runLists) note(to string, bounds []agentLists) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.handovers[to] = slices.DeleteFunc(slices.Clone(bounds), func(b agentLists) bool { return b.key.Agent == to })
}

// listsAbove returns the lists for an agent. First come those of agents that handed the
// conversation over by a call in their present turn. Then come those of before, from which the
// host handed it over.
func (in *runLists) listsAbove(agent string, before []string) []agentLists {
	in.mu.Lock()
	defer in.mu.Unlock()
	var bounds []agentLists
	for _, b := range in.handovers[agent] {
		if by := in.records[b.key.Agent]; by.record == nil || by.record.Key != b.key || by.record.Turn == b.turn {
			bounds = append(bounds, b)
		}
	}
	for _, name := range before {
		if by, ok := in.records[name]; ok && name != agent && !hasAgent(bounds, name) {
			bounds = append(bounds, by.of.listsOfAgent(by.record)...)
		}
	}
	return bounds
}
