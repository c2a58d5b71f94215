package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
)

type streamFunc = func(ctx context.Context, chunk []byte) error

// streaming returns the function that the client gets for this call, and one
// to call with the response when the client cannot stream it; either is nil
// when it is not needed. Calls that the client streams go to seen.
func (k *Kit) streaming(asked streamFunc, withTools bool, seen *streamedCalls) (live streamFunc, whole func(context.Context, *llms.ContentResponse) error) {
	fn := asked
	if fn == nil {
		fn = k.config.stream
	}
	if fn == nil {
		return nil, nil
	}
	if k.config.client == Bedrock && withTools {
		return nil, func(ctx context.Context, resp *llms.ContentResponse) error {
			if resp == nil || len(resp.Choices) == 0 || resp.Choices[0].Content == "" {
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

// streamedCalls are the calls of a streamed response as they came. The OpenAI
// client takes a call whose first delta has arguments but no type for the rest
// of the call before it, and drops it where there is none.
type streamedCalls struct{ calls []llms.ToolCall }

func (s *streamedCalls) add(chunk []byte) {
	var deltas []callDelta
	if json.Unmarshal(chunk, &deltas) != nil {
		return
	}
	for _, d := range deltas {
		last := len(s.calls) - 1
		if last < 0 || d.Function.Name != "" || d.ID != "" && d.ID != s.calls[last].ID {
			s.calls = append(s.calls, llms.ToolCall{ID: d.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: d.Function.Name}})
			last++
		}
		s.calls[last].FunctionCall.Arguments += d.Function.Arguments
	}
}

// restore gives resp the calls that the client has lost. The client's response
// is not changed.
func (s *streamedCalls) restore(resp *llms.ContentResponse) *llms.ContentResponse {
	if resp == nil || len(resp.Choices) != 1 || resp.Choices[0] == nil || len(s.calls) <= len(calls(resp.Choices[0])) {
		return resp
	}
	choice := *resp.Choices[0] // merged copies what it changes
	choice.ToolCalls = s.calls
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{&choice}}
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
