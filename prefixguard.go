package satchel

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// WithPrefixGuard watches, for each agent of each session, whether a request
// begins with the one before it, as a provider's prompt cache needs it. A break
// is logged as a warning with its cause and the tokens that it costs, reported as
// core.PrefixBroken, and given to the functions, which run on the goroutine of the
// call; processors.FailTest is one for tests. processors.PrefixBreak says what the
// tokens are. The guard sees the messages, and the tools as far as the host gives
// them: the adapters do, those of an option of the call included. It holds the last
// request of each of the 1,000 agents that called last.
func WithPrefixGuard(onBreak ...func(processors.PrefixBreak)) Option {
	return func(s *settings) error {
		s.guarded = true
		s.onBreak = append(s.onBreak, onBreak...)
		return nil
	}
}

// WatchesPrefix reports whether the runtime has a prefix guard. A request of one that
// has none need not say how its tools are defined.
func (r *Runtime) WatchesPrefix() bool { return r.guarded }

// guard checks a view and reports its break.
func (r *Runtime) guard(ctx context.Context, req *core.Request, life *life, view []core.Message, rec *session.Record) {
	found, broken := r.live.watch(life).Check(view, rec, req.Definitions...)
	if !broken {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "the prefix of a request broke",
		slog.String("session", req.Key.Session), slog.String("agent", req.Key.Agent), slog.String("cause", string(found.Cause)),
		slog.String("block", found.Block()), slog.Int("tokens", found.Tokens))
	r.Emit(ctx, core.Event{Kind: core.PrefixBroken, Key: req.Key, Detail: found.String()})
	for _, report := range r.onBreak {
		if report != nil {
			report(found)
		}
	}
}

// maxWatched bounds the guards of a runtime: each holds a request.
const maxWatched = 1000

// watch returns the guard of a life. The longest unused goes where there are too
// many; it starts anew with the next request.
func (l *lives) watch(one *life) *processors.PrefixGuard {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.watched != nil {
		l.watched.MoveToFront(one.watched)
		return one.guard
	}
	one.guard, one.watched = new(processors.PrefixGuard), l.watched.PushFront(one)
	if l.watched.Len() > maxWatched {
		l.unwatch(l.watched.Back().Value.(*life))
	}
	return one.guard
}

// unwatch lets the guard of a life go. l.mu is held.
func (l *lives) unwatch(one *life) {
	if one.watched != nil {
		l.watched.Remove(one.watched)
		one.guard, one.watched = nil, nil
	}
}
