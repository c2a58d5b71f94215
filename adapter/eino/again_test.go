package eino_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// A run that is repeated after a failure sends the same requests as a run without the failure,
// in the same process and in another one, whatever it had loaded.
func TestRunAgain(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session, loadmode.Adaptive} {
		for _, name := range []string{"same process", "another process", "turn of the host"} {
			t.Run(mode.String()+" "+name, func(t *testing.T) {
				both(t, func(t *testing.T, streaming bool) {
					var want []string
					for _, fails := range []bool{false, true} {
						got := requestsOf(t, mode, name, streaming, fails)
						if !fails {
							want = got
							continue
						}
						for i := range want {
							if got[i] != want[i] {
								t.Errorf("request %d is\n%s\nwithout a failure\n%s", i, got[i], want[i])
							}
						}
					}
				})
			})
		}
	}
}

// requestsOf plays two turns and returns the requests of the second one. If fails is set, the
// second turn fails after two loads and is run a second time.
func requestsOf(t *testing.T, mode loadmode.Mode, name string, streaming, fails bool) (requests []string) {
	t.Helper()
	store := session.NewMemory()
	answers := []*schema.Message{
		loading("1", "csv"), say("one"),
		loading("2", "pdf"), calling(call("3", "skill_unload", `{"skill":"csv"}`)), say("two"),
	}
	open := func(m *scripted) func(ctx context.Context, messages ...*schema.Message) []*adk.AgentEvent {
		cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Work."}
		install(t, cfg, newRuntime(t, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: mode})))
		agent := newAgent(t, cfg)
		return func(ctx context.Context, messages ...*schema.Message) []*adk.AgentEvent {
			if ctx = satchel.WithSession(ctx, "s"); name == "turn of the host" {
				ctx = satchel.BeginTurn(ctx, messages[len(messages)-1].Content)
			}
			return drain(t, adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: streaming}).Run(ctx, messages))
		}
	}
	next, broken := 0, errors.New("broken")
	m := answering(func([]*schema.Message) (*schema.Message, error) {
		if fails && next == 4 {
			return nil, broken
		}
		next++
		return answers[next-1], nil
	})
	talk := open(m)
	noErrors(t, talk(t.Context(), schema.UserMessage("first")))
	second := []*schema.Message{schema.UserMessage("first"), say("one"), schema.UserMessage("second")}
	if fails {
		events := talk(t.Context(), second...)
		if err := events[len(events)-1].Err; !errors.Is(err, broken) {
			t.Fatalf("the turn does not fail: %v", err)
		}
		fails, next = false, 2
		if name == "another process" {
			talk = open(m)
		}
	}
	began := m.calls()
	noErrors(t, talk(t.Context(), second...))
	for i := began; i < m.calls(); i++ {
		requests = append(requests, wire(t, m.request(t, i)))
	}
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	return requests
}
