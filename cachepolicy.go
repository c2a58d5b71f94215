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

// WithCachePolicy keeps the content of earlier turns in the prompt, in load mode
// Turn, while removing it would cost more than it saves: whatever stands behind
// removed content has to be written into the provider's prompt cache again. p
// gives the prices; the decision is made when a turn starts. Loads end with their
// turn all the same, and a skill whose text is still in the prompt is loaded again
// without being sent again. The default removes content at once. With
// processors.InSystem the option changes nothing. Given after [WithPrices], or
// after load mode Adaptive, it selects mode Turn.
func WithCachePolicy(p loadmode.CachePolicy) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("%w: WithCachePolicy: %w", ErrOption, err)
		}
		if s.policy = p; s.mode == loadmode.Adaptive {
			s.mode = loadmode.Turn
		}
		return nil
	}
}

// keepWhileCheaper keeps content whose turn is over in the prompt while removing
// it would cost more cache than it saves. next is the record with which the new
// turn begins, rec the one before it.
func (r *Runtime) keepWhileCheaper(ctx context.Context, next, rec *session.Record, messages []core.Message) error {
	if r.placement != processors.InToolResult {
		return nil
	}
	idle := sinceSent(rec)
	if r.cacheTTL() > 0 {
		next.Sent = time.Now().Unix()
	}
	if r.mode == loadmode.Adaptive {
		return r.keepByPrices(ctx, next, rec, messages, idle)
	}
	if r.mode != loadmode.Turn || r.policy == (loadmode.CachePolicy{}) || len(rec.Deliveries) == 0 {
		return nil
	}
	content, err := r.states.Of(next.Key).Shown(rec, r.pinLookup(ctx, next.Key))
	if err != nil {
		return err
	}
	pieces, calls := processors.Pieces(messages, processors.State{Record: rec, Content: content, Delivers: r.delivers})
	kept := calls[:r.policy.Cut(pieces, idle)]
	loadmode.KeepExpired(next, rec.Deliveries, func(call int) bool { return slices.Contains(kept, call) })
	return nil
}

// cacheTTL is how long the provider's cache holds a prefix, 0 where no decision
// depends on it.
func (r *Runtime) cacheTTL() time.Duration {
	switch {
	case r.placement != processors.InToolResult:
		return 0
	case r.mode == loadmode.Adaptive:
		return r.prices.TTL
	case r.mode == loadmode.Turn:
		return r.policy.TTL
	}
	return 0
}

// sinceSent is how long ago the last request was by its record, 0 where that does
// not say.
func sinceSent(rec *session.Record) time.Duration {
	if rec.Sent == 0 {
		return 0
	}
	return time.Since(time.Unix(rec.Sent, 0))
}

// noteSent saves the time of a request within a turn, where a decision depends on it,
// at most once in a quarter of the time for which the cache holds a prefix.
func (r *Runtime) noteSent(ctx context.Context, store session.Store, rec *session.Record) (*session.Record, error) {
	ttl := r.cacheTTL()
	due := func(rec *session.Record) bool { return rec.Sent == 0 || sinceSent(rec) >= max(ttl/4, time.Second) }
	if ttl == 0 || len(rec.Deliveries) == 0 || !due(rec) {
		return rec, nil
	}
	return session.UpdateFrom(ctx, store, rec, func(rec *session.Record) (*session.Record, error) {
		if !due(rec) {
			return nil, nil
		}
		next := rec.Clone()
		next.Sent = time.Now().Unix()
		return next, nil
	})
}
