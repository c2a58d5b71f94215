package satchel

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/session"
)

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

// saw notes the record of an agent for the agents that follow it in its run. An agent
// whose request was prepared has one.
func (r *Runtime) saw(ctx context.Context, rec *session.Record) {
	h, _ := handedInRun(ctx)
	if h == nil || rec == nil || rec.Version == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.seen[rec.Key.Agent]; old.record == nil || old.record.Key != rec.Key || old.record.Version < rec.Version {
		h.seen[rec.Key.Agent] = agentRecord{r, rec}
	}
}

// loadSeen loads the record of an agent for a call and notes it.
func (r *Runtime) loadSeen(ctx context.Context, key core.SessionKey) (*session.Record, error) {
	rec, err := r.stores.Load(ctx, key)
	if err == nil {
		r.saw(ctx, rec)
	}
	return rec, err
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
// these that this process has not seen in the run. noted says that a call has handed
// the conversation over to the agent, so that older notes do not count.
func (h *handedIn) to(agent string, before []string) (bounds []bound, unseen []string, noted bool) {
	if h == nil {
		return nil, before, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	bounds, noted = h.bounds[agent]
	bounds = slices.Clip(bounds)
	for _, name := range before {
		if by, ok := h.seen[name]; !ok {
			unseen = append(unseen, name)
		} else if !sets(bounds, name) {
			bounds = append(bounds, by.runtime.boundBy(by.record)...)
		}
	}
	return bounds, unseen, noted
}

// recordOf returns the newest record of an agent of the run, nil where this process has
// not seen it there.
func (h *handedIn) recordOf(agent string) *session.Record {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[agent].record
}

// sets reports whether some of the bounds are those of an agent.
func sets(bounds []bound, agent string) bool {
	return slices.ContainsFunc(bounds, func(b bound) bool { return b.key.Agent == agent })
}

// handed returns the bounds of the agents that have handed the conversation over to
// the agent of key. They are known in the run; where it goes on in another one, the
// records of the session tell, and the agent's own, which is rec: nil if nothing there
// counts. Where that is lost, so are the bounds.
func (r *Runtime) handed(ctx context.Context, key core.SessionKey, rec *session.Record) ([]bound, error) {
	in, names := handedInRun(ctx)
	before := make([]string, len(names))
	for i, name := range names {
		before[i] = hook.NestedKey(ctx, core.SessionKey{Session: key.Session, Agent: name}).Agent
	}
	bounds, unseen, noted := in.to(key.Agent, before)
	if rec == nil {
		return bounds, nil
	}
	handed := rec.Handed
	if noted {
		handed = nil
	}
	for _, h := range handed {
		if h.Agent == key.Agent || sets(bounds, h.Agent) {
			continue
		}
		by, err := r.recordIn(ctx, key, h.Agent)
		switch {
		case err != nil:
			return nil, err
		case by != nil && by.Turn != h.Turn: // that turn is over
		case h.Lists != nil:
			bounds = append(bounds, r.keptBound(key.Session, h))
		case by != nil:
			bounds = append(bounds, r.boundBy(by)...)
		}
	}
	for _, name := range unseen {
		if name == key.Agent || sets(bounds, name) {
			continue
		}
		left, err := r.leftElsewhere(ctx, core.SessionKey{Session: key.Session, Agent: name, Anonymous: key.Anonymous})
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, left...)
	}
	return bounds, nil
}

// leftElsewhere returns what an agent leaves to others that this process has not seen in
// the run. Where its record is in no store of this process, it is lost.
func (r *Runtime) leftElsewhere(ctx context.Context, key core.SessionKey) ([]bound, error) {
	by, err := r.recordIn(ctx, key, key.Agent)
	if err != nil {
		return nil, err
	} else if by != nil {
		return r.boundBy(by), nil
	}
	run, _ := hook.RunOf(ctx)
	if run.Elsewhere == nil {
		return nil, nil // it has no skills in this conversation
	}
	var left []bound
	found, lists := false, false
	for _, other := range runtimesOf(run.Elsewhere(key.Agent)) {
		if !other.leavesLists(key) {
			continue
		}
		lists = true
		if other == r || other.ended.Load() {
			continue
		}
		if by, err := other.recordIn(ctx, key, key.Agent); by != nil {
			found, left = true, append(left, other.boundBy(by)...)
		} else if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if lists && !found {
		return []bound{r.lostBound(key)}, nil
	}
	return left, nil
}

// runtimesOf returns the runtimes that are open; all, if none is.
func runtimesOf(known []hook.Runtime) []*Runtime {
	var all, open []*Runtime
	for _, k := range known {
		if h, ok := k.(hooks); ok {
			all = append(all, h.runtime)
			if !h.runtime.ended.Load() {
				open = append(open, h.runtime)
			}
		}
	}
	if len(open) == 0 {
		return all
	}
	return open
}

// leavesLists reports whether an agent may leave lists to others: some skill that it sees
// has one.
func (r *Runtime) leavesLists(key core.SessionKey) bool {
	return r.judge.Policy.Restricts() && r.judging(r.states.Of(key)).Mentions != nil
}

// recordIn returns the record of another agent in the session of key, nil where the
// store has none.
func (r *Runtime) recordIn(ctx context.Context, key core.SessionKey, agent string) (*session.Record, error) {
	if key.Anonymous {
		return nil, nil
	}
	rec, err := r.store.Load(ctx, core.SessionKey{Session: key.Session, Agent: agent})
	if err != nil || rec.Version == 0 {
		return nil, err
	}
	return rec, nil
}

// keepHanded notes in the record of an agent what bounds it in its run, for when that
// goes on in another process.
func (r *Runtime) keepHanded(ctx context.Context, key core.SessionKey, rec *session.Record, state *agentstate.State) (*session.Record, error) {
	if in, _ := handedInRun(ctx); in == nil || key.Anonymous {
		return rec, nil
	}
	bounds, err := r.handed(ctx, key, rec)
	if err != nil {
		return nil, err
	}
	return session.UpdateFrom(ctx, r.store, rec, r.handing(key, bounds, r.toolsOf(state)))
}

// handing notes bounds in the record of the agent of key, which has these tools.
func (r *Runtime) handing(key core.SessionKey, bounds []bound, tools []string) func(*session.Record) (*session.Record, error) {
	var handed []session.Handover
	for _, b := range bounds {
		if !b.lost && !b.frees(key.Agent) {
			handed = append(handed, b.kept(r, key, tools))
		}
	}
	return func(rec *session.Record) (*session.Record, error) {
		if reflect.DeepEqual(rec.Handed, handed) {
			return nil, nil
		}
		rec = rec.Clone()
		rec.Handed = handed
		return rec, nil
	}
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
	key.Agent = to
	_, err := session.Update(ctx, r.store, key, r.handing(key, bounds, nil))
	return err
}
