package eino

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	template "github.com/cloudwego/eino/utils/callbacks"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// IsCallbacksEnabled reports that Eino must not run its callbacks around the wrapper. They
// still run once per call: the wrapped model runs them if it can, otherwise the wrapper does.
// So handlers get the request that is really sent, in a context with its session and agent. An
// adk agent emits each assistant message once.
func (m *viewModel) IsCallbacksEnabled() bool { return true }

func (m *viewModel) innerReports() bool { return components.IsCallbacksEnabled(m.inner) }

// begin reports the start of a call and returns the context for the rest of it.
func (m *viewModel) begin(req *request) context.Context {
	if m.innerReports() {
		return req.ctx
	}
	return m.start(req.ctx, &model.CallbackInput{Messages: req.messages, Tools: req.tools})
}

func (m *viewModel) start(ctx context.Context, input *model.CallbackInput) context.Context {
	ctx = callbacks.EnsureRunInfo(ctx, m.GetType(), components.ComponentOfChatModel)
	return callbacks.OnStart(ctx, input)
}

// refuse reports a call that never reached the wrapped model, of which that
// model can therefore not have reported anything.
func (m *viewModel) refuse(ctx context.Context, input []*schema.Message, err error) error {
	callbacks.OnError(m.start(ctx, &model.CallbackInput{Messages: input}), err)
	return err
}

func (m *viewModel) fail(ctx context.Context, err error) {
	if !m.innerReports() {
		callbacks.OnError(ctx, err)
	}
}

func (m *viewModel) end(ctx context.Context, out *schema.Message) {
	if !m.innerReports() {
		callbacks.OnEnd(ctx, &model.CallbackOutput{Message: out, TokenUsage: usageOf(out)})
	}
}

// endStream gives each handler its copy of the response's stream.
func (m *viewModel) endStream(ctx context.Context, stream *schema.StreamReader[*schema.Message]) *schema.StreamReader[*schema.Message] {
	if m.innerReports() {
		return stream
	}
	_, outputs := callbacks.OnEndWithStreamOutput(ctx, schema.StreamReaderWithConvert(stream,
		func(chunk *schema.Message) (*model.CallbackOutput, error) {
			return &model.CallbackOutput{Message: chunk, TokenUsage: usageOf(chunk)}, nil
		}))
	return schema.StreamReaderWithConvert(outputs, func(o *model.CallbackOutput) (*schema.Message, error) {
		return o.Message, nil
	})
}

// usageOf returns the token usage that a message reports, nil if it reports none.
func usageOf(m *schema.Message) *model.TokenUsage {
	if m == nil || m.ResponseMeta == nil || m.ResponseMeta.Usage == nil {
		return nil
	}
	u := m.ResponseMeta.Usage
	return &model.TokenUsage{
		PromptTokens:            u.PromptTokens,
		PromptTokenDetails:      model.PromptTokenDetails(u.PromptTokenDetails),
		CompletionTokens:        u.CompletionTokens,
		TotalTokens:             u.TotalTokens,
		CompletionTokensDetails: model.CompletionTokensDetails{ReasoningTokens: u.CompletionTokensDetails.ReasoningTokens},
	}
}

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
func (m *viewModel) meter(ctx context.Context) *meter {
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

// Handler returns a callback handler that reports to the runtime's event hook what the
// adapter cannot see. For models that it does not wrap, it reports core.ModelCalled with the
// duration, to the last chunk of a stream. The event has the tokens that the provider counted,
// zero if it did not. A failed call is core.ModelFailed with the error. A call of a host tool
// is core.ToolCalled with the answer and the duration.
//
// Calls of wrapped models and of the runtime's own tools are reported without the handler, and
// only once. One handler serves all agents of a run, sub-agents included: that of any of
// their adapters, if they have one runtime. The event's key is
// that of the innermost agent with skills, and empty outside of any.
//
// Give it to a run of adk with callbacks.InitCallbacks(ctx, nil, handler), and to one of react
// or a graph with compose.WithCallbacks. The handler reads its own copy of each stream to the
// end, in a goroutine that ends with the stream.
func (a *Adapter) Handler() callbacks.Handler {
	m, t := &modelReporter{a.hooks}, &toolReporter{a.hooks}
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
