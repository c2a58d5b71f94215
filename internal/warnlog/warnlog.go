// Package warnlog has the default logger of components to which the host gives none.
package warnlog

import (
	"context"
	"log/slog"
)

// New returns a logger that passes warnings and errors to slog.Default, which it looks up for
// each record.
func New() *slog.Logger { return slog.New(handler{}) }

// handler passes records to slog's default handler. with applies the attributes and groups of
// WithAttrs and WithGroup to it.
type handler struct {
	with func(slog.Handler) slog.Handler
}

func (h handler) current() slog.Handler {
	if h.with == nil {
		return slog.Default().Handler()
	}
	return h.with(slog.Default().Handler())
}

// Enabled implements [slog.Handler].
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && slog.Default().Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h handler) Handle(ctx context.Context, r slog.Record) error { return h.current().Handle(ctx, r) }

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.then(func(next slog.Handler) slog.Handler { return next.WithAttrs(attrs) })
}

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(name string) slog.Handler {
	return h.then(func(next slog.Handler) slog.Handler { return next.WithGroup(name) })
}

func (h handler) then(step func(slog.Handler) slog.Handler) slog.Handler {
	if h.with == nil {
		return handler{step}
	}
	return handler{func(next slog.Handler) slog.Handler { return step(h.with(next)) }}
}
