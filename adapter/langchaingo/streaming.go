package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
)

type streamFunc = func(ctx context.Context, chunk []byte) error

// streaming returns the function that the client gets for this call, and one to call with the
// response if the client cannot stream it. Either is nil if it is not needed. Calls that the
// client streams go to seen.
func (a *Adapter) streaming(asked streamFunc, withTools bool, seen *streamedCalls) (live streamFunc, whole func(context.Context, *llms.ContentResponse) error) {
	fn := asked
	if fn == nil {
		fn = a.config.stream
	}
	if fn == nil {
		return nil, nil
	}
	if a.config.client == bedrock && withTools {
		return nil, func(ctx context.Context, resp *llms.ContentResponse) error {
			if resp.Choices[0].Content == "" {
				return nil
			}
			return fn(ctx, []byte(resp.Choices[0].Content))
		}
	}
	return func(ctx context.Context, chunk []byte) error {
		if len(chunk) == 0 || isCallDelta(chunk) {
			seen.add(chunk)
			return nil
		}
		return fn(ctx, chunk)
	}, nil
}

// streamedCalls are the calls of a streamed response as they came. OpenAI's client misreads a
// call whose first delta has arguments but no type: it appends them to the call before, or
// drops them if there is none. Any other delta with a type it takes for a new call.
type streamedCalls struct {
	streams bool // the call is streamed
	calls   []*streamedCall
}

type streamedCall struct {
	id, name string
	args     pieces
}

func (s *streamedCalls) add(chunk []byte) {
	var deltas []callDelta
	if json.Unmarshal(chunk, &deltas) != nil {
		return
	}
	for _, d := range deltas {
		last := len(s.calls) - 1
		if last < 0 || d.begins(s.calls[last]) {
			s.calls = append(s.calls, &streamedCall{id: d.ID, name: d.Function.Name})
			last++
		}
		s.calls[last].args.add(d.Function.Arguments)
	}
}

// begins reports a delta that is not the rest of the call before it. Some services
// repeat id and name in each delta, but none sends a delta of nothing else before
// the arguments have begun: that is the first of another call.
func (d *callDelta) begins(before *streamedCall) bool {
	switch {
	case d.ID != "" && d.ID != before.id:
		return true
	case d.Function.Name == "":
		return false
	case d.ID == "" || d.Function.Name != before.name || before.args.isJSON():
		return true
	}
	return before.args.text.Len() == 0 && d.Function.Arguments == ""
}

// restore gives resp the calls as they were streamed, and reports whether its
// calls may still be fragments. The client's response is not changed.
func (s *streamedCalls) restore(resp *llms.ContentResponse) (_ *llms.ContentResponse, fragments bool) {
	if !s.streams || resp == nil {
		return resp, false
	}
	if len(resp.Choices) != 1 || resp.Choices[0] == nil || len(s.calls) == 0 || s.size() < size(calls(resp.Choices[0])) {
		return resp, true
	}
	choice := *resp.Choices[0] // merged copies what it changes
	choice.ToolCalls = make([]llms.ToolCall, len(s.calls))
	for i, c := range s.calls {
		choice.ToolCalls[i] = llms.ToolCall{ID: c.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.name, Arguments: c.args.text.String()}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{&choice}}, false
}

func (s *streamedCalls) size() (n int) {
	for _, c := range s.calls {
		n += c.args.text.Len()
	}
	return n
}

// size is what calls say, in bytes.
func size(calls []llms.ToolCall) (n int) {
	for _, c := range calls {
		if c.FunctionCall != nil {
			n += len(c.FunctionCall.Arguments)
		}
	}
	return n
}

type callDelta struct {
	ID       string `json:"id,omitempty"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function,omitempty"`
}

// isCallDelta recognises what the OpenAI client sends to the streaming
// function for calls: the JSON of a list of calls, or of one deprecated call,
// encoded by its own types. Text passes unless it is, byte for byte, such an
// encoding.
func isCallDelta(chunk []byte) bool {
	var again []byte
	switch {
	case bytes.HasPrefix(chunk, []byte(`[{`)):
		var deltas []callDelta
		if json.Unmarshal(chunk, &deltas) != nil {
			return false
		}
		again, _ = json.Marshal(deltas)
	case bytes.HasPrefix(chunk, []byte(`{"name":`)):
		var call llms.FunctionCall
		if json.Unmarshal(chunk, &call) != nil {
			return false
		}
		again, _ = json.Marshal(call)
	default:
		return false
	}
	return bytes.Equal(again, chunk)
}
