package eino_test

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session"
)

// checkpoints is a checkpoint store in memory.
type checkpoints struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (c *checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.data[id]
	return d, ok, nil
}

func (c *checkpoints) Set(_ context.Context, id string, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data == nil {
		c.data = map[string][]byte{}
	}
	c.data[id] = data
	return nil
}

// approval is a tool of the host that asks a person first.
func approval(asks bool) *hostTool {
	return &hostTool{name: "approve", run: func(ctx context.Context, _ string) (string, error) {
		if !asks {
			return "answered yes", nil
		}
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "may I?")
		}
		if target, has, answer := tool.GetResumeContext[string](ctx); target && has {
			return "answered " + answer, nil
		}
		return "", tool.Interrupt(ctx, "may I?")
	}}
}

// resumable opens everything a second time, as another process would.
func resumable(t *testing.T, dir string, m *scripted, asks bool) adk.Agent {
	t.Helper()
	store, err := session.OpenDirectory(dir, session.WithSync(false))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Work."}
	cfg.ToolsConfig.Tools = []tool.BaseTool{approval(asks)}
	install(t, cfg, newRuntime(t, satchel.WithStore(store)))
	return newAgent(t, cfg)
}

func TestInterruptAndResume(t *testing.T) {
	together := []*schema.Message{
		calling(call("1", "skill_load", `{"skill":"pdf"}`), call("2", "approve", "{}"), call("3", "skill_load", `{"skill":"csv"}`)),
		say("done"),
	}
	apart := []*schema.Message{
		loading("1", "pdf"), loading("2", "csv"), calling(call("3", "approve", "{}")), say("done"),
	}
	for name, replies := range map[string][]*schema.Message{"in one message": together, "after the load": apart} {
		for who, id := range map[string]string{"named": "s", "anonymous": ""} {
			t.Run(name+"/"+who, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					// The expected requests are those of a run without an interrupt.
					plain := script(replies...)
					noErrors(t, run(t, resumable(t, t.TempDir(), plain, false), id, streaming, schema.UserMessage("q")))
					want := plain.request(t, len(replies)-1)

					dir, store := t.TempDir(), &checkpoints{}
					ctx := t.Context()
					if id != "" {
						ctx = satchel.WithSession(ctx, id)
					}
					before := script(replies[:len(replies)-1]...)
					runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: resumable(t, dir, before, true), EnableStreaming: streaming, CheckPointStore: store})
					target := interruptOf(t, drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))
					for _, secret := range []string{pdfBody, csvBody, "<available_skills>"} {
						if bytes.Contains(store.data["c"], []byte(secret)) {
							t.Errorf("the checkpoint holds %q", secret)
						}
					}

					after := script(replies[len(replies)-1])
					runner = adk.NewRunner(ctx, adk.RunnerConfig{Agent: resumable(t, dir, after, true), EnableStreaming: streaming, CheckPointStore: store})
					events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{target: "yes"}})
					if err != nil {
						t.Fatal(err)
					}
					noErrors(t, drain(t, events))
					if got := after.request(t, 0); wire(t, got) != wire(t, want) {
						t.Errorf("after the resume the model was sent\n%s\nwant\n%s", allText(got), allText(want))
					}
					if shows(want, pdfBody) != 1 || shows(want, csvBody) != 1 {
						t.Errorf("the uninterrupted run shows\n%s", allText(want))
					}
				})
			})
		}
	}
}

// A host that asks a person before a skill is loaded.
func TestInterruptOfALoad(t *testing.T) {
	for answer, bodies := range map[string]int{"yes": 1, "no": 0} {
		both(t, func(t *testing.T, streaming bool) {
			asking := compose.ToolMiddleware{Invokable: func(next compose.InvokableToolEndpoint) compose.InvokableToolEndpoint {
				return func(ctx context.Context, in *compose.ToolInput) (*compose.ToolOutput, error) {
					switch target, has, got := tool.GetResumeContext[string](ctx); {
					case !target || !has:
						return nil, tool.Interrupt(ctx, "load "+in.Arguments+"?")
					case got != "yes":
						return &compose.ToolOutput{Result: "denied by the user"}, nil
					}
					return next(ctx, in)
				}
			}}
			m := script(loading("1", "pdf"), say("done"))
			cfg := &adk.ChatModelAgentConfig{Model: m, Middlewares: []adk.AgentMiddleware{{WrapToolCall: asking}}}
			install(t, cfg, newRuntime(t))
			ctx := satchel.WithSession(t.Context(), "s")
			runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: streaming, CheckPointStore: &checkpoints{}})
			target := interruptOf(t, drain(t, runner.Query(ctx, "q", adk.WithCheckPointID("c"))))
			events, err := runner.ResumeWithParams(ctx, "c", &adk.ResumeParams{Targets: map[string]any{target: answer}})
			if err != nil {
				t.Fatal(err)
			}
			noErrors(t, drain(t, events))
			shown(t, "agent", m, pdfBody, 0, bodies)
		})
	}
}

// interruptOf returns the id of the interrupt that a run ended in.
func interruptOf(t *testing.T, events []*adk.AgentEvent) string {
	t.Helper()
	noErrors(t, events)
	last := events[len(events)-1]
	if last.Action == nil || last.Action.Interrupted == nil {
		t.Fatalf("run did not end in an interrupt: %+v", last)
	}
	for _, c := range last.Action.Interrupted.InterruptContexts {
		if c.IsRootCause {
			return c.ID
		}
	}
	t.Fatal("interrupt has no root cause")
	return ""
}
