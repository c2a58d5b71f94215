package eino

import (
	"context"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// meter reports one call of a wrapped model to its runtime, once.
type meter struct {
	ctx     context.Context
	hooks   adapter.Runtime
	key     core.SessionKey
	started time.Time
	usage   core.Usage
	told    bool
}

type meteredKey struct{}

// meter begins to measure. The context says so to the handler of the same runtime,
// which would report the call a second time.
func (m *Model) meter(ctx context.Context) *meter {
	return &meter{ctx: context.WithValue(ctx, meteredKey{}, m.adapter.hooks), hooks: m.adapter.hooks, key: keyIn(ctx), started: time.Now()}
}

// isMetered reports whether a wrapped model of the runtime reports the call of ctx.
func isMetered(ctx context.Context, hooks adapter.Runtime) bool {
	by, ok := ctx.Value(meteredKey{}).(adapter.Runtime)
	return ok && by == hooks
}

// of says whose call it is, and marks the request's context.
func (t *meter) of(req *request) *request {
	req.ctx = context.WithValue(req.ctx, meteredKey{}, t.hooks)
	t.ctx, t.key = req.ctx, req.key
	return req
}

// add counts what a message, or a chunk of one, reports. Providers report usage in one
// chunk or cumulatively in several, so the largest counts stand.
func (t *meter) add(message *schema.Message) {
	if u := usageOf(message); u != nil {
		t.usage = larger(t.usage, usageEvent(&model.CallbackOutput{TokenUsage: u}))
	}
}

func (t *meter) called() { t.tell(core.Event{Kind: core.ModelCalled, Usage: t.usage}) }

// failed returns the error that it reports.
func (t *meter) failed(err error) error {
	t.tell(core.Event{Kind: core.ModelFailed, Detail: err.Error(), Err: err})
	return err
}

func (t *meter) tell(e core.Event) {
	if t.told {
		return
	}
	t.told = true
	e.Key, e.Duration = t.key, time.Since(t.started)
	t.hooks.Emit(t.ctx, e)
}

func larger(a, b core.Usage) core.Usage {
	return core.Usage{Prompt: max(a.Prompt, b.Prompt), Cached: max(a.Cached, b.Cached), Completion: max(a.Completion, b.Completion)}
}
