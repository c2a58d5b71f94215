package view

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// Clearing decides which texts of ended loads leave the view when a turn begins. Its fields are
// not changed after its first use.
type Clearing struct {
	Mode      loadmode.Mode
	Placement processors.Placement
	Policy    loadmode.CachePolicy // of mode Turn
	Prices    loadmode.Prices      // of mode Adaptive
	Delivers  map[string]bool      // tools whose results show content
	// Agents and Stores give access to the content of a record.
	Agents *state.Agents
	Stores *state.Stores

	subjects subjects
}

// content renders the deliveries of a record.
func (c *Clearing) content(ctx context.Context, key core.SessionKey, rec *state.Record) (*state.Content, error) {
	return c.Agents.Of(key).Content(rec, c.Stores.Texts(ctx, key))
}

// IsBroken reports whether the prefix of a request within a turn breaks: a call has removed texts,
// or the host has changed the messages before the content.
func (c *Clearing) IsBroken(rec *state.Record, scan *state.Scan) bool {
	return rec.Broke != 0 || c.usesPrices(rec) && hasMoved(scan, rec)
}

// NoteRequest saves what a request within a turn shows about the provider's cache: the time of
// the request, and whether the host has changed the messages before the content. If the prefix is
// broken, it clears the texts after the break that do not pay to be sent again. It returns an
// event for each of them. read are the skills of which this turn has read files; their texts stay.
func (c *Clearing) NoteRequest(ctx context.Context, records *state.Records, rec *state.Record, scan *state.Scan, read []string) (*state.Record, []core.Event, error) {
	rec, moved, err := c.noteMove(ctx, records, rec, scan, read)
	if err != nil {
		return nil, nil, err
	}
	rec, cleared, err := c.noteBreak(ctx, records, rec, scan, read)
	if err != nil {
		return nil, nil, err
	}
	rec, err = c.noteTime(ctx, records, rec)
	return rec, append(moved, cleared...), err
}

// BeginTurn keeps content of ended loads in next if removing it would cost more than it saves.
// next is the record of the new turn, and rec the record before it. read are the skills of which
// the turn before has read files. BeginTurn returns an event for each text that it clears by
// prices.
func (c *Clearing) BeginTurn(ctx context.Context, next, rec *state.Record, scan *state.Scan, read []string) ([]core.Event, error) {
	if c.Placement != processors.InToolResult {
		return nil, nil
	}
	idle := idleTime(rec)
	if c.cacheTTL(rec) > 0 {
		next.Sent = time.Now().Unix()
	}
	next.Front = state.Front{} // that of an earlier turn would look like a change of the host
	if c.usesPrices(rec) {
		return c.endTexts(ctx, next, rec, scan, idle, read)
	}
	if c.Mode != loadmode.Turn || c.Policy == (loadmode.CachePolicy{}) || len(rec.Deliveries) == 0 {
		return nil, nil
	}
	content, err := c.content(ctx, next.Key, rec)
	if err != nil {
		return nil, err
	}
	pieces, calls := steps.Pieces(scan.Messages, steps.State{Record: rec, Content: content, Delivers: c.Delivers})
	kept := calls[:lifetime.Cut(c.Policy, pieces, idle)]
	lifetime.KeepExpired(next, rec, func(call int) bool { return slices.Contains(kept, call) })
	return nil, nil
}

// usesPrices reports whether prices decide when texts of a record are cleared: in mode Adaptive,
// and in mode Session after the cap has ended a load.
func (c *Clearing) usesPrices(rec *state.Record) bool {
	return c.Mode == loadmode.Adaptive || c.Mode == loadmode.Session && slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Ended })
}

// cacheTTL is how long the provider's cache holds a prefix. It is 0 if no decision about rec
// depends on it.
func (c *Clearing) cacheTTL(rec *state.Record) time.Duration {
	switch {
	case c.Placement != processors.InToolResult:
		return 0
	case c.usesPrices(rec):
		return c.Prices.TTL
	case c.Mode == loadmode.Turn:
		return c.Policy.TTL
	}
	return 0
}

// idleTime returns the time since the last request, 0 if the record does not hold it.
func idleTime(rec *state.Record) time.Duration {
	if rec.Sent == 0 {
		return 0
	}
	return time.Since(time.Unix(rec.Sent, 0))
}

// noteTime saves the time of a request within a turn if a decision depends on it. It saves at
// most once in a quarter of the cache's lifetime.
func (c *Clearing) noteTime(ctx context.Context, records *state.Records, rec *state.Record) (*state.Record, error) {
	ttl := c.cacheTTL(rec)
	due := func(rec *state.Record) bool { return rec.Sent == 0 || idleTime(rec) >= max(ttl/4, time.Second) }
	if ttl == 0 || len(rec.Deliveries) == 0 || !due(rec) {
		return rec, nil
	}
	return records.UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		if !due(rec) {
			return nil, nil
		}
		next := rec.Clone()
		next.Sent = time.Now().Unix()
		return next, nil
	})
}

// noteBreak clears the texts after a break that a call of the last response has made.
func (c *Clearing) noteBreak(ctx context.Context, records *state.Records, rec *state.Record, scan *state.Scan, read []string) (_ *state.Record, cleared []core.Event, err error) {
	if rec.Broke == 0 {
		return rec, nil, nil
	}
	rec, err = records.UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		cleared, err = c.ClearAfterBreak(ctx, next, scan, read)
		next.KeepBeginning(rec)
		return next, err
	})
	return rec, cleared, err
}

// noteMove clears texts if the host has changed the messages before them within a turn, and saves
// a new fingerprint of those messages. The provider's cache has the changed messages when the
// next turn begins.
func (c *Clearing) noteMove(ctx context.Context, records *state.Records, rec *state.Record, scan *state.Scan, read []string) (_ *state.Record, cleared []core.Event, err error) {
	if !c.usesPrices(rec) || !hasMoved(scan, rec) {
		return rec, nil, nil
	}
	messages := scan.Messages
	rec, err = records.UpdateFrom(ctx, rec, func(rec *state.Record) (*state.Record, error) {
		cleared = nil
		now := state.ScanMessages(messages, rec.Front.Messages)
		if !hasMoved(&now, rec) {
			return nil, nil
		}
		next := rec.Clone()
		cleared, err = c.clearAfterMove(ctx, next, &now, read)
		next.KeepBeginning(rec)
		return next, err
	})
	return rec, cleared, err
}

// hasMoved reports whether the host has changed the messages before the content, and has not done
// so more than maxMoves times in this turn.
func hasMoved(scan *state.Scan, rec *state.Record) bool {
	f := rec.Front
	return f.Size > 0 && f.Moved < maxMoves && scan.HasMoved(f)
}
