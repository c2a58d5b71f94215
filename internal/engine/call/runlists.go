package call

import (
	"context"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/internal/engine/state"
)

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
	shared := adapter.RunOf(ctx)
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

// above returns the bounds of an agent: of those that have handed the conversation over
// to it by a call, in a turn that goes on, and of those before it, by which the host has.
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
