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
// when it is not needed.
func (k *Kit) streaming(asked streamFunc, withTools bool) (live streamFunc, whole func(context.Context, *llms.ContentResponse) error) {
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
			return nil
		}
		return fn(ctx, chunk)
	}, nil
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
