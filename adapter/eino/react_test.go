package eino_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

func newReact(t testing.TB, cfg *react.AgentConfig, rt *satchel.Runtime, opts ...eino.Option) *react.Agent {
	t.Helper()
	if _, err := eino.InstallReact(cfg, rt, opts...); err != nil {
		t.Fatalf("install: %v", err)
	}
	a, err := react.NewAgent(t.Context(), cfg)
	if err != nil {
		t.Fatalf("new agent: %v", err)
	}
	return a
}

// askReact runs a react agent and returns its answer.
func askReact(t testing.TB, ctx context.Context, a *react.Agent, streaming bool, in []*schema.Message, opts ...agent.AgentOption) *schema.Message {
	t.Helper()
	if !streaming {
		out, err := a.Generate(ctx, in, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	stream, err := a.Stream(ctx, in, opts...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := schema.ConcatMessageStream(stream)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReact(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		m := script(loading("1", "pdf"), calling(call("2", "look", "{}")), say("done"))
		var stored string
		a := newReact(t, &react.AgentConfig{
			ToolCallingModel: m,
			ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "look"}}},
			MaxStep:          12,
			MessageRewriter: func(_ context.Context, in []*schema.Message) []*schema.Message {
				stored = allText(in)
				return in
			},
			MessageModifier: func(_ context.Context, in []*schema.Message) []*schema.Message {
				return append([]*schema.Message{schema.SystemMessage("Be {terse}.")}, in...)
			},
		}, newRuntime(t))
		in := []*schema.Message{schema.UserMessage("read {this}")}
		before := cloneMessages(in)
		out := askReact(t, satchel.WithSession(t.Context(), "s"), a, streaming, in)
		if out.Content != "done" {
			t.Errorf("answer is %q", out.Content)
		}
		for i, want := range []int{0, 1, 1} {
			if got := shows(m.request(t, i), pdfBody); got != want {
				t.Errorf("call %d shows the body %d times, want %d", i, got, want)
			}
		}
		if shows(m.request(t, 2), "Be {terse}.") != 1 || shows(m.request(t, 2), "<available_skills>") != 1 {
			t.Errorf("request is:\n%s", allText(m.request(t, 2)))
		}
		if got := shows([]*schema.Message{schema.UserMessage(stored)}, pdfBody); got != 0 {
			t.Errorf("the agent's state holds the body:\n%s", stored)
		}
		if wire(t, in) != wire(t, before) {
			t.Error("the caller's message was changed")
		}
	})
}

func TestReactKeepsLoadsOfASession(t *testing.T) {
	gate := &recorder{}
	m := script(loading("1", "pdf"), say("one"), say("two"), loading("2", "csv"), say("three"))
	rt := newRuntime(t, satchel.WithGate(gate.gate))
	a := newReact(t, &react.AgentConfig{ToolCallingModel: m, GraphName: "helper"}, rt)
	ctx := satchel.BeginTurn(satchel.WithSession(t.Context(), "s"), "turn 1")
	askReact(t, ctx, a, false, []*schema.Message{schema.UserMessage("q")})
	askReact(t, ctx, a, false, []*schema.Message{schema.UserMessage("and on")})
	if got := shows(m.request(t, 2), pdfBody); got != 1 {
		t.Errorf("the same turn shows the body %d times, want 1:\n%s", got, allText(m.request(t, 2)))
	}
	askReact(t, satchel.BeginTurn(ctx, "turn 2"), a, false, []*schema.Message{schema.UserMessage("new")})
	if got := shows(m.request(t, 3), pdfBody); got != 0 {
		t.Errorf("the next turn shows the body %d times, want 0", got)
	}
	if want := (core.SessionKey{Session: "s", Agent: "helper"}); gate.keys[0] != want {
		t.Errorf("key is %+v, want %+v", gate.keys[0], want)
	}
}

func TestReactGatesAllKindsAndUnknownTools(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		gate := &recorder{denied: append([]string{"ghost"}, kinds...)}
		tools, ran := fourKinds()
		// One call in each message: in Eino 0.7.36 two enhanced tools that stream in one
		// message have a data race.
		var replies []*schema.Message
		for _, k := range append([]string{"ghost"}, kinds...) {
			replies = append(replies, calling(call("of "+k, k, "{}")))
		}
		m := script(append(replies, say("done"))...)
		a := newReact(t, &react.AgentConfig{ToolCallingModel: m, MaxStep: 20, ToolsConfig: compose.ToolsNodeConfig{Tools: tools,
			UnknownToolsHandler: func(context.Context, string, string) (string, error) {
				t.Error("a denied unknown tool reached the handler")
				return "", nil
			}}}, newRuntime(t, satchel.WithGate(gate.gate)))
		askReact(t, satchel.WithSession(t.Context(), "s"), a, streaming, []*schema.Message{schema.UserMessage("q")})
		for _, k := range append([]string{"ghost"}, kinds...) {
			if got := shows(m.request(t, 5), "not allowed: "+k+"\n"); got != 1 || ran(k) != 0 {
				t.Errorf("%s: denied %d times and run %d times", k, got, ran(k))
			}
		}
	})
}

func TestReactErrors(t *testing.T) {
	rt := newRuntime(t)
	if _, err := eino.InstallReact(nil, rt); !errors.Is(err, eino.ErrNoConfig) {
		t.Errorf("got %v, want %v", err, eino.ErrNoConfig)
	}
	if _, err := eino.InstallReact(&react.AgentConfig{}, rt); !errors.Is(err, eino.ErrNoModel) {
		t.Errorf("got %v, want %v", err, eino.ErrNoModel)
	}
	if _, err := eino.InstallReact(&react.AgentConfig{ToolCallingModel: script()}, nil); !errors.Is(err, eino.ErrNoRuntime) {
		t.Errorf("got %v, want %v", err, eino.ErrNoRuntime)
	}
	cfg := &react.AgentConfig{ToolCallingModel: script(), MaxStep: 3}
	newReact(t, cfg, rt)
	if _, err := eino.InstallReact(cfg, rt); !errors.Is(err, eino.ErrInstalled) {
		t.Errorf("got %v, want %v", err, eino.ErrInstalled)
	}
	if cfg.MaxStep != 3 || cfg.StreamToolCallChecker != nil {
		t.Error("limits or checker of the host were changed")
	}
}

// The parts, for an agent that gets its tools with each run.
func TestReactWithToolsOfARun(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		a, err := eino.New(newRuntime(t), eino.WithAgentName("parts"))
		if err != nil {
			t.Fatal(err)
		}
		m := script(loading("1", "pdf"), calling(call("2", "look", "{}")), say("done"))
		wrapped, err := a.Model(m)
		if err != nil {
			t.Fatal(err)
		}
		ctx := satchel.WithSession(t.Context(), "s")
		agent, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: wrapped,
			ToolsConfig: compose.ToolsNodeConfig{ToolCallMiddlewares: []compose.ToolMiddleware{a.ToolMiddleware()}}})
		if err != nil {
			t.Fatal(err)
		}
		opts, err := react.WithTools(ctx, append(a.Tools(), &hostTool{name: "look"})...)
		if err != nil {
			t.Fatal(err)
		}
		out := askReact(t, ctx, agent, streaming, []*schema.Message{schema.UserMessage("q")}, opts...)
		if out.Content != "done" || shows(m.request(t, 2), pdfBody) != 1 || shows(m.request(t, 2), "ran look") != 1 {
			t.Errorf("answer is %q after\n%s", out.Content, allText(m.request(t, 2)))
		}
	})
}

func TestToolCallsInAnyChunk(t *testing.T) {
	boom := errors.New("boom")
	spoken := &schema.Message{Role: schema.Assistant, Content: "Let me see."}
	called := &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{call("1", "x", "")}}
	for _, tc := range []struct {
		name   string
		chunks []*schema.Message
		end    error
		want   bool
	}{
		{"speaks first", []*schema.Message{spoken, called, spoken}, io.EOF, true},
		{"only speaks", []*schema.Message{spoken, spoken}, io.EOF, false},
		{"nothing", nil, io.EOF, false},
		{"fails", []*schema.Message{spoken}, boom, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stream, w := schema.Pipe[*schema.Message](len(tc.chunks) + 1)
			for _, c := range tc.chunks {
				w.Send(c, nil)
			}
			if tc.end != io.EOF {
				w.Send(nil, tc.end)
			}
			w.Close()
			got, err := eino.ToolCallsInAnyChunk(t.Context(), stream)
			if got != tc.want || tc.end != io.EOF && !errors.Is(err, tc.end) || tc.end == io.EOF && err != nil {
				t.Errorf("got %t, %v, want %t", got, err, tc.want)
			}
		})
	}
}

// A model that speaks before it calls: with the checker the run goes on.
func TestReactStreamsAModelThatSpeaksFirst(t *testing.T) {
	spoken := func(reply *schema.Message) *speaksFirst { return &speaksFirst{script(reply, say("done"))} }
	m := spoken(loading("1", "pdf"))
	cfg := &react.AgentConfig{ToolCallingModel: m, StreamToolCallChecker: eino.ToolCallsInAnyChunk}
	out := askReact(t, satchel.WithSession(t.Context(), "s"), newReact(t, cfg, newRuntime(t)), true, []*schema.Message{schema.UserMessage("q")})
	if out.Content != "done" || shows(m.request(t, 1), pdfBody) != 1 {
		t.Errorf("answer is %q after %d calls", out.Content, m.calls())
	}
}
