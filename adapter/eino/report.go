package eino

import (
	"context"
	"errors"
	"io"
	"strings"
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
// So handlers get the request that the model really gets, in a context with its session and
// agent. An adk agent then emits each assistant message only once.
func (m *viewModel) IsCallbacksEnabled() bool { return true }

// innerReports reports whether the wrapped model runs the callbacks itself.
func (m *viewModel) innerReports() bool { return components.IsCallbacksEnabled(m.inner) }

// reportStart runs the callbacks for the start of a call, and returns the context for the rest
// of it.
func (m *viewModel) reportStart(req *request) context.Context {
	if m.innerReports() {
		return req.ctx
	}
	return m.runStart(req.ctx, &model.CallbackInput{Messages: req.messages, Tools: req.tools})
}

func (m *viewModel) runStart(ctx context.Context, input *model.CallbackInput) context.Context {
	ctx = callbacks.EnsureRunInfo(ctx, m.GetType(), components.ComponentOfChatModel)
	return callbacks.OnStart(ctx, input)
}

// reportRefusal runs the callbacks for a call that fails before it reaches the wrapped model,
// and returns err. The wrapped model then cannot have run any.
func (m *viewModel) reportRefusal(ctx context.Context, input []*schema.Message, err error) error {
	callbacks.OnError(m.runStart(ctx, &model.CallbackInput{Messages: input}), err)
	return err
}

func (m *viewModel) reportError(ctx context.Context, err error) {
	if !m.innerReports() {
		callbacks.OnError(ctx, err)
	}
}

func (m *viewModel) reportEnd(ctx context.Context, out *schema.Message) {
	if !m.innerReports() {
		callbacks.OnEnd(ctx, &model.CallbackOutput{Message: out, TokenUsage: usageOf(out)})
	}
}

// reportStream runs the callbacks for a streamed response. Each handler gets a copy of the
// stream.
func (m *viewModel) reportStream(ctx context.Context, stream *schema.StreamReader[*schema.Message]) *schema.StreamReader[*schema.Message] {
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

// usageOf returns the token usage that a message reports, or nil.
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

// meter measures one call of a wrapped model and reports it to the runtime once. It also reports each
// request of the call, and its answer.
type meter struct {
	ctx        context.Context
	hooks      adapter.Runtime
	key        core.SessionKey
	started    time.Time
	usage      core.Usage
	isReported bool
	sent       sentRequest
	text       strings.Builder // of a streamed answer
}

type meteredKey struct{}

// newMeter starts to measure a call. Its context tells the handler of the same runtime not to
// report the call a second time.
func (m *viewModel) newMeter(ctx context.Context) *meter {
	return &meter{ctx: context.WithValue(ctx, meteredKey{}, m.adapter.hooks), hooks: m.adapter.hooks, key: keyIn(ctx), started: time.Now()}
}

// isMetered reports whether a wrapped model of the runtime reports the call of ctx.
func isMetered(ctx context.Context, hooks adapter.Runtime) bool {
	by, ok := ctx.Value(meteredKey{}).(adapter.Runtime)
	return ok && by == hooks
}

// setRequest sets the request that is measured, and marks its context as [viewModel.newMeter]
// does.
func (t *meter) setRequest(req *request) *request {
	req.ctx = context.WithValue(req.ctx, meteredKey{}, t.hooks)
	t.ctx, t.key = req.ctx, req.key
	return req
}

// add counts the usage that a message or a chunk reports. A provider may report usage in one
// chunk or cumulatively in several, so the largest counts are the right ones.
func (t *meter) add(message *schema.Message) {
	if u := usageOf(message); u != nil {
		t.usage = maxUsage(t.usage, coreUsage(&model.CallbackOutput{TokenUsage: u}))
	}
}

func (t *meter) reportCall() { t.report(core.Event{Kind: core.ModelCalled, Usage: t.usage}) }

// reportFailure reports err and returns it. A request without an answer ends with err too.
func (t *meter) reportFailure(err error) error {
	t.noteFailure(err)
	t.report(core.Event{Kind: core.ModelFailed, Detail: err.Error(), Err: err})
	return err
}

func (t *meter) report(e core.Event) {
	if t.isReported {
		return
	}
	t.isReported = true
	e.Key, e.Duration = t.key, time.Since(t.started)
	t.hooks.Emit(t.ctx, e)
}

func maxUsage(a, b core.Usage) core.Usage {
	return core.Usage{Prompt: max(a.Prompt, b.Prompt), Cached: max(a.Cached, b.Cached), Completion: max(a.Completion, b.Completion)}
}

// Handler returns a callback handler that reports to the runtime's event hook the calls that
// the adapter cannot see. A call of a model that the adapter does not wrap becomes
// core.ModelCalled, with the tokens that the provider counted and the duration until the last
// chunk. A failed one becomes core.ModelFailed with the error. A call of a host tool becomes
// core.ToolCalled with the answer and the duration.
//
// Calls of wrapped models and of the runtime's own tools are reported without the handler, and
// only once. One handler of any of their adapters serves all agents of a run that have the same
// runtime, sub-agents included. The event's key is that of the innermost agent with skills, and
// empty outside of any.
//
// A host passes it to a run of adk with callbacks.InitCallbacks(ctx, nil, handler), and to a
// run of react or a graph with compose.WithCallbacks. The handler reads its own copy of each
// stream to the end, in a goroutine that ends with the stream.
func (a *Adapter) Handler() callbacks.Handler {
	m, t := &modelReporter{a.hooks}, &toolReporter{a.hooks}
	return template.NewHandlerHelper().ChatModel(&template.ModelCallbackHandler{
		OnStart:               m.onStart,
		OnEnd:                 m.onEnd,
		OnEndWithStreamOutput: m.onStream,
		OnError:               m.onError,
	}).Tool(&template.ToolCallbackHandler{
		OnStart:               t.onStart,
		OnEnd:                 t.onEnd,
		OnEndWithStreamOutput: t.onStream,
	}).Handler()
}

// modelReporter reports the calls of models that are not wrapped.
type modelReporter struct{ hooks adapter.Runtime }

type startKey struct{}

func (h *modelReporter) onStart(ctx context.Context, _ *callbacks.RunInfo, _ *model.CallbackInput) context.Context {
	return context.WithValue(ctx, startKey{}, time.Now())
}

func (h *modelReporter) onEnd(ctx context.Context, _ *callbacks.RunInfo, out *model.CallbackOutput) context.Context {
	h.reportCall(ctx, coreUsage(out))
	return ctx
}

func (h *modelReporter) onStream(ctx context.Context, _ *callbacks.RunInfo, out *schema.StreamReader[*model.CallbackOutput]) context.Context {
	go func() {
		defer out.Close()
		usage, err := drain(out)
		if err != nil {
			h.reportFailure(ctx, err)
			return
		}
		h.reportCall(ctx, usage)
	}()
	return ctx
}

func (h *modelReporter) onError(ctx context.Context, _ *callbacks.RunInfo, err error) context.Context {
	h.reportFailure(ctx, err)
	return ctx
}

func (h *modelReporter) reportCall(ctx context.Context, usage core.Usage) {
	if isMetered(ctx, h.hooks) {
		return
	}
	h.hooks.Emit(ctx, core.Event{Kind: core.ModelCalled, Key: keyIn(ctx), Usage: usage, Duration: elapsed(ctx)})
}

func (h *modelReporter) reportFailure(ctx context.Context, err error) {
	if isMetered(ctx, h.hooks) {
		return
	}
	h.hooks.Emit(ctx, core.Event{Kind: core.ModelFailed, Key: keyIn(ctx), Detail: err.Error(), Err: err, Duration: elapsed(ctx)})
}

// keyIn returns the key of the innermost agent with skills in ctx, or zero.
func keyIn(ctx context.Context) core.SessionKey {
	key, _ := satchel.KeyFrom(ctx)
	return key
}

// elapsed returns the time since onStart, or 0.
func elapsed(ctx context.Context) time.Duration {
	start, ok := ctx.Value(startKey{}).(time.Time)
	if !ok {
		return 0
	}
	return time.Since(start)
}

// drain reads a streamed response to its end and returns its usage. The largest counts of the
// chunks are the right ones, as in [meter.add].
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
		total = maxUsage(total, coreUsage(chunk))
	}
}

// coreUsage returns the usage that an output reports, or zero.
func coreUsage(out *model.CallbackOutput) core.Usage {
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

// errModelPanic reports a panic in the wrapped model.
var errModelPanic = errors.New("model panicked")

// sentRequest is the request that a [meter] has reported last.
type sentRequest struct {
	id     uint64
	at     time.Time
	isOpen bool // its answer is not reported yet
}

// generate reports req and calls the wrapped model.
func (m *viewModel) generate(ctx context.Context, meter *meter, req *request) (out *schema.Message, err error) {
	meter.noteRequest(m, req)
	hasReturned := false
	defer func() { meter.noteReturn(hasReturned, err) }()
	out, err = req.model.Generate(ctx, req.messages, req.options...)
	hasReturned = true
	return out, err
}

// stream does the same as generate for a streamed response.
func (m *viewModel) stream(ctx context.Context, meter *meter, req *request) (out *schema.StreamReader[*schema.Message], err error) {
	meter.noteRequest(m, req)
	hasReturned := false
	defer func() { meter.noteReturn(hasReturned, err) }()
	out, err = req.model.Stream(ctx, req.messages, req.options...)
	hasReturned = true
	return out, err
}

// noteRequest reports req to the tracer, if there is one.
func (t *meter) noteRequest(m *viewModel, req *request) {
	t.sent = sentRequest{at: time.Now(), isOpen: true}
	if !t.hooks.Traces() {
		return
	}
	r := core.ModelRequest{
		Key:      req.key,
		Model:    m.modelName(req.options),
		Messages: coreMessages(req.messages, isNeverRewritten),
		Tools:    m.adapter.definitions(req.tools),
		Files:    sentFiles(req.messages),
	}
	if req.trace != nil {
		r.View = *req.trace
	}
	t.sent.id = t.hooks.TraceRequest(t.ctx, r)
}

// isNeverRewritten is a detector of rewritten messages that finds none.
func isNeverRewritten(*schema.Message) bool { return false }

// noteReturn reports the failure of a model that returned err or, if it has not returned, panicked.
func (t *meter) noteReturn(hasReturned bool, err error) {
	if !hasReturned {
		err = errModelPanic
	}
	if err != nil {
		t.noteFailure(err)
	}
}

// noteAnswer reports the answer to the request, unless it is reported already.
func (t *meter) noteAnswer(text string, calls []core.ToolCall) {
	t.closeRequest(core.ModelAnswer{Text: text, Calls: calls})
}

// noteFailure reports why the request has no answer, unless the answer is reported already.
func (t *meter) noteFailure(err error) { t.closeRequest(core.ModelAnswer{Err: err}) }

func (t *meter) closeRequest(a core.ModelAnswer) {
	if !t.sent.isOpen {
		return
	}
	t.sent.isOpen = false
	a.ID, a.Key, a.Usage, a.Duration = t.sent.id, t.key, t.usage, time.Since(t.sent.at)
	t.hooks.Answered(t.ctx, a)
}

// addContent adds the text of a chunk to the answer, and its calls to deltas.
func (t *meter) addContent(chunk *schema.Message, deltas []*schema.Message) []*schema.Message {
	t.text.WriteString(textOf(chunk))
	if len(chunk.ToolCalls) == 0 {
		return deltas
	}
	return append(deltas, &schema.Message{Role: schema.Assistant, ToolCalls: chunk.ToolCalls})
}

// reportPart reports a call whose reader has closed the stream before its end: the usage and the
// content that have arrived. Calls that cannot be joined are left out.
func (t *meter) reportPart(deltas []*schema.Message) {
	calls, err := concatCalls(deltas)
	if err != nil {
		calls = nil
	}
	t.noteAnswer(t.text.String(), calls)
	t.reportCall()
}

// modelName returns the name of the model that a call uses, or "" if it is not known.
func (m *viewModel) modelName(options []model.Option) string {
	if name := model.GetCommonOptions(nil, options...).Model; name != nil {
		return *name
	}
	if named, ok := m.inner.(interface{ ModelName() string }); ok {
		return named.ModelName()
	}
	return ""
}
