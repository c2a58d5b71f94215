package langchaingo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// service is an HTTP server with scripted bodies.
type service struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func serve(t *testing.T, contentType string, bodies ...string) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.requests)
		s.requests = append(s.requests, string(body))
		if n >= len(bodies) {
			http.Error(w, `{"error":{"message":"no more"}}`, http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, bodies[n])
	}))
	t.Cleanup(s.Close)
	return s
}

// wire is what both services have in common.
type wire struct {
	System   string            `json:"system"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Choice   any               `json:"tool_choice"`
	Stream   bool              `json:"stream"`
}

func (s *service) wire(t *testing.T, n int) wire {
	t.Helper()
	var w wire
	if err := json.Unmarshal([]byte(s.requests[n]), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w wire) lines() []string {
	var out []string
	for _, m := range w.Messages {
		text := string(m)
		if i := strings.Index(text, `\n\n\u003cavailable_skills`); i >= 0 {
			text = text[:i] + "…"
		}
		if i := strings.Index(text, `\n[skill#`); i >= 0 {
			text = text[:i] + "…"
		}
		out = append(out, text)
	}
	return out
}

var openAIReplies = []string{
	`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":"one moment","tool_calls":[
	  {"id":"c1","type":"function","function":{"name":"skill_load","arguments":"{\"skill\":\"pdf\"}"}},
	  {"id":"c2","type":"function","function":{"name":"a","arguments":"{\"__arg1\":\"x\"}"}}]}}],
	  "usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":64}}}`,
	`{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"done"}}],"usage":{"prompt_tokens":120,"completion_tokens":1,"total_tokens":121}}`,
}

func sse(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
}

func delta(d string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":%s}]}`, d)
}

var openAIStreams = []string{
	sse(
		delta(`{"role":"assistant","content":"one "}`), delta(`{"content":"moment"}`),
		delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"skill_load","arguments":""}}]}`),
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"skill\":"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"\"pdf\"}"}}]}`),
		delta(`{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"a","arguments":"{\"__arg1\":\"x\"}"}}]}`),
		`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":107,"prompt_tokens_details":{"cached_tokens":64}}}`,
	),
	sse(delta(`{"content":"[{\"not\": \"a call\"}] "}`), delta(`{"content":"done"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`),
}

func TestOpenAIClient(t *testing.T) {
	wantLast := []string{
		`{"role":"system","content":"Be {{kind}}.…`,
		`{"role":"user","content":"q"}`,
		`{"role":"assistant","content":"one moment","tool_calls":[{"id":"c1","type":"function","function":{"name":"skill_load","arguments":"{\"skill\":\"pdf\"}"}},` +
			`{"id":"c2","type":"function","function":{"name":"a","arguments":"{\"__arg1\":\"x\"}"}}]}`,
		`{"role":"tool","content":"loaded: pdf…`,
		`{"role":"tool","content":"a got x","tool_call_id":"c2"}`,
	}
	for _, tt := range []struct {
		name, contentType string
		bodies            []string
		stream            bool
		answer            string
	}{
		{"whole", "application/json", openAIReplies, false, "done"},
		{"streamed", "text/event-stream", openAIStreams, true, `[{"not": "a call"}] done`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.contentType, tt.bodies...)
			llm, err := openai.New(openai.WithBaseURL(s.URL), openai.WithToken("t"), openai.WithModel("gpt-4o"))
			if err != nil {
				t.Fatal(err)
			}
			var heard strings.Builder
			opts := []Option{WithSystem("Be {{kind}}.")}
			if tt.stream {
				opts = append(opts, WithStreaming(func(_ context.Context, chunk []byte) error {
					heard.WriteString("|")
					heard.Write(chunk)
					return nil
				}))
			}
			var usage []core.Usage
			rt := runtime(t, satchel.WithEvents(func(_ context.Context, e core.Event) {
				if e.Kind == core.ModelCalled {
					usage = append(usage, e.Usage)
				}
			}))
			adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "a"}}, opts...)
			answer, err := chains.Run(t.Context(), executor(adapter), "q")
			if err != nil || answer != tt.answer {
				t.Fatalf("Run = %q, %v", answer, err)
			}
			last := s.wire(t, 1)
			if diff := differ(wantLast, last.lines()); diff != "" {
				t.Errorf("last request (-want +got):\n%s", diff)
			}
			if !strings.Contains(s.requests[1], "PDF BODY {{ .x }} {y}") || last.Stream != tt.stream {
				t.Errorf("stream %v, request:\n%s", last.Stream, s.requests[1])
			}
			if first := s.wire(t, 0); string(first.Tools) != string(last.Tools) || strings.Count(string(last.Tools), `"type":"function"`) != 1+len(rt.Tools()) || last.Choice != nil {
				t.Errorf("tools:\n%s\n%s", first.Tools, last.Tools)
			}
			if want := "|one |moment|[{\"not\": \"a call\"}] |done"; tt.stream && heard.String() != want {
				t.Errorf("heard %q, want %q", heard.String(), want)
			}
			if len(usage) != 2 || usage[0] != (core.Usage{Prompt: 100, Cached: 64, Completion: 7}) {
				t.Errorf("usage = %v", usage)
			}
		})
	}
}

func TestAnthropicClient(t *testing.T) {
	s := serve(t, "application/json",
		`{"id":"m","type":"message","role":"assistant","model":"c","stop_reason":"tool_use","content":[
		  {"type":"text","text":"one moment"},
		  {"type":"tool_use","id":"c1","name":"skill_load","input":{"skill":"pdf"}},
		  {"type":"tool_use","id":"c2","name":"a","input":{"__arg1":"x"}}],
		  "usage":{"input_tokens":10,"output_tokens":7,"cache_read_input_tokens":80,"cache_creation_input_tokens":10}}`,
		`{"id":"m","type":"message","role":"assistant","model":"c","stop_reason":"end_turn","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
	)
	llm, err := anthropic.New(anthropic.WithBaseURL(s.URL), anthropic.WithToken("t"), anthropic.WithModel("c"))
	if err != nil {
		t.Fatal(err)
	}
	var usage []core.Usage
	rt := runtime(t, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.ModelCalled {
			usage = append(usage, e.Usage)
		}
	}))
	adapter := install(t, rt, llm, []tools.Tool{hostTool{name: "a"}}, WithSystem("Be kind."))
	answer, err := chains.Run(t.Context(), executor(adapter), "q")
	if err != nil || answer != "done" {
		t.Fatalf("Run = %q, %v", answer, err)
	}
	last := s.wire(t, 1)
	want := []string{
		`{"role":"user","content":[{"type":"text","text":"q"}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"one moment"}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"skill_load","input":{"skill":"pdf"}}]}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"a","input":{"__arg1":"x"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"loaded: pdf…`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"a got x"}]}`,
	}
	if diff := differ(want, last.lines()); diff != "" {
		t.Errorf("last request (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(last.System, "Be kind.") || !strings.Contains(last.System, "<available_skills>") {
		t.Errorf("system = %q", last.System)
	}
	if !strings.Contains(string(last.Tools), `"input_schema":{`) || !strings.Contains(string(last.Tools), `"skill_load"`) {
		t.Errorf("tools = %s", last.Tools)
	}
	if len(usage) != 2 || usage[0] != (core.Usage{Prompt: 100, Cached: 80, Completion: 7}) {
		t.Errorf("usage = %v", usage)
	}
}
