package satchel

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
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

// guard checks a view and reports its break.
func (r *Runtime) guard(ctx context.Context, req *core.Request, state *agentstate.State, view []core.Message, rec *session.Record) {
	found, broken := r.states.Watch(state).Check(view, rec, req.Definitions...)
	if !broken {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "the prefix of a request broke",
		slog.String("session", req.Key.Session), slog.String("agent", req.Key.Agent), slog.String("cause", string(found.Cause)),
		slog.String("block", found.Block()), slog.Int("tokens", found.Tokens))
	r.emit(ctx, core.Event{Kind: core.PrefixBroken, Key: req.Key, Detail: found.String()})
	for _, report := range r.onBreak {
		if report != nil {
			report(found)
		}
	}
}
