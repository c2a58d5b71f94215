package satchel

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// WithPrices sets the prices of the provider's prompt cache for load mode Adaptive,
// which it selects unless [WithLoadMode] was given before. The default is
// loadmode.DefaultPrices. In mode Adaptive, where a turn begins, the prices, what
// carrying the content of ended loads has cost, and how often skills of the session
// came back decide from which place on it is cleared, as [loadmode.Prices.Clear]
// says. Loads end with their turn all the same; what is still in view is loaded
// again without being sent again. Given with WithCachePolicy, the last of the two
// counts. With processors.InSystem, and in the other modes, it changes nothing.
//
// Where the cache holds nothing of the content any more, because the last request is
// longer ago than TTL or the host has changed or cut what stands before it, clearing is
// free. The session's record then also keeps how often skills came back, when the last
// request was made, a checksum of what stands before all content, and what stays in view,
// in less than a kilobyte: of more than a few texts a list is pinned, and the record has
// its digest. It is saved no more often, but for the time
// of a request, which is saved within a turn at most once in a quarter of TTL, while there
// is content, and up to four times a turn where the host has cut what stands before it.
func WithPrices(p loadmode.Prices) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("%w: WithPrices: %w", ErrOption, err)
		}
		if s.prices = p; !s.modeGiven {
			s.mode = loadmode.Adaptive
		}
		return nil
	}
}

// keepByPrices keeps expired content in the prompt up to the place from which on
// clearing it pays. next is the record with which the turn begins, rec the one
// before it.
func (r *Runtime) keepByPrices(ctx context.Context, next, rec *session.Record, messages []core.Message, idle time.Duration) error {
	next.Front = processors.Front(messages, len(messages))
	if rec.Turn == 0 {
		return nil
	}
	next.Returns = loadmode.Learn(rec.Returns, endedTurn(rec, messages))
	if len(rec.Deliveries) == 0 {
		return nil
	}
	content, err := r.states.Of(next.Key).Shown(rec, r.pinLookup(ctx, next.Key))
	if err != nil {
		return err
	}
	facts, calls, at := processors.Facts(messages, processors.State{Record: rec, Content: content, Delivers: r.delivers})
	cold := r.prices.TTL > 0 && idle > r.prices.TTL
	facts.Returns, facts.Cold = next.Returns, cold || !processors.Stands(messages, rec.Front)
	kept := calls[:r.prices.Clear(facts)]
	if len(kept) > 0 {
		next.Front = processors.Front(messages[:at[0]], at[0])
	}
	keep := loadmode.KeepPrefix
	if facts.Cold {
		keep = loadmode.KeepExpired
	}
	keep(next, rec.Deliveries, func(call int) bool { return slices.Contains(kept, call) })
	return nil
}

// maxMoves is how often in a turn the record is saved because the host has changed what
// stands before the content.
const maxMoves = 4

// noteMoved saves what stands before the content where a host has cut or changed it
// within a turn: the request that shows it so is in the cache when the next turn begins.
func (r *Runtime) noteMoved(ctx context.Context, store session.Store, rec *session.Record, messages []core.Message) (*session.Record, error) {
	moved := func(rec *session.Record) bool {
		f := rec.Front
		return f.Size > 0 && f.Moved < maxMoves && processors.Moved(messages, f)
	}
	if r.mode != loadmode.Adaptive || !moved(rec) {
		return rec, nil
	}
	return session.UpdateFrom(ctx, store, rec, func(rec *session.Record) (*session.Record, error) {
		if !moved(rec) {
			return nil, nil
		}
		content, err := r.states.Of(rec.Key).Shown(rec, r.pinLookup(ctx, rec.Key))
		if err != nil {
			return nil, err
		}
		front := messages
		if _, _, at := processors.Facts(messages, processors.State{Record: rec, Content: content, Delivers: r.delivers}); len(at) > 0 {
			front = messages[:at[0]]
		}
		next := rec.Clone()
		next.Front = processors.Front(front, len(front))
		next.Front.Moved = rec.Front.Moved + 1
		return next, nil
	})
}

// endedTurn is what the turn of rec did, which messages hold.
func endedTurn(rec *session.Record, messages []core.Message) loadmode.Ended {
	t := loadmode.Ended{Quiet: processors.Quiet(messages)}
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
