package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
)

// streamFunc is a streaming function of langchaingo: it gets each chunk of a response.
type streamFunc = func(ctx context.Context, chunk []byte) error

// streamFuncs returns two functions, each nil if it is not needed. live is the streaming
// function for the client. whole streams a complete response if the client cannot stream. Calls
// that the client streams are added to streamed.
func (a *Adapter) streamFuncs(requested streamFunc, withTools bool, streamed *streamedCalls) (live streamFunc, streamWhole func(context.Context, *llms.ContentResponse) error) {
	fn := requested
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
			streamed.add(chunk)
			return nil
		}
		return fn(ctx, chunk)
	}, nil
}

// streamedCalls collects the calls of a streamed response from their deltas, because OpenAI's
// client misreads some of them. If the first delta of a call has arguments but no type, the
// client appends them to the call before, or drops them. It takes any other delta with a type
// for a new call.
type streamedCalls struct {
	isStreamed bool // the response is streamed
	calls      []*streamedCall
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
		if last < 0 || d.beginsCall(s.calls[last]) {
			s.calls = append(s.calls, &streamedCall{id: d.ID, name: d.Function.Name})
			last++
		}
		s.calls[last].args.add(d.Function.Arguments)
	}
}

// beginsCall reports whether a delta begins a call, rather than continuing the one before it.
// Some services repeat id and name in each delta. But none repeats them without arguments while
// the call has none yet, so such a delta begins another call.
func (d *callDelta) beginsCall(before *streamedCall) bool {
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

// restore returns resp with the calls as they were streamed, and reports whether its calls may
// still be fragments. It does not change resp.
func (s *streamedCalls) restore(resp *llms.ContentResponse) (_ *llms.ContentResponse, fragments bool) {
	if !s.isStreamed || resp == nil {
		return resp, false
	}
	if len(resp.Choices) != 1 || resp.Choices[0] == nil || len(s.calls) == 0 || s.size() < size(callsOf(resp.Choices[0])) {
		return resp, true
	}
	choice := *resp.Choices[0] // merge copies the calls that it changes
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

// size returns the length of the arguments of calls, in bytes.
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

// isCallDelta reports whether a chunk is one that OpenAI's client sends to the streaming
// function for calls: the JSON of a list of calls or of one deprecated call. Other text is not
// mistaken for one unless it equals the client's encoding byte for byte.
func isCallDelta(chunk []byte) bool {
	var encoded []byte
	switch {
	case bytes.HasPrefix(chunk, []byte(`[{`)):
		var deltas []callDelta
		if json.Unmarshal(chunk, &deltas) != nil {
			return false
		}
		encoded, _ = json.Marshal(deltas)
	case bytes.HasPrefix(chunk, []byte(`{"name":`)):
		var call llms.FunctionCall
		if json.Unmarshal(chunk, &call) != nil {
			return false
		}
		encoded, _ = json.Marshal(call)
	default:
		return false
	}
	return bytes.Equal(encoded, chunk)
}
