package bounds

import (
	"context"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// recordOf returns the record of another agent in the session of key, nil where the
// store has none.
func (b *Bounds) recordOf(ctx context.Context, key core.SessionKey, agent string) (*state.Record, error) {
	if key.Anonymous {
		return nil, nil
	}
	rec, err := b.Stores.Kept.Load(ctx, core.SessionKey{Session: key.Session, Agent: agent})
	if err != nil || rec.Version == 0 {
		return nil, err
	}
	return rec, nil
}

// leftElsewhere returns what an agent leaves to others that this process has not seen in
// the run. Where its record is in no store of this process, it is lost.
// Decision 78 says why.
func (b *Bounds) leftElsewhere(ctx context.Context, key core.SessionKey) ([]bound, error) {
	by, err := b.recordOf(ctx, key, key.Agent)
	if err != nil {
		return nil, err
	} else if by != nil {
		return b.leaves(by), nil
	}
	run, _ := adapter.RunOf(ctx)
	if run.Elsewhere == nil {
		return nil, nil // it has no skills in this conversation
	}
	var left []bound
	found, lists := false, false
	for _, other := range boundsOf(run.Elsewhere(key.Agent)) {
		if !other.leavesLists(key) {
			continue
		}
		lists = true
		if other == b || other.ended.Load() {
			continue
		}
		if by, err := other.recordOf(ctx, key, key.Agent); by != nil {
			found, left = true, append(left, other.leaves(by)...)
		} else if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if lists && !found {
		return []bound{b.lost(key)}, nil
	}
	return left, nil
}

// Holder is a [adapter.Runtime] that tells what bounds its agents.
type Holder interface{ Bounds() *Bounds }

// boundsOf returns the bounds of the runtimes that are open; of all, if none is.
func boundsOf(runtimes []adapter.Runtime) []*Bounds {
	var all, open []*Bounds
	for _, r := range runtimes {
		if h, ok := r.(Holder); ok {
			all = append(all, h.Bounds())
			if !h.Bounds().ended.Load() {
				open = append(open, h.Bounds())
			}
		}
	}
	if len(open) == 0 {
		return all
	}
	return open
}
