package eino

import (
	"context"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// IsCallbacksEnabled reports that Eino must not run its callbacks around the wrapper. They
// still run once per call: the wrapped model runs them if it can, otherwise the wrapper does.
// So handlers get the request that is really sent, in a context with its session and agent. An
// adk agent emits each assistant message once.
func (m *Model) IsCallbacksEnabled() bool { return true }

func (m *Model) innerReports() bool { return components.IsCallbacksEnabled(m.inner) }

// begin reports the start of a call and returns the context for the rest of it.
func (m *Model) begin(req *request) context.Context {
	if m.innerReports() {
		return req.ctx
	}
	return m.start(req.ctx, &model.CallbackInput{Messages: req.messages, Tools: req.tools})
}

func (m *Model) start(ctx context.Context, input *model.CallbackInput) context.Context {
	ctx = callbacks.EnsureRunInfo(ctx, m.GetType(), components.ComponentOfChatModel)
	return callbacks.OnStart(ctx, input)
}

// refuse reports a call that never reached the wrapped model, of which that
// model can therefore not have reported anything.
func (m *Model) refuse(ctx context.Context, input []*schema.Message, err error) error {
	callbacks.OnError(m.start(ctx, &model.CallbackInput{Messages: input}), err)
	return err
}

func (m *Model) fail(ctx context.Context, err error) {
	if !m.innerReports() {
		callbacks.OnError(ctx, err)
	}
}

func (m *Model) end(ctx context.Context, out *schema.Message) {
	if !m.innerReports() {
		callbacks.OnEnd(ctx, &model.CallbackOutput{Message: out, TokenUsage: usageOf(out)})
	}
}

// endStream gives each handler its copy of the response's stream.
func (m *Model) endStream(ctx context.Context, stream *schema.StreamReader[*schema.Message]) *schema.StreamReader[*schema.Message] {
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
