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

// WithCachePolicy delays, in load mode Turn, when content leaves the view: at a
// turn start it is cleared where that saves more than it costs with the prices of
// the provider's prompt cache. Loads end with their turn all the same; what is
// still in view is loaded again without being sent again. The default clears at
// once. With processors.InSystem it changes nothing.
func WithCachePolicy(p loadmode.CachePolicy) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("%w: WithCachePolicy: %w", ErrOption, err)
		}
		s.policy = p
		return nil
	}
}

// outlive leaves in view, of the content whose turn is over, what does not pay to
// clear. next is the record with which the turn begins, rec the one before it.
func (r *Runtime) outlive(ctx context.Context, next, rec *session.Record, messages []core.Message) error {
	if r.policy == (loadmode.CachePolicy{}) || r.mode != loadmode.Turn || r.placement != processors.InToolResult || len(rec.Deliveries) == 0 {
		return nil
	}
	life := r.live.of(next.Key)
	content, err := life.shown(rec, r.texter(ctx, next.Key))
	if err != nil {
		return err
	}
	pieces, calls := processors.Pieces(messages, processors.State{Record: rec, Content: content, Delivers: r.delivers})
	kept := calls[:r.policy.Cut(pieces, life.idle())]
	loadmode.Outlive(next, rec.Deliveries, func(call int) bool { return slices.Contains(kept, call) })
	return nil
}

// idle is how long ago the last request was; 0 where that is not known, as after
// a restart.
func (l *life) idle() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sent.IsZero() {
		return 0
	}
	return time.Since(l.sent)
}
