package langchaingo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

// Large arguments in one line of a stream are more than langchaingo's client reads: the
// error says what to do. Sent whole, they arrive.
func TestLongLinesOfStreams(t *testing.T) {
	arguments, err := json.Marshal(map[string]string{"skill": strings.Repeat("x", 100<<10)})
	if err != nil {
		t.Fatal(err)
	}
	call := map[string]any{"tool_calls": []any{map[string]any{
		"index": 0, "id": "c1", "type": "function", "function": map[string]any{"name": "skill_load", "arguments": string(arguments)},
	}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		message, event := "message", "%s"
		if sent.Stream {
			message, event = "delta", "data: %s\n\ndata: [DONE]\n\n"
			w.Header().Set("Content-Type", "text/event-stream")
		}
		text, err := json.Marshal(map[string]any{"choices": []any{map[string]any{message: call, "finish_reason": "tool_calls"}}})
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(w, event, text)
	}))
	defer server.Close()
	llm, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("t"), openai.WithModel("m"))
	if err != nil {
		t.Fatal(err)
	}
	kit, err := Install(runtime(t), llm, nil)
	if err != nil {
		t.Fatal(err)
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}
	stream := llms.WithStreamingFunc(func(context.Context, []byte) error { return nil })
	if _, err := kit.Model().GenerateContent(t.Context(), messages, stream); !errors.Is(err, ErrStreamLine) {
		t.Errorf("streamed: %v", err)
	}
	resp, err := kit.Model().GenerateContent(t.Context(), messages)
	if err != nil || len(resp.Choices) != 1 || len(resp.Choices[0].ToolCalls) != 1 || resp.Choices[0].ToolCalls[0].FunctionCall.Arguments != string(arguments) {
		t.Errorf("whole: %v", err)
	}
}
