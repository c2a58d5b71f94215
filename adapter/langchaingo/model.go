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

// viewModel is the host's model with skills, from [Adapter.viewModel]. Each call sends
// what the view adds, on copies: messages, parts and options of the caller are
// never changed.
type viewModel struct {
	adapter *Adapter
	inner   llms.Model
}

var _ llms.ReasoningModel = (*viewModel)(nil)

// GenerateContent calls the host's model. The request carries the skills and Satchel's tools,
// in a form that every client and service accepts: functions are tools, arguments are JSON, and
// ids and names are set. The response has one choice with all text and all calls, unless the
// host asked for alternatives.
//
// Without a session in the context and outside of a decorated agent, each request stands alone.
// It shows the skills, but a later request does not see what the model loads.
func (m *viewModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	key, end := m.adapter.session(ctx)
	defer end()
	if marked, ok := satchel.KeyFrom(ctx); !ok || marked != key {
		ctx = adapter.WithKey(ctx, key)
	}
	r := m.adapter.runIn(ctx)
	if r != nil && r.text != nil {
		return m.prompt(ctx, r, messages, options)
	}

	var asked llms.CallOptions
	for _, option := range options {
		option(&asked)
	}
	req, err := m.request(ctx, key, r, messages, &asked)
	if err != nil {
		return nil, fmt.Errorf("prepare model call: %w", err)
	}

	var seen streamedCalls
	override, whole := m.adapter.override(&asked, req.noSkills, &seen)
	resp, err := m.call(ctx, key, req.messages, append(options[:len(options):len(options)], override))
	if err != nil {
		return nil, err
	}
	resp, fragments := seen.restore(resp)
	if isNothing(resp) {
		return nil, errNoResponse
	}
	resp = m.adapter.offer.merged(resp, asked.N > 1 || asked.CandidateCount > 1, req.responses, fragments)
	if err := m.adapter.observe(ctx, key, r, messages, resp); err != nil {
		return nil, err
	}
	if whole != nil {
		if err := whole(ctx, resp); err != nil {
			return nil, fmt.Errorf("stream response: %w", err)
		}
	}
	return resp, nil
}

// errNoResponse reports a response without text, calls and reason to stop.
// Clients of langchaingo return one, and no error, when the stream was no
// stream of theirs.
var errNoResponse = errors.New("the model's response is empty")

// errStreamLine reports a response with a line that langchaingo's client could not read,
// because it is longer than 64 KiB. Large arguments of a call must then come in pieces, in a
// response that is not streamed, or through [LongLines].
var errStreamLine = errors.New("a line of the stream is longer than the 64 KiB that langchaingo's client takes: call the model without streaming, with the transport of LongLines, or through a provider that sends arguments in pieces")

func isNothing(resp *llms.ContentResponse) bool {
	if resp == nil {
		return true
	}
	for _, c := range resp.Choices {
		if c != nil && (c.Content != "" || c.ReasoningContent != "" || c.StopReason != "" || len(calls(c)) > 0) {
			return false
		}
	}
	return true
}

// Call forwards to the host's model as it is: a call of text in and text out
// cannot carry the calls that skills need.
func (m *viewModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return m.inner.Call(ctx, prompt, options...)
}

// SupportsReasoning reports what the host's model does.
func (m *viewModel) SupportsReasoning() bool { return llms.SupportsReasoningModel(m.inner) }

// call times the client and reports usage. The context says that it is
// reported, so that a [reporter] in the client does not count it again.
func (m *viewModel) call(ctx context.Context, key core.SessionKey, msgs []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
	start := time.Now()
	resp, err := m.inner.GenerateContent(context.WithValue(ctx, reportedKey{}, true), msgs, options...)
	event := core.Event{Kind: core.ModelCalled, Key: key, Duration: time.Since(start)}
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("%w: %w", errStreamLine, err)
	}
	if err != nil {
		event.Kind, event.Detail, event.Err = core.ModelFailed, err.Error(), err
	} else {
		event.Usage = usageOf(resp)
	}
	m.adapter.hooks.Emit(ctx, event)
	return resp, err
}

// session returns the key of a model call. end closes a session that was
// opened for this call alone.
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

// override returns the last option of a call and the function that streams a whole response if
// the client cannot. The option edits the result of all options before it and of the client's
// own defaults.
func (a *Adapter) override(asked *llms.CallOptions, noSkills bool, seen *streamedCalls) (llms.CallOption, func(context.Context, *llms.ContentResponse) error) {
	withTools := false
	if a.config.client == bedrock {
		probe := *asked
		a.offer.rewrite(&probe, noSkills)
		withTools = len(probe.Tools) > 0
	}
	live, whole := a.streaming(asked.StreamingFunc, withTools, seen)
	seen.streams = live != nil
	return func(o *llms.CallOptions) {
		a.offer.rewrite(o, noSkills)
		o.StreamingFunc = live
	}, whole
}

// observe tells the runtime and the run about a complete response.
func (a *Adapter) observe(ctx context.Context, key core.SessionKey, r *run, messages []llms.MessageContent, resp *llms.ContentResponse) error {
	calls := observed(resp)
	if err := a.hooks.Observe(ctx, key, calls); err != nil {
		return fmt.Errorf("observe response: %w", err)
	}
	if r != nil {
		message := assistant
		if a.config.client == openAI {
			message = verbatim
		}
		a.runs.answer(r, question(messages), calls, message(resp.Choices[0]))
	}
	return nil
}

// assistant is a response as a message of the conversation, with arguments
// that every client can read.
func assistant(c *llms.ContentChoice) llms.MessageContent {
	m := verbatim(c)
	m.Parts, _ = repairedCalls(m.Parts, 0, nil)
	return m
}

// verbatim is assistant with the arguments as the model sent them, even if they are no JSON
// object. OpenAI's client passes them on as text, and the model should see what it did. Only
// missing arguments become an empty object.
func verbatim(c *llms.ContentChoice) llms.MessageContent {
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
