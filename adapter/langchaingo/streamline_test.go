package langchaingo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/satchel-go/satchel"
)

// Large arguments in one line of a stream are too long for langchaingo's client: the error says
// what to do. They arrive in a response that is not streamed, and through LongLines.
func TestLongLinesOfStreams(t *testing.T) {
	var calls []any
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			t.Error(err)
		}
		message, event := "message", "%s"
		w.Header().Set("Content-Type", "application/json")
		if sent.Stream {
			message, event = "delta", ": begins\n\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"I \"}}]}\n\ndata: %s\n\ndata: [DONE]\n\n"
			w.Header().Set("Content-Type", "text/event-stream")
		}
		text, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
			message: map[string]any{"content": "call", "tool_calls": calls}, "finish_reason": "tool_calls",
		}}, "usage": map[string]any{"prompt_tokens": 7}})
		if err != nil {
			t.Error(err)
		}
		_, _ = fmt.Fprintf(w, event, text)
	}))
	defer server.Close()
	connect := func(client *http.Client) *Adapter {
		llm, err := openai.New(openai.WithBaseURL(server.URL), openai.WithToken("t"), openai.WithModel("m"), openai.WithHTTPClient(client))
		if err != nil {
			t.Fatal(err)
		}
		adapter, err := Install(runtime(t), llm, nil)
		if err != nil {
			t.Fatal(err)
		}
		return adapter
	}
	short, cut := connect(http.DefaultClient), connect(&http.Client{Transport: LongLines(nil)})
	ctx := satchel.WithSession(t.Context(), "s")
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}
	var told strings.Builder
	stream := llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		told.Write(chunk)
		return nil
	})
	for _, size := range []int{100, 70 << 10, 5 << 18} {
		arguments, err := json.Marshal(map[string]string{"skill": strings.Repeat("\"ä\n", size/4)})
		if err != nil {
			t.Fatal(err)
		}
		calls = nil
		for i, text := range []string{`{"skill":"pdf"}`, string(arguments), "{}"} {
			calls = append(calls, map[string]any{
				"index": i, "id": fmt.Sprint("c", i), "type": "function", "function": map[string]any{"name": "skill_load", "arguments": text},
			})
		}
		if _, err := short.Model().GenerateContent(ctx, messages, stream); errors.Is(err, errStreamLine) != (size > 100) {
			t.Errorf("%d bytes, streamed: %v", size, err)
		}
		whole, err := cut.Model().GenerateContent(ctx, messages)
		if err != nil {
			t.Fatal(err)
		}
		told.Reset()
		resp, err := cut.Model().GenerateContent(ctx, messages, stream)
		if err != nil {
			t.Fatalf("%d bytes, cut: %v", size, err)
		}
		if !reflect.DeepEqual(resp.Choices[0].ToolCalls, whole.Choices[0].ToolCalls) || len(resp.Choices[0].ToolCalls) != 3 {
			t.Errorf("%d bytes: the calls are not those that were sent", size)
		}
		if resp.Choices[0].Content != "I call" || told.String() != "I call" && size > 100 || resp.Choices[0].StopReason != "tool_calls" || resp.Choices[0].GenerationInfo["PromptTokens"] != 7 {
			t.Errorf("%d bytes: told %q, and the rest is %q %q %v", size, told.String(), resp.Choices[0].Content, resp.Choices[0].StopReason, resp.Choices[0].GenerationInfo)
		}
		call := resp.Choices[0].ToolCalls[1]
		answer, err := cut.Call(ctx, call)
		if err != nil || !strings.Contains(answer.Content, "error") || len(answer.Content) > 64<<10 {
			t.Errorf("%d bytes: answer %.200q, %v", size, answer.Content, err)
		}
	}
}

// exchange is a transport that answers with a stream.
type exchange []byte

func (e exchange) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(e))}, nil
}

// shortLines is LongLines for a client that takes much shorter lines.
type shortLines struct {
	next    http.RoundTripper
	longest int
}

func (s shortLines) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(req)
	resp.Body = newCutBody(resp.Body, s.longest)
	return resp, err
}

// What the client reads from a line that was cut is what it reads from the line.
func FuzzLongLines(f *testing.F) {
	for _, line := range []string{
		`{"choices":[{"delta":{"content":"aä𝄞\u2028<&\u0000\ud800 and more of it","reasoning_content":"thinks"},"finish_reason":"stop"}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"skill\":\"pdf\"}","name":"skill_load"},"id":"c1","index":0,"type":"function"},{"index":1,"id":"c2","type":"function","function":{"name":"b","arguments":""}}]}}],"usage":{"prompt_tokens":5}}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":" rest of it, which is long enough"}}]}},{"delta":{"content":"another"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"id":7,"type":"function","function":{"name":"x","arguments":{"a":1}}}],"content":null}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"length"}]}`, `{"choices":[]}`, `[1]`, ` [DONE]`, "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}",
	} {
		f.Add(line, 200)
	}
	f.Fuzz(func(t *testing.T, line string, longest int) {
		if longest < 16 || longest > 1000 || len(line) > 1000 || strings.ContainsAny(line, "\r\n") || strings.Contains(line, "null") {
			t.Skip("not one short line, or null: the client panics at a call that is null")
		}
		var readable struct {
			ID, Model, Object string
			Created           float64
			Choices           []struct {
				Index        float64
				FinishReason string `json:"finish_reason"`
				Delta        struct {
					Role, Content    string
					ReasoningContent string `json:"reasoning_content"`
					FunctionCall     any    `json:"function_call"`
					ToolCalls        []struct {
						ID, Type string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if json.Unmarshal([]byte(line), &readable) != nil || len(readable.Choices) > 0 && readable.Choices[0].Delta.FunctionCall != nil {
			t.Skip("the client skips a line in which a field has the wrong type, and loses calls of functions")
		}
		stream := "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"c0\",\"type\":\"function\",\"function\":{\"name\":\"a\"}}]}}]}\n\ndata:" + line + "\n\ndata: [DONE]\n\n"
		read := func(next http.RoundTripper) *llms.ContentResponse {
			llm, err := openai.New(openai.WithToken("t"), openai.WithHTTPClient(&http.Client{Transport: next}))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := llm.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")},
				llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
			if err != nil {
				t.Fatal(err)
			}
			return resp
		}
		want, got := read(exchange(stream)), read(shortLines{exchange(stream), longest})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read is %+v with %+v\nand of the line that was cut %+v with %+v", *want.Choices[0], want.Choices[0].ToolCalls, *got.Choices[0], got.Choices[0].ToolCalls)
		}
	})
}
