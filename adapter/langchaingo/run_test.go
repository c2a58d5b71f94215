package langchaingo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"github.com/tmc/langchaingo/tools"

	"github.com/satchel-go/satchel"
)

// TestConcurrentCallsShareNothing runs many Calls of one executor under one
// context: the same question, the same calls, no session.
func TestConcurrentCallsShareNothing(t *testing.T) {
	const runs = 24
	llm := &scripted{answer: func(_ int, s sent) (*llms.ContentResponse, error) {
		skill := "pdf"
		if strings.Contains(whole(s.messages), "sheets please") {
			skill = "xlsx"
		}
		text := whole(s.messages)
		switch countResponses(s.messages) {
		case 0:
			return reply("", call("1", "wait", ``)), nil
		case 1:
			return reply("", call("1", "pause", ``), call("2", "skill_load", `{"skill":"`+skill+`"}`)), nil
		}
		other := map[string]string{"pdf": "XLSX", "xlsx": "PDF"}[skill]
		if strings.Count(text, strings.ToUpper(skill)+" BODY") != 1 || strings.Contains(text, other+" BODY") {
			return nil, fmt.Errorf("the view is not of this Call:\n%s", text)
		}
		return reply("done " + skill), nil
	}}
	// All runs wait until each has a pending call with the same name and input.
	var gate sync.WaitGroup
	gate.Add(runs)
	wait := hostTool{"wait", func(context.Context, string) (string, error) {
		gate.Done()
		gate.Wait()
		return "ok", nil
	}}
	// Pauses of different lengths change the order in which the runs reach their loads.
	var paused atomic.Int32
	pause := hostTool{"pause", func(context.Context, string) (string, error) {
		time.Sleep(time.Duration(paused.Add(1)*7%5) * time.Millisecond)
		return "ok", nil
	}}
	adapter := install(t, runtime(t), llm, []tools.Tool{wait, pause})
	exec := executor(adapter)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() {
			question, want := "forms please", "done pdf"
			if i%2 == 1 {
				question, want = "sheets please", "done xlsx"
			}
			if got, err := chains.Run(context.Background(), exec, question); err != nil || got != want {
				t.Errorf("Run %d = %q, %v", i, got, err)
			}
		})
	}
	all.Wait()
	if n := adapter.runs.live.Len(); n != 0 || len(adapter.runs.byInput) != 0 || len(adapter.runs.byInputs) != 0 {
		t.Errorf("%d runs are left", n)
	}
}

func TestSessionsAreApart(t *testing.T) {
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("one"), reply("two"))
	rt := runtime(t)
	adapter := install(t, rt, llm, nil)
	exec := executor(adapter)
	for _, s := range []string{"a", "b"} {
		if _, err := chains.Run(satchel.WithSession(t.Context(), s), exec, "q"); err != nil {
			t.Fatal(err)
		}
	}
	for s, want := range map[string]int{"a": 1, "b": 0} {
		if got, err := rt.Loaded(satchel.WithSession(t.Context(), s)); err != nil || len(got) != want {
			t.Errorf("Loaded(%s) = %v, %v", s, got, err)
		}
	}
}

func TestTakeByValue(t *testing.T) {
	adapter := install(t, runtime(t), script(), []tools.Tool{hostTool{name: "a"}})
	s := adapter.runs
	ctx := t.Context()
	var made []*run
	for _, id := range []string{"1", "2"} {
		r, _ := s.enter(ctx, map[string]string{"input": id})
		if err := s.beginPlan(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		s.handOut(r, []schema.AgentAction{{Tool: "A", ToolInput: "", ToolID: id}, {Tool: "A", ToolInput: "x\nObservation:", ToolID: id + "x"}})
		made = append(made, r)
	}
	for i, want := range []string{"1", "2"} {
		r, c, ok := s.takeCall(ctx, "a", "")
		if !ok || r != made[i] || c.ID != want {
			t.Errorf("take %d = %v, %v", i, c, ok)
		}
	}
	if _, c, ok := s.takeCall(ctx, "a", strings.Clone("x")); !ok || c.ID != "1x" {
		t.Errorf("take of a copied input = %v, %v", c, ok)
	}
	if _, _, ok := s.takeCall(ctx, "a", "unknown"); ok {
		t.Error("took a call that nobody made")
	}
	if _, _, ok := s.takeCall(satchel.WithSession(ctx, "s"), "a", "x"); ok {
		t.Error("a named session took an anonymous call")
	}
}

func TestRunsAreBounded(t *testing.T) {
	adapter := install(t, runtime(t), script(), nil)
	inputs := map[string]string{"input": "first"}
	adapter.runs.enter(t.Context(), inputs)
	for i := range maxRuns {
		adapter.runs.enter(t.Context(), map[string]string{"input": fmt.Sprint(i)})
	}
	if n := adapter.runs.live.Len(); n != maxRuns || len(adapter.runs.byInputs) != maxRuns {
		t.Errorf("%d runs, of which %d are found by their inputs", n, len(adapter.runs.byInputs))
	}
	if _, begun := adapter.runs.enter(t.Context(), inputs); !begun {
		t.Error("the first run is still there")
	}
}

func TestIterationLimitLeavesNothingWrong(t *testing.T) {
	llm := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("", call("2", "skill_load", `{"skill":"xlsx"}`)), reply("done"))
	adapter := install(t, runtime(t), llm, nil)
	agent := adapter.Agent(agents.NewOpenAIFunctionsAgent(adapter.Model(), adapter.Tools()))
	if _, err := chains.Run(t.Context(), agents.NewExecutor(agent, agents.WithMaxIterations(2)), "q"); err == nil {
		t.Fatal("Run ended")
	}
	answer, err := chains.Run(t.Context(), agents.NewExecutor(agent), "q")
	if err != nil || answer != "done" || strings.Contains(whole(llm.last().messages), "BODY") {
		t.Errorf("the next Run = %q, %v\n%s", answer, err, whole(llm.last().messages))
	}
}

func TestAgentAsAToolOfAnother(t *testing.T) {
	rt := runtime(t)
	inner := script(reply("", call("1", "skill_load", `{"skill":"xlsx"}`)), reply("sub done"))
	sub := executor(install(t, rt, inner, nil, WithAgentName("sub")))
	ask := hostTool{"ask", func(ctx context.Context, in string) (string, error) { return chains.Run(ctx, sub, in) }}
	outer := script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("", call("2", "ask", `{"__arg1":"x"}`)), reply("done"))
	adapter := install(t, rt, outer, []tools.Tool{ask})
	for name, ctx := range map[string]context.Context{"anonymous": t.Context(), "named": satchel.WithSession(t.Context(), "s")} {
		t.Run(name, func(t *testing.T) {
			inner.sent, outer.sent = nil, nil
			if _, err := chains.Run(ctx, executor(adapter), "q"); err != nil {
				t.Fatal(err)
			}
			if text := whole(inner.last().messages); strings.Contains(text, "PDF BODY") || !strings.Contains(text, "XLSX BODY") {
				t.Errorf("the sub-agent saw:\n%s", text)
			}
			if text := whole(outer.last().messages); !strings.Contains(text, "PDF BODY") || strings.Contains(text, "XLSX BODY") {
				t.Errorf("the agent saw:\n%s", text)
			}
		})
	}
}

// TestClose: what an anonymous run has loaded is forgotten, and a named session keeps it.
func TestClose(t *testing.T) {
	for session, left := range map[string]int{"": 0, "named": 1} {
		t.Run(session, func(t *testing.T) {
			rt, found := runtime(t), []int{}
			var adapter *Adapter
			look := hostTool{name: "look", fn: func(ctx context.Context, _ string) (string, error) {
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
			adapter = install(t, rt, script(reply("", call("1", "skill_load", `{"skill":"pdf"}`)), reply("", call("2", "look", `{"__arg1":"x"}`)), reply("done")), []tools.Tool{look})
			ctx := t.Context()
			if session != "" {
				ctx = satchel.WithSession(ctx, session)
			}
			if _, err := chains.Run(ctx, executor(adapter), "q"); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(found, []int{1, left}) {
				t.Errorf("loaded before and after Close: %v", found)
			}
		})
	}
}
