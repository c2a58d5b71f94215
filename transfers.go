package satchel

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

type boundKey struct{}

// bound holds the lists of an agent, which also bound the agents that it calls, and
// its turn.
type bound struct {
	runtime *Runtime
	key     core.SessionKey
	turn    int
	lists   []permission.List
}

// boundBy returns what the agent of a record leaves to those that it calls.
func (r *Runtime) boundBy(rec *session.Record) []bound {
	if lists := r.lists(rec); len(lists) > 0 && r.judge.Policy.Restricts() {
		return []bound{{r, rec.Key, rec.Turn, lists}}
	}
	return nil
}

// isFree reports whether an agent is among the free ones. An agent that runs inside
// another one of its name is called agent/agent.
func isFree(free []string, agent string) bool {
	return slices.ContainsFunc(free, func(name string) bool {
		return agent == name || strings.HasPrefix(agent, name+"/"+name)
	})
}

// handedIn holds what the agents of one run leave to each other, by their names: one
// agent of each name takes part. They may have neither a session nor a runtime in
// common.
type handedIn struct {
	mu sync.Mutex
	// bounds are those of the agents to which a call has handed the conversation over.
	bounds map[string][]bound
	// seen are the agents with their newest records.
	seen map[string]agentRecord
}

type agentRecord struct {
	runtime *Runtime
	record  *session.Record
}

// handedInRun returns what the run of ctx holds, nil outside of a run, and the agents
// before the one that runs under ctx.
func handedInRun(ctx context.Context) (*handedIn, []string) {
	run, before := hook.RunOf(ctx)
	if run == nil {
		return nil, before
	}
	return run.Keep(func() any {
		return &handedIn{bounds: map[string][]bound{}, seen: map[string]agentRecord{}}
	}).(*handedIn), before
}

// saw notes the record of an agent for the agents that follow it in its run.
func (r *Runtime) saw(ctx context.Context, rec *session.Record) {
	h, _ := handedInRun(ctx)
	if h == nil || rec == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.seen[rec.Key.Agent]; old.record == nil || old.record.Key != rec.Key || old.record.Version < rec.Version {
		h.seen[rec.Key.Agent] = agentRecord{r, rec}
	}
}

// note notes the bounds of the agent to which a call hands the conversation over.
func (h *handedIn) note(to string, bounds []bound) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bounds[to] = bounds
}

// to returns the bounds of an agent that before have led to, and the agents among
// these that this process has not seen in the run.
func (h *handedIn) to(agent string, before []string) (bounds []bound, unseen []string) {
	if h == nil {
		return nil, before
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	bounds = slices.Clip(h.bounds[agent])
	for _, name := range before {
		if by, ok := h.seen[name]; !ok {
			unseen = append(unseen, name)
		} else if !sets(bounds, name) {
			bounds = append(bounds, by.runtime.boundBy(by.record)...)
		}
	}
	return bounds, unseen
}

// sets reports whether some of the bounds are those of an agent.
func sets(bounds []bound, agent string) bool {
	return slices.ContainsFunc(bounds, func(b bound) bool { return b.key.Agent == agent })
}

// handed returns the bounds of the agents that have handed the conversation over to
// the agent of key. They are known in the run; where it goes on in another one, the
// records of the session tell. rec is the agent's own, nil if nothing there counts.
func (r *Runtime) handed(ctx context.Context, key core.SessionKey, rec *session.Record) ([]bound, error) {
	in, names := handedInRun(ctx)
	before := make([]string, len(names))
	for i, name := range names {
		before[i] = hook.NestedKey(ctx, core.SessionKey{Session: key.Session, Agent: name}).Agent
	}
	bounds, unseen := in.to(key.Agent, before)
	if rec == nil || key.Anonymous || !r.judge.Policy.Restricts() {
		return bounds, nil
	}
	add := func(agent string, holds func(*session.Record) bool) error {
		by := core.SessionKey{Session: key.Session, Agent: agent}
		if by == key || sets(bounds, agent) {
			return nil
		}
		rec, err := r.store.Load(ctx, by)
		if err == nil && holds(rec) {
			bounds = append(slices.Clip(bounds), r.boundBy(rec)...)
		}
		return err
	}
	for _, h := range rec.Handed {
		if err := add(h.Agent, func(rec *session.Record) bool { return rec.Turn == h.Turn }); err != nil {
			return nil, err
		}
	}
	for _, name := range unseen {
		if err := add(name, func(*session.Record) bool { return true }); err != nil {
			return nil, err
		}
	}
	return bounds, nil
}

// maxAgentName bounds in bytes the names by which an agent is found in a transfer.
const maxAgentName = 256

// transferTo returns the agent that the arguments of a transfer name. Without one, the
// tool says what is wrong.
func transferTo(arguments string) string {
	var to struct {
		Agent string `json:"agent_name"`
	}
	if _ = json.Unmarshal([]byte(arguments), &to); len(to.Agent) > maxAgentName {
		return ""
	}
	return to.Agent
}

// handOver notes that the agent of key hands the conversation over to another one,
// with these bounds: in the run, and in the other's record for when the run goes on
// elsewhere.
func (r *Runtime) handOver(ctx context.Context, key core.SessionKey, to string, bounds []bound) error {
	bounds = slices.DeleteFunc(slices.Clone(bounds), func(b bound) bool { return b.key.Agent == to })
	in, _ := handedInRun(ctx)
	in.note(to, bounds)
	if key.Anonymous {
		return nil
	}
	var handed []session.Handover
	for _, b := range bounds {
		if b.key.Session == key.Session && !b.key.Anonymous {
			handed = append(handed, session.Handover{Agent: b.key.Agent, Turn: b.turn})
		}
	}
	key.Agent = to
	_, err := session.Update(ctx, r.store, key, func(rec *session.Record) (*session.Record, error) {
		if slices.Equal(rec.Handed, handed) {
			return nil, nil
		}
		rec = rec.Clone()
		rec.Handed = handed
		return rec, nil
	})
	return err
}
