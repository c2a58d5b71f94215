package langchaingo

import (
	"context"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"
)

func TestClientOf(t *testing.T) {
	for llm, want := range map[llms.Model]client{&openai.LLM{}: openAI, &anthropic.LLM{}: claude} {
		if got := clientOf(llm); got != want {
			t.Errorf("clientOf(%T) = %d, want %d", llm, got, want)
		}
	}
	// This module does not import these packages, because they require the SDKs of their
	// services.
	for pkg, want := range map[string]client{
		"github.com/tmc/langchaingo/llms/googleai":        google,
		"github.com/tmc/langchaingo/llms/googleai/vertex": google,
		"github.com/tmc/langchaingo/llms/bedrock":         bedrock,
	} {
		if got := clientFrom(pkg); got != want {
			t.Errorf("clientFrom(%s) = %d, want %d", pkg, got, want)
		}
	}
	if got := clientOf(script()); got != openAI {
		t.Errorf("clientOf(a host's own) = %d", got)
	}
}

func TestShape(t *testing.T) {
	msgs := func() []llms.MessageContent {
		return []llms.MessageContent{
			llms.TextParts(llms.ChatMessageTypeSystem, "one"),
			llms.TextParts(llms.ChatMessageTypeSystem, "two", "three"),
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{Text: "a"}, llms.TextContent{Text: "b"}}},
			ai(llms.TextContent{Text: "hm"}, call("1", "x", "{}"), call("2", "y", "{}")),
			result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "rx"}),
			result(llms.ToolCallResponse{ToolCallID: "2", Name: "y", Content: "ry"}),
		}
	}
	tests := []struct {
		client client
		want   []string
	}{
		{openAI, []string{"0 system: one", "1 system: two", "1 system: three", "2 human: a", "2 human: b", "3 ai: hm", "3 ai: call 1 x {}", "3 ai: call 2 y {}", "4 tool: result 1 x rx", "5 tool: result 2 y ry"}},
		{claude, []string{"0 system: one", "1 system: \n\ntwo", "2 system: three", "3 human: a", "3 human: b", "4 ai: hm", "5 ai: call 1 x {}", "6 ai: call 2 y {}", "7 tool: result 1 x rx", "8 tool: result 2 y ry"}},
		{google, []string{"0 system: one", "0 system: two", "0 system: three", "1 human: a", "1 human: b", "2 ai: hm", "2 ai: call 1 x {}", "2 ai: call 2 y {}", "3 tool: result 1 x rx", "3 tool: result 2 y ry"}},
		{bedrock, []string{"0 system: one", "1 system: \n\ntwo", "1 system: three", "2 human: a", "2 human: b", "3 ai: hm", "3 ai: call 1 x {}", "3 ai: call 2 y {}", "4 tool: result 1 x rx", "5 tool: result 2 y ry"}},
	}
	for _, tt := range tests {
		t.Run(strings.Fields("OpenAI Anthropic Google Bedrock")[tt.client], func(t *testing.T) {
			in := msgs()
			if diff := differ(tt.want, lines(tt.client.shape(in))); diff != "" {
				t.Errorf("shape (-want +got):\n%s", diff)
			}
			if diff := differ(msgs(), in); diff != "" {
				t.Errorf("the messages changed:\n%s", diff)
			}
			if plain := []llms.MessageContent{human("q")}; tt.client.alwaysCopies() && &tt.client.shape(plain)[0] == &plain[0] {
				t.Error("the result is not a slice of its own")
			}
		})
	}
}

func TestStreaming(t *testing.T) {
	var heard []string
	hear := func(_ context.Context, chunk []byte) error {
		heard = append(heard, string(chunk))
		return nil
	}
	tests := []struct {
		name    string
		client  client
		options []llms.CallOption
		want    []string
	}{
		{"restored after the framework's nil", openAI, []llms.CallOption{llms.WithStreamingFunc(nil)}, []string{"adapter: hello"}},
		{"a function of one call", openAI, []llms.CallOption{llms.WithStreamingFunc(hear)}, []string{"hello"}},
		{"a client that would lose the calls", bedrock, nil, []string{"adapter: hello"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			heard = nil
			llm := script(reply("hello"))
			adapter := install(t, runtime(t), llm, nil, withClient(tt.client), WithStreaming(func(ctx context.Context, chunk []byte) error {
				return hear(ctx, []byte("adapter: "+string(chunk)))
			}))
			if _, err := adapter.Model().GenerateContent(t.Context(), []llms.MessageContent{human("q")}, tt.options...); err != nil {
				t.Fatal(err)
			}
			if diff := differ(tt.want, heard); diff != "" {
				t.Error(diff)
			}
			if live := llm.last().options.StreamingFunc != nil; live == (tt.client == bedrock) {
				t.Errorf("the client streams: %v", live)
			}
		})
	}
}

func FuzzIsCallDelta(f *testing.F) {
	for _, s := range []string{`[{"id":"1","type":"function","function":{"name":"a","arguments":""}}]`, `[{"type":"","function":{"name":"","arguments":"{"}}]`, `{"name":"a","arguments":"b"}`, `[{"a":1}]`, `[{`, `{"name":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, chunk []byte) {
		if isCallDelta(chunk) && !strings.Contains(string(chunk), `"arguments":`) {
			t.Errorf("%q was taken for a call", chunk)
		}
	})
}

func TestIsCallDelta(t *testing.T) {
	for chunk, want := range map[string]bool{
		`[{"id":"1","type":"function","function":{"name":"a","arguments":""}}]`:       true,
		`[{"type":"","function":{"name":"","arguments":"{\"a\""}}]`:                   true,
		`{"name":"a","arguments":"b"}`:                                                true,
		`[{"id": "1","type":"function","function":{"name":"a","arguments":""}}]`:      false,
		`[{"id":"1","type":"function","function":{"name":"a","arguments":""},"x":1}]`: false,
		`hello`: false, `[{"a":1}]`: false, ``: false,
	} {
		if got := isCallDelta([]byte(chunk)); got != want {
			t.Errorf("isCallDelta(%s) = %v", chunk, got)
		}
	}
}

// withClient sets a client of which no value can be made here.
func withClient(client client) Option {
	return func(c *config) error {
		c.client = client
		return nil
	}
}

// TestWithClient wraps a client in a type of the host.
func TestWithClient(t *testing.T) {
	adapter := install(t, runtime(t), script(), nil, WithClient(&anthropic.LLM{}))
	if adapter.config.client != claude {
		t.Errorf("the client is %d, want that of Anthropic", adapter.config.client)
	}
}
