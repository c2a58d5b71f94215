package satchel

import (
	"context"
	"fmt"
	"slices"

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
	if r.mode == loadmode.Adaptive {
		return r.keepByPrices(ctx, next, rec, messages)
	}
	if r.mode != loadmode.Turn || r.policy == (loadmode.CachePolicy{}) || len(rec.Deliveries) == 0 {
		return nil
	}
	state := r.states.of(next.Key)
	content, err := state.shown(rec, r.pinLookup(ctx, next.Key))
	if err != nil {
		return err
	}
	pieces, calls := processors.Pieces(messages, processors.State{Record: rec, Content: content, Delivers: r.delivers})
	kept := calls[:r.policy.Cut(pieces, state.idle())]
	loadmode.KeepExpired(next, rec.Deliveries, func(call int) bool { return slices.Contains(kept, call) })
	return nil
}
