package langchaingo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
)

// errModelPanic reports a panic in the host's model.
var errModelPanic = errors.New("model panicked")

// sentRequest is a request that the adapter has reported. It reports the answer once.
type sentRequest struct {
	hooks    adapter.Runtime
	ctx      context.Context
	key      core.SessionKey
	id       uint64
	usage    core.Usage
	duration time.Duration // of the call
	isOpen   bool          // the answer is not reported yet
}

// noteRequest reports a request to the tracer. r is nil without one.
func (a *Adapter) noteRequest(ctx context.Context, key core.SessionKey, r *core.ModelRequest) sentRequest {
	s := sentRequest{hooks: a.hooks, ctx: ctx, key: key, isOpen: true}
	if r != nil {
		r.Key = key
		s.id = a.hooks.TraceRequest(ctx, *r)
	}
	return s
}

// noteAnswer reports the answer to the request, unless one is reported already. Agents read the first choice, of
// which calls are the calls. The others are alternatives.
func (s *sentRequest) noteAnswer(resp *llms.ContentResponse, calls []core.ToolCall) {
	a := core.ModelAnswer{Calls: calls}
	for i, c := range resp.Choices {
		switch {
		case c == nil:
		case i == 0:
			a.Text = c.Content
		default:
			a.Alternatives = append(a.Alternatives, core.Message{Role: core.Assistant, Text: c.Content, Calls: withArguments(coreCalls(c))})
		}
	}
	s.close(a)
}

// noteFailure reports why the request has no answer, and returns err.
func (s *sentRequest) noteFailure(err error) error {
	s.close(core.ModelAnswer{Err: err})
	return err
}

func (s *sentRequest) close(a core.ModelAnswer) {
	if !s.isOpen {
		return
	}
	s.isOpen = false
	a.ID, a.Key, a.Usage, a.Duration = s.id, s.key, s.usage, s.duration
	s.hooks.Answered(s.ctx, a)
}

// noteAnswer reports the answer to the last prompt with the calls that the agent found in it, unless it is
// reported already.
func (v *textView) noteAnswer(calls []core.ToolCall) {
	if v.response != nil {
		v.sent.noteAnswer(v.response, calls)
		v.response = nil
	}
}

// withArguments returns calls with an empty object where the model sent no arguments, as the next request has it.
func withArguments(calls []core.ToolCall) []core.ToolCall {
	out := calls
	for i := range calls {
		if strings.TrimSpace(calls[i].Arguments) != "" {
			continue
		}
		if &out[0] == &calls[0] {
			out = slices.Clone(calls)
		}
		out[i].Arguments = "{}"
	}
	return out
}

// traceRequest describes a request for the tracer: the messages as they are sent, and the tools that the
// options of the call offer.
func (m *viewModel) traceRequest(sent []llms.MessageContent, callOptions *llms.CallOptions, view *core.View) *core.ModelRequest {
	options := *callOptions
	m.adapter.offer.rewrite(&options, view.NoSkills)
	r := &core.ModelRequest{Model: m.modelName(callOptions), Tools: definitionsOf(options.Tools)}
	r.Messages, r.Files = sentMessages(sent)
	if view.Trace != nil {
		r.View = *view.Trace
		r.View.Texts = placeTexts(view.Trace.Texts, view.Messages, r.Messages)
	}
	return r
}

// tracePrompt describes the request of an agent that works in text. It returns nil without a tracer.
func (m *viewModel) tracePrompt(v *textView, sent []llms.MessageContent, options []llms.CallOption) *core.ModelRequest {
	if !m.adapter.hooks.Traces() {
		return nil
	}
	var callOptions llms.CallOptions
	for _, option := range options {
		option(&callOptions)
	}
	r := &core.ModelRequest{Model: m.modelName(&callOptions), Tools: definitionsOf(callOptions.Tools)}
	r.Messages, r.Files = sentMessages(sent)
	if v.trace != nil {
		r.View = *v.trace
		r.View.Texts = placeTexts(v.trace.Texts, v.messages, r.Messages)
	}
	return r
}

// modelName returns the name of the model that a call uses, or "" if it is not known.
func (m *viewModel) modelName(callOptions *llms.CallOptions) string {
	if callOptions.Model != "" {
		return callOptions.Model
	}
	if named, ok := m.inner.(interface{ ModelName() string }); ok {
		return named.ModelName()
	}
	return ""
}

// sentMessages converts the messages of a request for the tracer, and lists their parts that are no text. Each
// result is a message of its own, also where the client takes all results of a response in one.
func sentMessages(sent []llms.MessageContent) ([]core.Message, []core.File) {
	split := make([]llms.MessageContent, 0, len(sent))
	for _, m := range sent {
		if m.Role == llms.ChatMessageTypeTool && len(m.Parts) > 1 {
			split = appendParts(split, m.Role, m.Parts)
			continue
		}
		split = append(split, m)
	}
	var files []core.File
	for i := range split {
		for _, part := range split[i].Parts {
			if f, ok := fileOf(part); ok {
				f.Origin, f.MIME = i, cmp.Or(f.MIME, "image/*") // a binary part has a type
				files = append(files, f)
			}
		}
	}
	return new(scratch).coreMessages(split), files
}

// placeTexts returns where the texts of a view stand in the messages that are sent. Clients get messages that
// are split, joined or moved, and agents that work in text get all of them in one prompt, in which lines may be
// quoted. A text that is not found is left out.
func placeTexts(texts []core.PlacedText, view, sent []core.Message) []core.PlacedText {
	placed := make([]core.PlacedText, 0, len(texts))
	var last core.PlacedText // texts are in order, and one may stand in a request twice
	for _, p := range texts {
		text := view[p.Message].Text[p.Start:p.End]
		if len(sent) == len(view) && p.End <= len(sent[p.Message].Text) && sent[p.Message].Text[p.Start:p.End] == text {
			placed, last = append(placed, p), p
			continue
		}
		if !find(&p, text, sent, last.Message, last.End) && !find(&p, quoteMarkers(text), sent, last.Message, last.End) &&
			!find(&p, text, sent, 0, 0) && !find(&p, quoteMarkers(text), sent, 0, 0) {
			continue
		}
		placed, last = append(placed, p), p
	}
	return placed
}

// find sets the place of p to that of text in the messages, at or after the place from in the message at. It
// reports whether it was found.
func find(p *core.PlacedText, text string, messages []core.Message, at, from int) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	for ; at < len(messages); at, from = at+1, 0 {
		if i := strings.Index(messages[at].Text[from:], text); i >= 0 {
			p.Message, p.Start = at, from+i
			p.End = p.Start + len(text)
			return true
		}
	}
	return false
}
