package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// tombstones is a stored value that lists the ended sessions of one shard. It is used if the
// store does not implement [session.Tombstones]. There are 256 shards, so that many sessions
// can end at the same time.
type tombstones []tombstone

type tombstone struct {
	// Agent is a hash of the names of the session and of the agent.
	Agent string `json:"agent"`
	Calls int    `json:"calls"`
	At    int64  `json:"at"` // in Unix seconds
}

// tombstoneOf returns the key of the session's shard, and the value of tombstone.Agent.
func tombstoneOf(key core.SessionKey) (shard core.SessionKey, agent string) {
	id, name := session.Digest(key.Session), session.Digest(key.Agent)
	return core.SessionKey{Session: session.ReservedPrefix + "ended", Agent: id[:2]}, id[:16] + name[:16]
}

func (t tombstone) isOver() bool { return time.Since(time.Unix(t.At, 0)) > tombstoneAge }

// MarkEnded ends a session. Before that it stores the highest call number of each agent, so that
// receipts in an old transcript of the session load nothing again. It stores none for a
// damaged session.
func (r *Records) MarkEnded(ctx context.Context, id string) error {
	last, err := r.lastCalls(ctx, id)
	if err != nil {
		return err
	}
	if t, ok := r.store.(session.Tombstones); ok {
		defer r.forget(id)
		return t.MarkEnded(ctx, id, last)
	}
	if len(last) > 0 {
		if err := r.saveTombstones(ctx, id, last); err != nil {
			return fmt.Errorf("mark session %q as ended: %w", id, err)
		}
	}
	return r.End(ctx, id)
}

// Ended returns the agent's highest call number in ended sessions with the key's session id, 0
// if none is known.
func (r *Records) Ended(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if t, ok := r.store.(session.Tombstones); ok {
		return t.Ended(ctx, key)
	}
	shard, agent := tombstoneOf(key)
	_, known, err := r.loadTombstones(ctx, shard)
	for _, t := range known {
		if t.Agent == agent && !t.isOver() {
			return t.Calls, nil
		}
	}
	return 0, err
}

// lastCalls returns the agents of a session that have made calls, with their highest call
// numbers. It returns none for a damaged session.
func (r *Records) lastCalls(ctx context.Context, id string) (last []session.Tombstone, err error) {
	agents, err := r.store.Agents(ctx, id)
	if errors.Is(err, session.ErrDamaged) {
		return nil, nil
	}
	for _, agent := range agents {
		rec, err := r.Load(ctx, core.SessionKey{Session: id, Agent: agent})
		if errors.Is(err, session.ErrDamaged) {
			continue // it may also be a host's own value, which has no calls
		}
		if err != nil {
			return nil, err
		}
		if rec.Calls > 0 {
			last = append(last, session.Tombstone{Agent: agent, Calls: rec.Calls})
		}
	}
	return last, err
}

// saveTombstones adds the agents of an ended session to its shard. If there are too many
// tombstones, it keeps the latest.
func (r *Records) saveTombstones(ctx context.Context, id string, last []session.Tombstone) error {
	shard, _ := tombstoneOf(core.SessionKey{Session: id})
	for try := 0; ; try++ {
		if err := pause(ctx, try); err != nil {
			return err
		}
		v, known, err := r.loadTombstones(ctx, shard)
		if err != nil {
			return err
		}
		known = slices.DeleteFunc(known, tombstone.isOver)
		for _, c := range last {
			_, agent := tombstoneOf(core.SessionKey{Session: id, Agent: c.Agent})
			known = slices.DeleteFunc(known, func(t tombstone) bool { return t.Agent == agent })
			known = append(known, tombstone{agent, c.Calls, time.Now().Unix()})
		}
		if v.Data, err = json.Marshal(known[max(0, len(known)-maxTombstones):]); err != nil {
			return err
		}
		if _, err = r.store.Save(ctx, shard, v); !errors.Is(err, session.ErrConflict) {
			return err
		}
	}
}

func (r *Records) loadTombstones(ctx context.Context, shard core.SessionKey) (v session.Value, known tombstones, err error) {
	if v, err = r.store.Load(ctx, shard); err == nil && v.Version > 0 {
		err = json.Unmarshal(v.Data, &known)
	}
	return v, known, err
}
