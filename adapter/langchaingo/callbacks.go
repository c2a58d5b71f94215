package langchaingo

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// reporter is a callbacks.reporter that reports model calls to the host's event
// hook, with usage and duration, and passes everything on to a handler of the
// host. Give it to a client (openai.WithCallback and the like). Calls
// through [Adapter.Model] are reported by the model itself and never twice, so the
// handler adds the calls that a host makes past it, such as summaries.
type reporter struct {
	callbacks.Handler // the host's, or one that does nothing
	adapter           *Adapter

	mu     sync.Mutex
	starts map[context.Context][]time.Time
}

// reportedKey marks the context of a model call that [viewModel] reports.
type reportedKey struct{}

// Handler returns a handler that reports to the adapter's runtime and passes on to
// next, which may be nil.
func (a *Adapter) Handler(next callbacks.Handler) callbacks.Handler {
	if next == nil {
		next = callbacks.SimpleHandler{}
	}
	return &reporter{Handler: next, adapter: a, starts: map[context.Context][]time.Time{}}
}

// HandleLLMGenerateContentStart notes the time. Clients pass one context to
// the start and the end of a call.
func (h *reporter) HandleLLMGenerateContentStart(ctx context.Context, ms []llms.MessageContent) {
	h.Handler.HandleLLMGenerateContentStart(ctx, ms)
	if reported(ctx) || !reflect.ValueOf(ctx).Comparable() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.starts) >= maxStarts {
		clear(h.starts)
	}
	if list := h.starts[ctx]; len(list) < maxStarts {
		h.starts[ctx] = append(list, time.Now())
	}
}

// HandleLLMGenerateContentEnd reports usage, and the duration if the start was
// seen.
func (h *reporter) HandleLLMGenerateContentEnd(ctx context.Context, res *llms.ContentResponse) {
	h.Handler.HandleLLMGenerateContentEnd(ctx, res)
	if res != nil { // one client ends every call twice, first without a response
		h.report(ctx, core.Event{Kind: core.ModelCalled, Usage: usageOf(res)})
	}
}

// HandleLLMError reports a failed call.
func (h *reporter) HandleLLMError(ctx context.Context, err error) {
	h.Handler.HandleLLMError(ctx, err)
	event := core.Event{Kind: core.ModelFailed}
	if err != nil {
		event.Detail, event.Err = err.Error(), err
	}
	h.report(ctx, event)
}

func (h *reporter) report(ctx context.Context, event core.Event) {
	if reported(ctx) {
		return
	}
	event.Duration = h.since(ctx)
	if key, ok := satchel.KeyFrom(ctx); ok {
		event.Key = key
	} else if key, ok := adapter.SessionOf(ctx, h.adapter.config.agent); ok {
		event.Key = key
	}
	h.adapter.hooks.Emit(ctx, event)
}

func (h *reporter) since(ctx context.Context) time.Duration {
	if !reflect.ValueOf(ctx).Comparable() {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.starts[ctx]
	if len(list) == 0 {
		return 0
	}
	if len(list) == 1 {
		delete(h.starts, ctx)
	} else {
		h.starts[ctx] = list[1:]
	}
	return time.Since(list[0])
}

func reported(ctx context.Context) bool { return ctx.Value(reportedKey{}) != nil }
