package langchaingo

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

func TestToolErrorIsAnObservation(t *testing.T) {
	llm := script(reply("", call("1", "a", `{"__arg1":"x"}`)), reply("done"))
	boom := hostTool{"a", func(context.Context, string) (string, error) { return "half", errors.New("boom") }}
	adapter := install(t, runtime(t), llm, []tools.Tool{boom})
	answer, err := chains.Run(t.Context(), executor(adapter), "q")
	if err != nil || answer != "done" {
		t.Fatalf("Run = %q, %v", answer, err)
	}
	if text := whole(llm.last().messages); !strings.Contains(text, "half\nerror: boom") {
		t.Errorf("the model did not see the error:\n%s", text)
	}
}

func TestToolStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	llm := script(reply("", call("1", "a", `{}`)), reply("done"))
	slow := hostTool{"a", func(ctx context.Context, _ string) (string, error) {
		cancel()
		return "", ctx.Err()
	}}
	adapter := install(t, runtime(t), llm, []tools.Tool{slow})
	if _, err := chains.Run(ctx, executor(adapter), "q"); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want context.Canceled", err)
	}
	if len(llm.sent) != 1 || adapter.runs.live.Len() != 0 {
		t.Errorf("%d requests, %d runs left", len(llm.sent), adapter.runs.live.Len())
	}
}

func TestToolTimeoutOfItsOwnIsAnObservation(t *testing.T) {
	slow := hostTool{"a", func(context.Context, string) (string, error) { return "", context.DeadlineExceeded }}
	adapter := install(t, runtime(t), script(), []tools.Tool{slow})
	answer, err := adapter.Tools()[0].Call(t.Context(), "x")
	if err != nil || answer != "error: context deadline exceeded" {
		t.Errorf("Call = %q, %v", answer, err)
	}
}

func TestToolPanicStaysOne(t *testing.T) {
	finished := 0
	bad := hostTool{"a", func(context.Context, string) (string, error) { panic("bug") }}
	adapter := install(t, runtime(t), script(), []tools.Tool{bad})
	func() {
		defer func() {
			if recover() == "bug" {
				finished++
			}
		}()
		_, _ = adapter.Tools()[0].Call(t.Context(), "x")
	}()
	if finished != 1 {
		t.Error("the panic was swallowed")
	}
}

func TestGateSeesEveryCall(t *testing.T) {
	var mu sync.Mutex
	var seen []core.ToolCall
	var keys []core.SessionKey
	gate := func(_ context.Context, key core.SessionKey, c core.ToolCall) core.Decision {
		mu.Lock()
		defer mu.Unlock()
		seen, keys = append(seen, c), append(keys, key)
		if c.Name == "rm" {
			return core.Decision{Denied: true, Reason: "not today"}
		}
		return core.Decision{}
	}
	ran := false
	rm := hostTool{"rm", func(context.Context, string) (string, error) { ran = true; return "", nil }}
	llm := script(
		reply("", call("1", "rm", `{"__arg1":"-rf"}`), call("2", "skill_load", `{"skill":"pdf"}`), call("3", "RM", `{}`)),
		reply("done"),
	)
	adapter := install(t, runtime(t, satchel.WithGate(gate)), llm, []tools.Tool{rm}, WithAgentName("main"))
	if _, err := chains.Run(satchel.WithSession(t.Context(), "s"), executor(adapter), "q"); err != nil {
		t.Fatal(err)
	}
	want := []core.ToolCall{
		{ID: "1", Name: "rm", Arguments: `{"__arg1":"-rf"}`},
		{ID: "2", Name: "skill_load", Arguments: `{"skill":"pdf"}`},
		{ID: "3", Name: "rm", Arguments: `{}`},
	}
	if diff := differ(want, seen); diff != "" || ran {
		t.Errorf("gate (-want +got):\n%s ran: %v", diff, ran)
	}
	for _, key := range keys {
		if key != (core.SessionKey{Session: "s", Agent: "main"}) {
			t.Errorf("key = %v", key)
		}
	}
	if text := whole(llm.last().messages); strings.Count(text, "not today") != 2 {
		t.Errorf("the model did not see the denials:\n%s", text)
	}
}

func TestOursTakeEveryFormOfArguments(t *testing.T) {
	for _, args := range []string{`{"skill":"pdf"}`, `{"__arg1":"{\"skill\":\"pdf\"}"}`, `{"__arg1":"pdf"}`, `pdf`} {
		t.Run(args, func(t *testing.T) {
			llm := script(reply("", call("1", "skill_load", args)), reply("done"))
			adapter := install(t, runtime(t), llm, nil)
			if _, err := chains.Run(t.Context(), executor(adapter), "q"); err != nil {
				t.Fatal(err)
			}
			if text := whole(llm.last().messages); !strings.Contains(text, "PDF BODY") {
				t.Errorf("not loaded:\n%s", text)
			}
		})
	}
}

func TestLoopWithoutAnAgent(t *testing.T) {
	llm := script(
		reply("one moment", call("1", "skill_load", `{"skill":"pdf"}`), call("2", "a", `{"__arg1":"x"}`), call("3", "none", `{}`)),
		reply("done"),
	)
	adapter := install(t, runtime(t), llm, []tools.Tool{hostTool{name: "a"}})
	for name, ctx := range map[string]func(t *testing.T) context.Context{
		"named": func(t *testing.T) context.Context { return satchel.WithSession(t.Context(), "s") },
		"begun": func(t *testing.T) context.Context {
			ctx, end := adapter.Begin(t.Context())
			t.Cleanup(func() {
				if err := end(); err != nil {
					t.Error(err)
				}
			})
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			llm.sent = nil
			loop(t, ctx(t), adapter)
			want := []string{
				"0 system: …", "1 human: q", "2 ai: one moment", `2 ai: call 1 skill_load {"skill":"pdf"}`, `2 ai: call 2 a {"__arg1":"x"}`, `2 ai: call 3 none {}`,
				"3 tool: result 1 skill_load loaded: pdf…", "4 tool: result 2 a a got x",
			}
			got := lines(llm.last().messages)
			if diff := differ(want, got[:len(got)-1]); diff != "" || !strings.HasPrefix(got[len(got)-1], `5 tool: result 3 none error: there is no tool "none"`) {
				t.Errorf("request (-want +got):\n%s\n%s", diff, got[len(got)-1])
			}
			if !strings.Contains(whole(llm.last().messages), "PDF BODY") {
				t.Error("the body is missing")
			}
		})
	}
}

// loop is what a host without an agent writes.
func loop(t *testing.T, ctx context.Context, adapter *Adapter) {
	t.Helper()
	msgs := []llms.MessageContent{human("q")}
	for {
		resp, err := adapter.Model().GenerateContent(ctx, msgs)
		if err != nil {
			t.Fatal(err)
		}
		choice := resp.Choices[0]
		if len(choice.ToolCalls) == 0 {
			return
		}
		said := llms.TextParts(llms.ChatMessageTypeAI, choice.Content)
		for _, c := range choice.ToolCalls {
			said.Parts = append(said.Parts, c)
		}
		msgs = append(msgs, said)
		for _, c := range choice.ToolCalls {
			r, err := adapter.Call(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			msgs = append(msgs, result(r))
		}
	}
}

func TestOursOutsideOfASession(t *testing.T) {
	adapter := install(t, runtime(t), script(reply("", call("1", "skill_load", `{"skill":"pdf"}`))), nil)
	if _, err := adapter.Call(t.Context(), call("1", "skill_load", `{"skill":"pdf"}`)); !errors.Is(err, satchel.ErrNoSession) {
		t.Errorf("Call = %v, want ErrNoSession", err)
	}
	if _, err := adapter.Model().GenerateContent(t.Context(), []llms.MessageContent{human("q")}); err != nil {
		t.Errorf("a single request = %v", err)
	}
}
