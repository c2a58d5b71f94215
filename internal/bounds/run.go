package bounds

import (
	"context"
	"slices"
	"sync"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// inRun holds what the agents of one run leave to each other, by their names: one agent of
// each name takes part. They may have neither a session nor a runtime in common.
type inRun struct {
	mu sync.Mutex
	// handed are the bounds of the agents to which a call has handed the conversation over.
	handed map[string][]bound
	// seen are the agents with their newest records.
	seen map[string]agentRecord
}

type agentRecord struct {
	of     *Bounds
	record *state.Record
}

// runOf returns what the run of ctx holds, nil outside of a run, and the agents before the
// one that runs under ctx.
func runOf(ctx context.Context) (*inRun, []string) {
	run, before := adapter.RunOf(ctx)
	if run == nil {
		return nil, before
	}
	return run.Keep(func() any {
		return &inRun{handed: map[string][]bound{}, seen: map[string]agentRecord{}}
	}).(*inRun), before
}

// Saw notes the record of an agent for the agents that follow it in its run. An agent
// whose request was prepared has one.
func (b *Bounds) Saw(ctx context.Context, rec *state.Record) {
	in, _ := runOf(ctx)
	if in == nil || rec == nil || rec.Version == 0 {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if old := in.seen[rec.Key.Agent]; old.record == nil || old.record.Key != rec.Key || old.record.Version < rec.Version {
		in.seen[rec.Key.Agent] = agentRecord{b, rec}
	}
}

// Load loads the record of an agent for a call, and notes it as Saw does.
func (b *Bounds) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	rec, err := b.Stores.Load(ctx, key)
	if err == nil {
		b.Saw(ctx, rec)
	}
	return rec, err
}

// Begin prepares the record of a turn that begins: in a run, the run tells what bounds the
// agent, and not what its record has kept of another one.
func (b *Bounds) Begin(ctx context.Context, rec *state.Record) {
	if in, _ := runOf(ctx); in != nil {
		rec.Handed = nil
	}
}

// note notes the bounds of the agent to which a call hands the conversation over.
func (in *inRun) note(to string, bounds []bound) {
	if in == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.handed[to] = bounds
}

// to returns the bounds of an agent that before have led to, and the agents among
// these that this process has not seen in the run. noted says that a call has handed
// the conversation over to the agent, so that older notes do not count.
func (in *inRun) to(agent string, before []string) (bounds []bound, unseen []string, noted bool) {
	if in == nil {
		return nil, before, false
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	bounds, noted = in.handed[agent]
	bounds = slices.Clip(bounds)
	for _, name := range before {
		if by, ok := in.seen[name]; !ok {
			unseen = append(unseen, name)
		} else if !has(bounds, name) {
			bounds = append(bounds, by.of.leaves(by.record)...)
		}
	}
	return bounds, unseen, noted
}

// recordOf returns the newest record of an agent of the run, nil where this process has
// not seen it there.
func (in *inRun) recordOf(agent string) *state.Record {
	if in == nil {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.seen[agent].record
}
