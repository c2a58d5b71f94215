package eino

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	template "github.com/cloudwego/eino/utils/callbacks"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// NewHandler returns a callback handler that reports to the runtime's event hook what the
// adapter cannot see. For models that it does not wrap, it reports core.ModelCalled with the
// duration, to the last chunk of a stream. The event has the tokens that the provider counted,
// zero if it did not. A failed call is core.ModelFailed with the error. A call of a host tool
// is core.ToolCalled with the answer and the duration.
//
// Calls of wrapped models and of the runtime's own tools are reported without the handler, and
// only once. One handler serves all agents of a run, sub-agents included. The event's key is
// that of the innermost agent with skills, and empty outside of any.
//
// Give it to a run of adk with callbacks.InitCallbacks(ctx, nil, handler), and to one of react
// or a graph with compose.WithCallbacks. The handler reads its own copy of each stream to the
// end, in a goroutine that ends with the stream.
func NewHandler(rt *satchel.Runtime) callbacks.Handler {
	m, t := &modelReporter{rt.Hooks()}, &toolReporter{rt.Hooks()}
	return template.NewHandlerHelper().ChatModel(&template.ModelCallbackHandler{
		OnStart:               m.started,
		OnEnd:                 m.ended,
		OnEndWithStreamOutput: m.streamed,
		OnError:               m.failed,
	}).Tool(&template.ToolCallbackHandler{
		OnStart:               t.started,
		OnEnd:                 t.ended,
		OnEndWithStreamOutput: t.streamed,
	}).Handler()
}

type modelReporter struct{ hooks adapter.Runtime }

type startKey struct{}

func (h *modelReporter) started(ctx context.Context, _ *callbacks.RunInfo, _ *model.CallbackInput) context.Context {
	return context.WithValue(ctx, startKey{}, time.Now())
}

func (h *modelReporter) ended(ctx context.Context, _ *callbacks.RunInfo, out *model.CallbackOutput) context.Context {
	h.called(ctx, usageEvent(out))
	return ctx
}

func (h *modelReporter) streamed(ctx context.Context, _ *callbacks.RunInfo, out *schema.StreamReader[*model.CallbackOutput]) context.Context {
	go func() {
		defer out.Close()
		usage, err := drain(out)
		if err != nil {
			h.broke(ctx, err)
			return
		}
		h.called(ctx, usage)
	}()
	return ctx
}

func (h *modelReporter) failed(ctx context.Context, _ *callbacks.RunInfo, err error) context.Context {
	h.broke(ctx, err)
	return ctx
}

func (h *modelReporter) called(ctx context.Context, usage core.Usage) {
	if isMetered(ctx, h.hooks) {
		return
	}
	h.hooks.Emit(ctx, core.Event{Kind: core.ModelCalled, Key: keyIn(ctx), Usage: usage, Duration: elapsed(ctx)})
}

func (h *modelReporter) broke(ctx context.Context, err error) {
	if isMetered(ctx, h.hooks) {
		return
	}
	h.hooks.Emit(ctx, core.Event{Kind: core.ModelFailed, Key: keyIn(ctx), Detail: err.Error(), Err: err, Duration: elapsed(ctx)})
}

func keyIn(ctx context.Context) core.SessionKey {
	key, _ := satchel.KeyFrom(ctx)
	return key
}

func elapsed(ctx context.Context) time.Duration {
	start, ok := ctx.Value(startKey{}).(time.Time)
	if !ok {
		return 0
	}
	return time.Since(start)
}

// drain reads a response to its end. Providers report usage in one chunk or
// cumulatively in several, so the largest counts stand, as in Eino's own concat.
func drain(out *schema.StreamReader[*model.CallbackOutput]) (core.Usage, error) {
	var total core.Usage
	for {
		chunk, err := out.Recv()
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		total = larger(total, usageEvent(chunk))
	}
}

func usageEvent(out *model.CallbackOutput) core.Usage {
	if out == nil {
		return core.Usage{}
	}
	u := out.TokenUsage
	if u == nil {
		u = usageOf(out.Message)
	}
	if u == nil {
		return core.Usage{}
	}
	return core.Usage{Prompt: u.PromptTokens, Cached: u.PromptTokenDetails.CachedTokens, Completion: u.CompletionTokens}
}
