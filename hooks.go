package satchel

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Hooks returns what an adapter needs of the runtime beside its public methods.
// A host needs it only for a loop of its own; see package adapter.
func (r *Runtime) Hooks() adapter.Runtime { return hooks{r} }

// hooks implements adapter.Runtime.
type hooks struct{ runtime *Runtime }

func (h hooks) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(h.runtime.runs.Add(1), 10)
	return core.SessionKey{Session: id, Agent: agent, Anonymous: true}
}

func (h hooks) EndAnonymous(ctx context.Context, key core.SessionKey) error {
	return h.runtime.endSession(ctx, key)
}

func (h hooks) Owns(name string) bool { return h.runtime.calls.Offer.Set.Has(name) }

func (h hooks) UnknownTool(name string, host ...string) string {
	return h.runtime.calls.UnknownTool(adapter.WithHostTools(context.Background(), host), &state.Record{}, name)
}

func (h hooks) Emit(ctx context.Context, e core.Event) { h.runtime.calls.Report.Emit(ctx, e) }

func (h hooks) Logger() *slog.Logger { return h.runtime.logger }

func (h hooks) WatchesPrefix() bool { return h.runtime.guarded }

// Observe enters a complete response of the model into the record.
func (h hooks) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	if err := admit(key); err != nil {
		return err
	}
	return h.runtime.turns.Observe(ctx, key, calls)
}
