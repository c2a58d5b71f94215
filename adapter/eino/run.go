package eino

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
)

// runs finds the session key of a call: the session that the host named, or an anonymous one
// for the run. Eino has no id for a run, but each run of a graph has a local state of its own,
// and its address identifies the run. The reference is weak, so it does not keep the state in
// memory.
type runs struct {
	rt    *satchel.Runtime
	agent string

	mu      sync.Mutex
	live    *lru.Cache[weak.Pointer[byte], run]
	evicted core.SessionKey // removed from live, but not ended yet
}

type run struct {
	key     core.SessionKey
	cleanup runtime.Cleanup
}

func newRuns(rt *satchel.Runtime, agent string) *runs {
	r := &runs{rt: rt, agent: agent}
	r.live = lru.New(maxRuns, func(_ weak.Pointer[byte], oldest run) {
		oldest.cleanup.Stop()
		r.evicted = oldest.key
	})
	return r
}

// key returns the key of the call under ctx, or [satchel.ErrNoSession].
func (r *runs) key(ctx context.Context) (core.SessionKey, error) {
	if key, ok := adapter.SessionOf(ctx, r.agent); ok {
		return adapter.Key(ctx, r, key), nil
	}
	state := graphState(ctx)
	if state == nil {
		return core.SessionKey{}, fmt.Errorf("tell apart the runs of a graph without local state: %w", satchel.ErrNoSession)
	}
	key, evicted := r.anonymousKey(state)
	if evicted != (core.SessionKey{}) {
		r.end(context.WithoutCancel(ctx), evicted)
	}
	return key, nil
}

// anonymousKey returns the key of the run with the given state, and begins a session for it at
// the first call. It also returns the session that had to make room, which the caller must end.
func (r *runs) anonymousKey(state *byte) (key, evicted core.SessionKey) {
	id := weak.Make(state)
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.live.Get(id); ok {
		return known.key, core.SessionKey{}
	}
	key = r.rt.Hooks().Anonymous(r.agent)
	r.live.Put(id, run{key, runtime.AddCleanup(state, r.forget, id)}, 1)
	evicted, r.evicted = r.evicted, core.SessionKey{}
	return key, evicted
}

// forget ends the session of a run after the collector has freed the run's state.
func (r *runs) forget(id weak.Pointer[byte]) {
	r.mu.Lock()
	ended, ok := r.live.Get(id)
	r.live.Remove(id)
	r.mu.Unlock()
	if ok {
		r.end(context.Background(), ended.key)
	}
}

// close ends the sessions of all runs that have not ended.
func (r *runs) close() error {
	r.mu.Lock()
	var keys []core.SessionKey
	for id, run := range r.live.All() {
		run.cleanup.Stop()
		keys = append(keys, run.key)
		r.live.Remove(id)
	}
	r.mu.Unlock()
	var errs []error
	for _, key := range keys {
		errs = append(errs, r.rt.Hooks().EndAnonymous(context.Background(), key))
	}
	return errors.Join(errs...)
}

// end ends an anonymous session. The session lives in memory only, so end may ignore the error.
func (r *runs) end(ctx context.Context, key core.SessionKey) {
	_ = r.rt.Hooks().EndAnonymous(ctx, key)
}

// graphState returns the address of the innermost local state of the graph that runs under ctx,
// or nil. It briefly takes the lock of the state. Eino holds that lock in state handlers, but
// not while a model or a tool runs.
func graphState(ctx context.Context) *byte {
	var state *byte
	err := compose.ProcessState(ctx, func(_ context.Context, s any) error {
		state = address(s)
		return nil
	})
	if err != nil {
		return nil
	}
	return state
}

// address returns the address that the pointer s points to, or nil if it cannot tell two runs
// apart. A value has no lasting address, and all pointers to empty structs are equal.
func address(s any) *byte {
	v := reflect.ValueOf(s)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().Size() == 0 {
		return nil
	}
	return (*byte)(v.UnsafePointer())
}

// withAgentRun marks ctx with the run of the adk agent under it, and with the agents that
// handed the conversation over to that agent. Outside of adk it returns ctx.
func withAgentRun(ctx context.Context) context.Context {
	path := agentPath(compose.GetCurrentAddress(ctx))
	if len(path) == 0 {
		return ctx
	}
	if before := path[:len(path)-1]; len(before) > 0 {
		ctx = adapter.WithAgentsBefore(ctx, before)
	}
	if state := graphState(ctx); state != nil {
		ctx = adapter.WithAttempt(ctx, weak.Make(state))
	}
	return ctx
}

// agentPath returns the names of the adk agents through which a conversation has come to the
// agent at an address, which is the last of them. If the conversation came back to an agent, as
// a supervisor's does, the agents in between are left out: handing back is an answer. The path
// of an agent that is a tool begins with that agent.
func agentPath(address compose.Address) []string {
	var names []string
	for i, at := range address {
		if at.Type != adk.AddressSegmentAgent {
			continue
		}
		if i > 0 && address[i-1].Type != adk.AddressSegmentAgent {
			names = nil
		}
		if n := slices.Index(names, at.ID); n >= 0 {
			names = names[:n]
		}
		names = append(names, at.ID)
	}
	return names
}
