package satchel

import (
	"context"
	"strconv"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/hook"
)

// Hooks returns what an adapter needs of the runtime beside its public methods.
// A host needs it only for a loop of its own; see package hook.
func (r *Runtime) Hooks() hook.Runtime { return hooks{r} }

// hooks implements hook.Runtime.
type hooks struct{ runtime *Runtime }

func (h hooks) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	return h.runtime.Agent(key).observe(ctx, calls)
}

func (h hooks) Anonymous(agent string) core.SessionKey {
	id := anonymousPrefix + strconv.FormatInt(h.runtime.runs.Add(1), 10)
	return core.SessionKey{Session: id, Agent: agent, Anonymous: true}
}

func (h hooks) EndAnonymous(ctx context.Context, key core.SessionKey) error {
	return h.runtime.endSession(ctx, key, h.runtime.endings(ctx, key))
}

func (h hooks) Owns(name string) bool { return h.runtime.set.Has(name) }

func (h hooks) UnknownTool(name string) string { return h.runtime.unknownTool(name) }

func (h hooks) Emit(ctx context.Context, e core.Event) { h.runtime.tell.Emit(ctx, e) }

func (h hooks) WatchesPrefix() bool { return h.runtime.guarded }
