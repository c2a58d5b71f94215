package langchaingo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// viewModel is the host's model with skills, from [Adapter.Model]. It adds the view to copies:
// messages, parts and options of the caller never change.
type viewModel struct {
	adapter *Adapter
	inner   llms.Model
}

var _ llms.ReasoningModel = (*viewModel)(nil)

// GenerateContent calls the host's model. The request contains the skills and Satchel's tools,
// in a form that every client and service accepts: functions are tools, arguments are JSON, and
// ids and names are set. The response has one choice with all text and all calls, unless the
// host requested alternatives.
//
// Without a session in the context and outside of a decorated agent, each request has a session
// of its own. It shows the skills, but a later request does not contain what the model loads.
func (m *viewModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	key, end := m.adapter.session(ctx)
	defer end()
	if current, ok := satchel.KeyFrom(ctx); !ok || current != key {
		ctx = adapter.WithKey(ctx, key)
	}
	r := m.adapter.runIn(ctx)
	if r != nil && r.text != nil {
		return m.sendPrompt(ctx, r, messages, options)
	}

	var callOptions llms.CallOptions
	for _, option := range options {
		option(&callOptions)
	}
	req, err := m.newRequest(ctx, key, r, messages, &callOptions)
	if err != nil {
		return nil, fmt.Errorf("prepare model call: %w", err)
	}

	var streamed streamedCalls
	last, streamWhole := m.adapter.lastOption(&callOptions, req.noSkills, &streamed)
	sent := m.adapter.noteRequest(ctx, key, req.trace)
	resp, err := m.callModel(ctx, &sent, req.messages, append(options[:len(options):len(options)], last))
	if err != nil {
		return nil, err
	}
	resp, fragments := streamed.restore(resp)
	if isEmpty(resp) {
		return nil, sent.noteFailure(errNoResponse)
	}
	resp = m.adapter.offer.merge(resp, callOptions.N > 1 || callOptions.CandidateCount > 1, req.responses, fragments)
	calls := coreCalls(resp.Choices[0])
	sent.noteAnswer(resp, withArguments(calls))
	if err := m.adapter.observe(ctx, key, r, messages, resp, calls); err != nil {
		return nil, err
	}
	if streamWhole != nil {
		if err := streamWhole(ctx, resp); err != nil {
			return nil, fmt.Errorf("stream response: %w", err)
		}
	}
	return resp, nil
}

// errNoResponse reports a response without text, calls and stop reason. Clients of langchaingo
// return one without an error if the response was no stream that they can read.
var errNoResponse = errors.New("the model's response is empty")

// errStreamLine reports a response with a line longer than 64 KiB, which langchaingo's client
// cannot read. A call with large arguments needs a response that is not streamed, the transport
// of [LongLines], or a provider that streams arguments in pieces.
var errStreamLine = errors.New("a line of the stream is longer than the 64 KiB that langchaingo's client takes: call the model without streaming, with the transport of LongLines, or through a provider that sends arguments in pieces")

func isEmpty(resp *llms.ContentResponse) bool {
	if resp == nil {
		return true
	}
	for _, c := range resp.Choices {
		if c != nil && (c.Content != "" || c.ReasoningContent != "" || c.StopReason != "" || len(callsOf(c)) > 0) {
			return false
		}
	}
	return true
}

// Call passes the prompt to the host's model unchanged: a call with text in and text out cannot
// carry the calls that skills need.
func (m *viewModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return m.inner.Call(ctx, prompt, options...)
}

// SupportsReasoning reports whether the host's model supports reasoning.
func (m *viewModel) SupportsReasoning() bool { return llms.SupportsReasoningModel(m.inner) }

// callModel calls the client and reports usage and duration. The context says so, so that a
// [reporter] in the client does not report the call again. If the call fails, that is the answer to
// the request.
func (m *viewModel) callModel(ctx context.Context, sent *sentRequest, msgs []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	hasReturned := false
	defer func() {
		if !hasReturned {
			_ = sent.noteFailure(errModelPanic)
		}
	}()
	start := time.Now()
	resp, err := m.inner.GenerateContent(context.WithValue(ctx, reportedKey{}, true), msgs, options...)
	hasReturned = true
	event := core.Event{Kind: core.ModelCalled, Key: sent.key, Duration: time.Since(start)}
	sent.duration = event.Duration
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: %w", errStreamLine, err)
	}
	if err != nil {
		event.Kind, event.Detail, event.Err = core.ModelFailed, err.Error(), sent.noteFailure(err)
	} else {
		event.Usage = usageOf(resp)
		sent.usage = event.Usage
	}
	m.adapter.hooks.Emit(ctx, event)
	return resp, err
}

// session returns the key of a model call. end ends a session that was begun for this call
// alone.
func (a *Adapter) session(ctx context.Context) (_ core.SessionKey, end func()) {
	if r := a.runIn(ctx); r != nil {
		return r.key, func() {}
	}
	if key, ok := adapter.SessionOf(ctx, a.config.agent); ok {
		return adapter.Key(ctx, a, key), func() {}
	}
	key := a.hooks.Anonymous(a.config.agent)
	return key, func() { _ = a.hooks.EndAnonymous(context.WithoutCancel(ctx), key) }
}

// lastOption returns an option that overrides the ones before it and the client's own defaults.
// It sets the tools and the streaming function. streamWhole, if not nil, streams the response
// of a client that cannot stream it.
func (a *Adapter) lastOption(callOptions *llms.CallOptions, noSkills bool, streamed *streamedCalls) (llms.CallOption, func(context.Context, *llms.ContentResponse) error) {
	withTools := false
	if a.config.client == bedrock {
		probe := *callOptions
		a.offer.rewrite(&probe, noSkills)
		withTools = len(probe.Tools) > 0
	}
	live, streamWhole := a.streamFuncs(callOptions.StreamingFunc, withTools, streamed)
	streamed.isStreamed = live != nil
	return func(o *llms.CallOptions) {
		a.offer.rewrite(o, noSkills)
		o.StreamingFunc = live
	}, streamWhole
}

// observe records a complete response with its calls in the runtime and the run.
func (a *Adapter) observe(ctx context.Context, key core.SessionKey, r *run, messages []llms.MessageContent, resp *llms.ContentResponse, calls []core.ToolCall) error {
	if err := a.hooks.Observe(ctx, key, calls); err != nil {
		return fmt.Errorf("observe response: %w", err)
	}
	if r != nil {
		message := assistantMessage
		if a.config.client == openAI {
			message = verbatimMessage
		}
		a.runs.addResponse(r, lastQuestion(messages), calls, message(resp.Choices[0]))
	}
	return nil
}

// assistantMessage returns a response as a message of the conversation, with arguments that
// every client can read.
func assistantMessage(c *llms.ContentChoice) llms.MessageContent {
	m := verbatimMessage(c)
	m.Parts, _ = repairCalls(m.Parts, 0, nil)
	return m
}

// verbatimMessage does the same as assistantMessage, but keeps arguments that are no JSON
// object. OpenAI's client sends them as text, so the model sees what it wrote. Only missing
// arguments become an empty object.
func verbatimMessage(c *llms.ContentChoice) llms.MessageContent {
	parts := make([]llms.ContentPart, 0, len(c.ToolCalls)+1)
	if c.Content != "" {
		parts = append(parts, llms.TextContent{Text: c.Content})
	}
	for _, call := range c.ToolCalls {
		if call.FunctionCall != nil && strings.TrimSpace(call.FunctionCall.Arguments) == "" {
			call.FunctionCall = &llms.FunctionCall{Name: call.FunctionCall.Name, Arguments: "{}"}
		}
		parts = append(parts, call)
	}
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
}
