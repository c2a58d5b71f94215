package eino_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

// loadsOnce is a model that loads the skill that the user names, and then names the bodies in
// its request.
func loadsOnce() *scripted {
	return answering(func(in []*schema.Message) (*schema.Message, error) {
		last := in[len(in)-1]
		if last.Role == schema.User {
			return loading("1", last.Content), nil
		}
		return say(fmt.Sprintf("pdf %d csv %d", shows(in, pdfBody), shows(in, csvBody))), nil
	})
}

// Concurrent runs with one adapter, with sessions and without, never see loads of another run.
// adk needs an agent for each run, built from one installed configuration: in Eino 0.7.36
// concurrent runs of one agent race.
func TestConcurrentRunsDoNotShare(t *testing.T) {
	type runner func(ctx context.Context, t *testing.T, streaming bool, in []*schema.Message) string
	forms := map[string]func(t *testing.T) func() runner{
		"adk": func(t *testing.T) func() runner {
			cfg := &adk.ChatModelAgentConfig{Model: loadsOnce()}
			install(t, cfg, newRuntime(t))
			return func() runner {
				agent := newAgent(t, cfg)
				return func(ctx context.Context, t *testing.T, streaming bool, in []*schema.Message) string {
					got := said(drain(t, adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming}).Run(ctx, in)))
					return strings.TrimPrefix(got[len(got)-1], "assistant: ")
				}
			}
		},
		"react": func(t *testing.T) func() runner {
			agent := newReact(t, &react.AgentConfig{ToolCallingModel: loadsOnce()}, newRuntime(t))
			return func() runner {
				return func(ctx context.Context, t *testing.T, streaming bool, in []*schema.Message) string {
					return askReact(t, ctx, agent, streaming, in).Content
				}
			}
		},
		"graph": func(t *testing.T) func() runner {
			r := loop(t, newAdapter(t, newRuntime(t)), loadsOnce(), withState())
			return func() runner {
				return func(ctx context.Context, t *testing.T, streaming bool, in []*schema.Message) string {
					return ended(t, ctx, r, streaming, in...).Content
				}
			}
		},
	}
	for form, open := range forms {
		for name, named := range map[string]bool{"named": true, "anonymous": false} {
			t.Run(form+"/"+name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					runs, shared := open(t), map[string][]*schema.Message{
						"pdf": {schema.SystemMessage("s"), schema.UserMessage("pdf")},
						"csv": {schema.SystemMessage("s"), schema.UserMessage("csv")},
					}
					want := []string{"pdf 1 csv 0", "pdf 0 csv 1"}
					var wg sync.WaitGroup
					for i := range 40 {
						ctx, run := t.Context(), runs()
						if named {
							ctx = satchel.WithSession(ctx, fmt.Sprint("session ", i))
						}
						wg.Go(func() {
							skill := []string{"pdf", "csv"}[i%2]
							if got := run(ctx, t, streaming, shared[skill]); got != want[i%2] {
								t.Errorf("run %d said %q, want %q", i, got, want[i%2])
							}
						})
					}
					wg.Wait()
				})
			})
		}
	}
}

// A run's anonymous session is dropped with the run, and its pins with it.
func TestAnonymousSessionsEnd(t *testing.T) {
	var mu sync.Mutex
	keys := map[core.SessionKey]bool{}
	report := func(_ context.Context, e core.Event) {
		if e.Kind == core.SkillLoaded {
			mu.Lock()
			defer mu.Unlock()
			keys[e.Key] = true
		}
	}
	rt := newRuntime(t, satchel.WithEvents(report))
	r := loop(t, newAdapter(t, rt, eino.WithAgentName("a")), loadsOnce(), withState())
	for range 3 {
		if _, err := r.Invoke(t.Context(), []*schema.Message{schema.UserMessage("pdf")}); err != nil {
			t.Fatal(err)
		}
	}
	if len(keys) != 3 {
		t.Fatalf("runs had the keys %v, want three", keys)
	}
	loaded := func() int {
		n := 0
		for key := range keys {
			list, err := rt.Loaded(adapter.WithKey(context.Background(), key))
			if err != nil {
				t.Fatal(err)
			}
			n += len(list)
		}
		return n
	}
	deadline := time.Now().Add(time.Minute)
	for loaded() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are left after their runs", loaded())
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// TestClose: what an anonymous run has loaded is forgotten, and a named session keeps it.
func TestClose(t *testing.T) {
	for session, left := range map[string]int{"": 0, "named": 1} {
		t.Run(session, func(t *testing.T) {
			rt, found := newRuntime(t), []int{}
			var adapter *eino.Adapter
			look := &hostTool{name: "look", run: func(ctx context.Context, _ string) (string, error) {
				for range 2 {
					loaded, err := rt.Loaded(ctx)
					if err != nil {
						return "", err
					}
					found = append(found, len(loaded))
					if err := adapter.Close(); err != nil {
						return "", err
					}
				}
				return "looked", nil
			}}
			cfg := &adk.ChatModelAgentConfig{
				Name: "agent", Description: "x", Model: script(loading("1", "pdf"), calling(call("2", "look", `{}`)), say("done")),
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{look}}},
			}
			var err error
			if adapter, err = eino.Install(cfg, rt); err != nil {
				t.Fatal(err)
			}
			run(t, newAgent(t, cfg), session, false, schema.UserMessage("pdf"))
			if !slices.Equal(found, []int{1, left}) {
				t.Errorf("loaded before and after Close: %v", found)
			}
		})
	}
}
