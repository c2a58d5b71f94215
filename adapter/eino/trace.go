package eino

import (
	"context"
	"errors"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

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
