package view

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/loadmode"
)

// keepByPrices keeps expired content in the prompt up to the place from which on
// clearing it pays. next is the record with which the turn begins, rec the one
// before it.
func (c *Clearing) keepByPrices(ctx context.Context, next, rec *state.Record, scan *state.Scan, idle time.Duration) error {
	messages := scan.Messages
	next.Front = steps.Front(messages, len(messages))
	if rec.Turn == 0 {
		return nil
	}
	next.Returns = lifetime.Learn(rec.Returns, endedTurn(rec, scan))
	if len(rec.Deliveries) == 0 {
		return nil
	}
	content, err := c.content(ctx, next.Key, rec)
	if err != nil {
		return err
	}
	facts, calls, at := steps.Facts(messages, steps.State{Record: rec, Content: content, Delivers: c.Delivers})
	cold := c.Prices.TTL > 0 && idle > c.Prices.TTL
	facts.Returns, facts.Cold = next.Returns, cold || !steps.Stands(messages, rec.Front)
	kept := calls[:lifetime.Clear(c.Prices, facts)]
	if len(kept) > 0 {
		next.Front = steps.Front(messages[:at[0]], at[0])
	}
	keep := lifetime.KeepPrefix
	if facts.Cold {
		keep = lifetime.KeepExpired
	}
	keep(next, rec.Deliveries, func(call int) bool { return slices.Contains(kept, call) })
	return nil
}

// maxMoves is how often in a turn the record is saved because the host has changed what
// stands before the content.
const maxMoves = 4

// noteMoved saves what stands before the content where a host has cut or changed it
// within a turn: the request that shows it so is in the cache when the next turn begins.
func (c *Clearing) noteMoved(ctx context.Context, records *state.Records, rec *state.Record, scan *state.Scan) (*state.Record, error) {
	if c.Mode != loadmode.Adaptive || !hasMoved(scan, rec) {
		return rec, nil
	}
	messages := scan.Messages
	return records.UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		now := state.ScanMessages(messages, rec.Front.Messages)
		if !hasMoved(&now, rec) {
			return nil, nil
		}
		content, err := c.content(ctx, rec.Key, rec)
		if err != nil {
			return nil, err
		}
		front := messages
		if _, _, at := steps.Facts(messages, steps.State{Record: rec, Content: content, Delivers: c.Delivers}); len(at) > 0 {
			front = messages[:at[0]]
		}
		next := rec.Clone()
		next.Front = steps.Front(front, len(front))
		next.Front.Moved = rec.Front.Moved + 1
		return next, nil
	})
}

// hasMoved reports whether the host has changed what stands before the content, and the
// record may still be saved for that.
func hasMoved(scan *state.Scan, rec *state.Record) bool {
	f := rec.Front
	return f.Size > 0 && f.Moved < maxMoves && scan.Moved(f)
}

// endedTurn is what the turn of rec did, which messages hold.
func endedTurn(rec *state.Record, scan *state.Scan) lifetime.Ended {
	t := lifetime.Ended{Quiet: scan.IsQuiet}
	for i := range rec.Active {
		t.Loaded = append(t.Loaded, rec.Active[i].Skill)
	}
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Turn < rec.Turn && !d.Old && !slices.Contains(t.InView, d.Skill) {
			t.InView = append(t.InView, d.Skill)
		}
	}
	return t
}
