package eino_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

// eventually waits for what a goroutine of a stream reports.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func metered(m *schema.Message, prompt, cached, completion int) *schema.Message {
	m.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: prompt, CompletionTokens: completion,
		PromptTokenDetails: schema.PromptTokenDetails{CachedTokens: cached}}}
	return m
}

func TestHandlerReportsUsage(t *testing.T) {
	for _, selfReports := range []bool{false, true} {
		both(t, func(t *testing.T, streaming bool) {
			var seen events
			rt := newRuntime(t, satchel.WithEvents(seen.hook))
			m := script(metered(loading("1", "pdf"), 100, 40, 7), metered(calling(call("2", "streamable", `{"a":1}`)), 200, 150, 8), say("done"))
			m.selfReports = selfReports
			tools, _ := fourKinds()
			cfg := &react.AgentConfig{ToolCallingModel: m, GraphName: "helper", ToolsConfig: compose.ToolsNodeConfig{Tools: tools}}
			a := newReact(t, cfg, rt)
			opt := agent.WithComposeOptions(compose.WithCallbacks(handlerOf(t, rt)))
			askReact(t, satchel.WithSession(t.Context(), "s"), a, streaming, []*schema.Message{schema.UserMessage("q")}, opt)
			eventually(t, "three reports of the model", func() bool { return len(seen.of(core.ModelCalled)) >= 3 })
			called := seen.of(core.ModelCalled)
			if len(called) != 3 {
				t.Fatalf("model was reported %d times, want 3", len(called))
			}
			total := core.Usage{}
			for _, e := range called {
				if want := (core.SessionKey{Session: "s", Agent: "helper"}); e.Key != want || e.Duration <= 0 {
					t.Errorf("event is %+v, want key %v and a duration", e, want)
				}
				total.Prompt += e.Usage.Prompt
				total.Cached += e.Usage.Cached
				total.Completion += e.Usage.Completion
			}
			if want := (core.Usage{Prompt: 300, Cached: 190, Completion: 15}); total != want {
				t.Errorf("usage is %+v, want %+v", total, want)
			}
			eventually(t, "a report of each tool", func() bool { return len(seen.of(core.ToolCalled)) >= 2 })
			calls := seen.of(core.ToolCalled)
			if len(calls) != 2 || calls[0].Call.Name != "skill_load" || calls[1].Detail != "ran streamable" ||
				calls[1].Call != (core.ToolCall{ID: "2", Name: "streamable", Arguments: `{"a":1}`}) {
				t.Errorf("tools were reported as %+v", calls)
			}
		})
	}
}

func TestHandlerReportsFailures(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		var seen events
		rt := newRuntime(t, satchel.WithEvents(seen.hook))
		cfg := &adk.ChatModelAgentConfig{Model: script()}
		install(t, cfg, rt)
		ctx := satchel.WithSession(t.Context(), "s")
		r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: streaming})
		got := drain(t, r.Query(callbacks.InitCallbacks(ctx, nil, handlerOf(t, rt)), "q"))
		if last := got[len(got)-1]; !errors.Is(last.Err, errScriptEnded) {
			t.Errorf("run ended in %v, want the model's error", last.Err)
		}
		failed := seen.of(core.ModelFailed)
		if len(failed) != 1 || failed[0].Detail != errScriptEnded.Error() || failed[0].Key.Session != "s" {
			t.Errorf("failures were reported as %+v, want one", failed)
		}
	})
}

// Only the handler reports calls of a model that is not wrapped. Outside of agents with skills
// its events have no key.
func TestHandlerReportsOtherModels(t *testing.T) {
	both(t, func(t *testing.T, streaming bool) {
		var seen events
		rt := newRuntime(t, satchel.WithEvents(seen.hook))
		a, err := react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: script(metered(say("done"), 100, 40, 7))})
		if err != nil {
			t.Fatal(err)
		}
		in, opt := []*schema.Message{schema.UserMessage("q")}, agent.WithComposeOptions(compose.WithCallbacks(handlerOf(t, rt)))
		askReact(t, t.Context(), a, streaming, in, opt)
		eventually(t, "a report of the model", func() bool { return len(seen.of(core.ModelCalled)) > 0 })
		if called := seen.of(core.ModelCalled); len(called) != 1 || called[0].Usage != (core.Usage{Prompt: 100, Cached: 40, Completion: 7}) || called[0].Key != (core.SessionKey{}) {
			t.Errorf("reported as %+v", called)
		}
		if _, err := a.Generate(t.Context(), in, opt); !errors.Is(err, errScriptEnded) {
			t.Fatalf("the model ended in %v", err)
		}
		if failed := seen.of(core.ModelFailed); len(failed) != 1 || failed[0].Detail != errScriptEnded.Error() {
			t.Errorf("failures were reported as %+v, want one", failed)
		}
	})
}

func TestHandlerReportsABrokenStream(t *testing.T) {
	var seen events
	rt := newRuntime(t, satchel.WithEvents(seen.hook))
	boom := errors.New("boom")
	a := newReact(t, &react.AgentConfig{ToolCallingModel: &brokenStreamModel{script(say("x")), boom}}, rt)
	stream, err := a.Stream(satchel.WithSession(t.Context(), "s"), []*schema.Message{schema.UserMessage("q")},
		agent.WithComposeOptions(compose.WithCallbacks(handlerOf(t, rt))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.ConcatMessageStream(stream); !errors.Is(err, boom) {
		t.Errorf("stream ended in %v, want %v", err, boom)
	}
	eventually(t, "a report", func() bool { return len(seen.of(core.ModelFailed)) > 0 })
	if len(seen.of(core.ModelCalled)) > 0 {
		t.Error("a broken stream was reported as a call")
	}
}

// brokenStreamModel is a model whose stream ends in an error.
type brokenStreamModel struct {
	*scripted
	err error
}

func (b *brokenStreamModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	return b, nil
}

func (b *brokenStreamModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](2)
	w.Send(say("half of"), nil)
	w.Send(nil, b.err)
	w.Close()
	return r, nil
}

// The host's own handlers see each call once, with what is really sent.
func TestCallbacksSeeTheRequestOnce(t *testing.T) {
	for _, selfReports := range []bool{false, true} {
		both(t, func(t *testing.T, streaming bool) {
			m := script(loading("1", "pdf"), say("done"))
			m.selfReports = selfReports
			var starts []string
			ends := 0
			h := callbacks.NewHandlerBuilder().OnStartFn(func(ctx context.Context, info *callbacks.RunInfo, in callbacks.CallbackInput) context.Context {
				if info.Component == components.ComponentOfChatModel {
					starts = append(starts, info.Type+" "+allText(model.ConvCallbackInput(in).Messages))
				}
				return ctx
			}).OnEndFn(func(ctx context.Context, info *callbacks.RunInfo, _ callbacks.CallbackOutput) context.Context {
				if info.Component == components.ComponentOfChatModel {
					ends++
				}
				return ctx
			}).OnEndWithStreamOutputFn(func(ctx context.Context, info *callbacks.RunInfo, out *schema.StreamReader[callbacks.CallbackOutput]) context.Context {
				if info.Component == components.ComponentOfChatModel {
					ends++
				}
				out.Close()
				return ctx
			}).Build()
			cfg := &adk.ChatModelAgentConfig{Model: m}
			install(t, cfg, newRuntime(t))
			ctx := satchel.WithSession(t.Context(), "s")
			r := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: streaming})
			noErrors(t, drain(t, r.Query(callbacks.InitCallbacks(ctx, nil, h), "q")))
			if len(starts) != 2 || ends != 2 {
				t.Fatalf("handler saw %d starts and %d ends, want 2 and 2", len(starts), ends)
			}
			if !strings.HasPrefix(starts[1], "Scripted ") || !strings.Contains(starts[1], pdfBody) {
				t.Errorf("handler saw the request\n%s\nwant what is sent", starts[1])
			}
		})
	}
}

func TestRefusedCallsAreReported(t *testing.T) {
	for _, selfReports := range []bool{false, true} {
		both(t, func(t *testing.T, streaming bool) {
			var seen events
			rt := newRuntime(t, satchel.WithEvents(seen.hook))
			m := script(say("never"))
			m.selfReports = selfReports
			a := newReact(t, &react.AgentConfig{ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{
				Tools: []tool.BaseTool{&hostTool{name: "look"}}}}, rt)
			ctx := satchel.WithLoads(satchel.WithSession(t.Context(), "s"), satchel.Load{Skill: "no such skill"})
			in, opt := []*schema.Message{schema.UserMessage("q")}, agent.WithComposeOptions(compose.WithCallbacks(handlerOf(t, rt)))
			var err error
			if streaming {
				_, err = a.Stream(ctx, in, opt)
			} else {
				_, err = a.Generate(ctx, in, opt)
			}
			if err == nil || m.calls() != 0 {
				t.Fatalf("got %v after %d calls of the model, want an error before the first", err, m.calls())
			}
			if failed := seen.of(core.ModelFailed); len(failed) != 1 {
				t.Errorf("failures were reported as %+v, want one", failed)
			}
		})
	}
}

func handlerOf(t *testing.T, rt *satchel.Runtime) callbacks.Handler {
	t.Helper()
	a, err := eino.New(rt)
	if err != nil {
		t.Fatal(err)
	}
	return a.Handler()
}
