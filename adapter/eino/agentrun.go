package eino

import (
	"context"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/satchel-go/satchel/adapter"
)

// agentRuns knows the runs of adk agents that go on in this process, whatever
// runtime each agent has.
var agentRuns = agentRunsByState{live: make(map[weak.Pointer[byte]]*adapter.Run)}

// agentRunsByState finds the run that the agents have in common between which a
// conversation is handed over. Each agent is a graph with a state of its own, and Eino
// has no id for a run; the address of the state that its agents share is the identity
// used here. The reference is weak, so a run that ended is forgotten when the
// collector finds its state.
type agentRunsByState struct {
	mu   sync.Mutex
	live map[weak.Pointer[byte]]*adapter.Run
}

// of returns the run of the agent that runs under ctx, or nil outside of adk.
func (r *agentRunsByState) of(ctx context.Context) *adapter.Run {
	state := agentState(ctx)
	if state == nil {
		return nil
	}
	id := weak.Make(state)
	r.mu.Lock()
	defer r.mu.Unlock()
	run := r.live[id]
	if run == nil {
		run = new(adapter.Run)
		if isResumed(ctx) {
			run.Elsewhere = enrolled.of
		}
		r.live[id] = run
		runtime.AddCleanup(state, r.forget, id)
	}
	return run
}

func (r *agentRunsByState) forget(id weak.Pointer[byte]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.live, id)
}

// enrolled are the adapters of this process. Agents of one run may have neither a runtime
// nor a store in common, and what Eino keeps of an interrupted run are their names.
// Decision 78 says why it is found here.
var enrolled = adaptersByAgent{counts: make(map[string]map[adapter.Runtime]int)}

// adaptersByAgent counts adapters by the names of their agents and by their runtimes.
type adaptersByAgent struct {
	mu     sync.Mutex
	counts map[string]map[adapter.Runtime]int
}

// add counts an adapter for as long as the collector finds it.
func (e *adaptersByAgent) add(a *Adapter) {
	agent, rt := a.settings.agent, a.hooks
	e.count(agent, rt, 1)
	runtime.AddCleanup(a, func(n int) { e.count(agent, rt, n) }, -1)
}

func (e *adaptersByAgent) count(agent string, rt adapter.Runtime, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	of := e.counts[agent]
	if of == nil {
		of = make(map[adapter.Runtime]int)
		e.counts[agent] = of
	}
	if of[rt] += n; of[rt] == 0 {
		delete(of, rt)
	}
	if len(of) == 0 {
		delete(e.counts, agent)
	}
}

// of returns the runtimes that have an agent of that name: where there is none, the agent
// has no skills and leaves no lists to anybody.
func (e *adaptersByAgent) of(agent string) []adapter.Runtime {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.counts[agent]))
}

// agentsBefore returns the agents of adk with skills that have handed the conversation over, one
// to the next and the last to the one that runs under ctx. An agent to which it came
// back is there once, and without those that it came back from: where the host hands
// back, as a supervisor has it, that is an answer. Runs of agents that are tools begin
// anew.
func agentsBefore(ctx context.Context) []string {
	var names []string
	address := compose.GetCurrentAddress(ctx)
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
	names = names[:max(0, len(names)-1)]
	return slices.DeleteFunc(names, func(name string) bool { return len(enrolled.of(name)) == 0 })
}

// agentState returns the address of the state that the agents of one adk run share
// (their session, in Eino's words), or nil. adk exports what the state holds, but
// not which one it is, and a value that is added to it would turn instructions into
// templates. So its reader is called with a context that notes what it asks for.
func agentState(ctx context.Context) *byte {
	asked := &askedContext{Context: ctx}
	adk.GetSessionValue(asked, "")
	v := reflect.ValueOf(asked.found)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().Kind() != reflect.Struct {
		return nil
	}
	if v = v.Elem().FieldByName("Session"); !v.IsValid() || !v.CanInterface() {
		return nil
	}
	// An agent that hands over on behalf of the host may have a session of its own, with
	// the values of the run's.
	if session := reflect.Indirect(v); session.Kind() == reflect.Struct {
		if values := session.FieldByName("Values"); values.Kind() == reflect.Map && !values.IsNil() {
			return (*byte)(values.UnsafePointer())
		}
	}
	return address(v.Interface())
}

// askedContext notes the value that it was asked for last.
type askedContext struct {
	context.Context
	found any
}

func (c *askedContext) Value(key any) any {
	c.found = c.Context.Value(key)
	return c.found
}

// isResumed reports whether the run of adk goes on after an interrupt. Eino keeps that in
// the context under a key of its own, so isResumed calls a function of Eino that looks
// there, with a context that notes what it is asked for.
func isResumed(ctx context.Context) bool {
	asked := &resumedContext{Context: ctx}
	adk.AppendAddressSegment(asked, adk.AddressSegmentAgent, "")
	return asked.resumed
}

// resumedContext notes whether it has what Eino keeps in the context of a run that was
// resumed, and hides it from that function.
type resumedContext struct {
	context.Context
	resumed bool
}

func (c *resumedContext) Value(key any) any {
	if reflect.TypeOf(key).Name() != "globalResumeInfoKey" {
		return c.Context.Value(key)
	}
	c.resumed = c.Context.Value(key) != nil
	return nil
}
