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

// reporter is a callbacks.Handler that reports model calls to the host's event hook, with usage
// and duration. It passes every callback on to a handler of the host.
type reporter struct {
	callbacks.Handler // the host's handler, or one that does nothing
	adapter           *Adapter

	mu     sync.Mutex
	starts map[context.Context][]time.Time
}

// reportedKey marks the context of a model call that [viewModel] reports.
type reportedKey struct{}

// Handler returns a callback handler for a client of langchaingo (openai.WithCallback and the
// like). It reports model calls that bypass [Adapter.Model], such as summaries, to the
// runtime's event hook. Calls through the model are reported without it, and never twice. It
// passes every callback on to next, which may be nil.
func (a *Adapter) Handler(next callbacks.Handler) callbacks.Handler {
	if next == nil {
		next = callbacks.SimpleHandler{}
	}
	return &reporter{Handler: next, adapter: a, starts: map[context.Context][]time.Time{}}
}

// HandleLLMGenerateContentStart records the time. Clients pass the same context to the start
// and the end of a call.
func (h *reporter) HandleLLMGenerateContentStart(ctx context.Context, ms []llms.MessageContent) {
	h.Handler.HandleLLMGenerateContentStart(ctx, ms)
	if isReported(ctx) || !reflect.ValueOf(ctx).Comparable() {
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

// HandleLLMGenerateContentEnd reports usage, and the duration if the start was reported.
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
	if isReported(ctx) {
		return
	}
	event.Duration = h.elapsed(ctx)
	if key, ok := satchel.KeyFrom(ctx); ok {
		event.Key = key
	} else if key, ok := adapter.SessionOf(ctx, h.adapter.config.agent); ok {
		event.Key = key
	}
	h.adapter.hooks.Emit(ctx, event)
}

// elapsed returns the time since the start of the oldest open call under ctx, or 0.
func (h *reporter) elapsed(ctx context.Context) time.Duration {
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

func isReported(ctx context.Context) bool { return ctx.Value(reportedKey{}) != nil }
