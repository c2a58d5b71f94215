package langchaingo

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/callbacks"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

type countingCallbacks struct {
	callbacks.SimpleHandler
	starts, ends, errors int
}

func (c *countingCallbacks) HandleLLMGenerateContentStart(context.Context, []llms.MessageContent) {
	c.starts++
}
func (c *countingCallbacks) HandleLLMGenerateContentEnd(context.Context, *llms.ContentResponse) {
	c.ends++
}
func (c *countingCallbacks) HandleLLMError(context.Context, error) { c.errors++ }

// TestHandlerCountsOnce gives one client both to the adapter and to the host.
func TestHandlerCountsOnce(t *testing.T) {
	s := serve(t, "application/json", openAIReplies[1], openAIReplies[1])
	var events []core.Event
	rt := runtime(t, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.ModelCalled {
			events = append(events, e)
		}
	}))
	llm, err := openai.New(openai.WithBaseURL(s.URL), openai.WithToken("t"))
	if err != nil {
		t.Fatal(err)
	}
	adapter := install(t, rt, llm, nil)
	host := &countingCallbacks{}
	llm.CallbacksHandler = adapter.Handler(host)
	ctx := satchel.WithSession(t.Context(), "s")
	if _, err := adapter.Model().GenerateContent(ctx, []llms.MessageContent{human("q")}); err != nil {
		t.Fatal(err)
	}
	if _, err := llm.GenerateContent(ctx, []llms.MessageContent{human("q")}); err != nil {
		t.Fatal(err)
	}
	if len(events) != 2 || host.starts != 2 || host.ends != 2 {
		t.Fatalf("%d events, host saw %+v", len(events), host)
	}
	for i, e := range events {
		if e.Usage != (core.Usage{Prompt: 120, Completion: 1}) || e.Duration <= 0 || e.Key != (core.SessionKey{Session: "s", Agent: "agent"}) {
			t.Errorf("event %d = %+v", i, e)
		}
	}
}

func TestHandlerReportsFailures(t *testing.T) {
	var events []core.Event
	rt := runtime(t, satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.ModelFailed {
			events = append(events, e)
		}
	}))
	broken := &scripted{answer: func(int, sent) (*llms.ContentResponse, error) { return nil, errors.New("broken") }}
	adapter := install(t, rt, broken, nil)
	if _, err := adapter.Model().GenerateContent(t.Context(), []llms.MessageContent{human("q")}); err == nil {
		t.Fatal("no error")
	}
	h := adapter.Handler(nil)
	h.HandleLLMError(t.Context(), errors.New("elsewhere"))
	h.HandleLLMGenerateContentEnd(t.Context(), nil)
	if len(events) != 2 || events[0].Detail != "broken" || events[1].Detail != "elsewhere" {
		t.Errorf("events = %+v", events)
	}
}

func TestHandlerForgetsCallsThatNeverEnd(t *testing.T) {
	h := install(t, runtime(t), script(), nil).Handler(nil).(*reporter)
	for i := range 3 * maxStarts {
		h.HandleLLMGenerateContentStart(context.WithValue(t.Context(), reportedKey{}, nil), nil)
		if len(h.starts) > maxStarts {
			t.Fatalf("%d calls are remembered after %d", len(h.starts), i)
		}
	}
}

func TestUsageOf(t *testing.T) {
	of := func(info map[string]any) *llms.ContentResponse {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{nil, {}, {GenerationInfo: info}}}
	}
	tests := []struct {
		name string
		info map[string]any
		want core.Usage
	}{
		{"openai", map[string]any{"PromptTokens": 10, "CompletionTokens": 2, "PromptCachedTokens": 4}, core.Usage{Prompt: 10, Cached: 4, Completion: 2}},
		{"anthropic", map[string]any{"InputTokens": 1, "OutputTokens": 2, "CacheReadInputTokens": 4, "CacheCreationInputTokens": 8}, core.Usage{Prompt: 13, Cached: 4, Completion: 2}},
		{"google", map[string]any{"PromptTokens": int32(10), "CompletionTokens": int32(2), "CachedTokens": int32(4), "CacheReadInputTokens": int32(4), "input_tokens": int32(10)}, core.Usage{Prompt: 10, Cached: 4, Completion: 2}},
		{"bedrock", map[string]any{"input_tokens": 10, "output_tokens": 2}, core.Usage{Prompt: 10, Completion: 2}},
		{"json", map[string]any{"PromptTokens": 10.0, "CompletionTokens": uint(2)}, core.Usage{Prompt: 10, Completion: 2}},
		{"no numbers", map[string]any{"PromptTokens": "many"}, core.Usage{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := usageOf(of(tt.info)); got != tt.want {
				t.Errorf("usageOf = %+v, want %+v", got, tt.want)
			}
		})
	}
	if usageOf(nil) != (core.Usage{}) {
		t.Error("usage of no response")
	}
}
