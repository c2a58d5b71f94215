package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// A response that is observed twice, because the process ended before the host
// stored it, keeps its numbers; one that was executed does not give them away.
func TestObservedTwice(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files)).Say(core.User, "hi")
	c.View()
	calls := []core.ToolCall{{Name: "skill_load", Arguments: "s0"}}
	for range 2 {
		if err := c.Runtime.Hooks().Observe(c.Context, c.Key, calls); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.Execute(calls[0]); !strings.Contains(got, "[skill#1 ") {
		t.Errorf("answer %q", got)
	}
	c.Observe([]core.ToolCall{{Name: "skill_load", Arguments: `{"skill":"s0","docs":["d0.md"]}`}})
	if got := c.Execute(c.Messages[len(c.Messages)-1].Calls[0]); !strings.Contains(got, "[skill#2 ") {
		t.Errorf("answer %q", got)
	}
}

// Executed again, a call that failed fails as before, though it could succeed
// by now, and one that changed nothing changes nothing.
func TestExecutedAgain(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files)).Say(core.User, "hi")
	made := c.Respond(`skill_select_docs {"skill":"s0","docs":["d0.md"]}`, "skill_unload s0", "skill_load s0")
	var answers []string
	for _, call := range made {
		answers = append(answers, c.Execute(call))
	}
	for i, call := range made {
		if got := c.Execute(call); got != answers[i] {
			t.Errorf("call %d answers %q, first %q", i, got, answers[i])
		}
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "s0[]")
}

// Two runs of one session at once use the same ids. Neither may be given the
// answer of the other.
func TestTwoRunsWithTheSameIDs(t *testing.T) {
	for _, id := range []string{"call_0", ""} {
		t.Run(id, func(t *testing.T) {
			one := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(2).Files)).Say(core.User, "hi")
			two := chattest.NewChat(t, one.Runtime).Say(core.User, "hi")
			one.View()
			a := core.ToolCall{ID: id, Name: "skill_load", Arguments: "s0"}
			b := core.ToolCall{ID: id, Name: "skill_load", Arguments: "s1"}
			one.Observe([]core.ToolCall{a})
			two.Observe([]core.ToolCall{b})
			if got := one.Execute(a) + two.Execute(b); !strings.HasPrefix(got, "loaded: s0\n") || !strings.Contains(got, "loaded: s1\n") {
				t.Errorf("answers %q", got)
			}
			chattest.Same(t, "loaded", one.LoadedNames(), "s0[]", "s1[]")
		})
	}
}

// A call waits for one of lower position that is executing, whatever responses come meanwhile.
// It never waits for one that no host will execute.
func TestNobodyWaitsForEver(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files)).Say(core.User, "hi")
	dropped := c.Respond("skill_load s0", "skill_load s1")
	done := make(chan error)
	go func() {
		_, err := c.Runtime.CallTool(c.Context, c.Key, dropped[1])
		done <- err
	}()
	time.Sleep(5 * time.Millisecond)
	c.Respond("skill_load s2")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the call still waits for one that was dropped")
	}
	denied := c.Respond("skill_load s0", "skill_load s1")
	go func() {
		_, err := c.Runtime.CallTool(c.Context, c.Key, denied[1])
		done <- err
	}()
	first, err := c.Runtime.Agent(c.Key).Open(c.Context, denied[0])
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the call still waits for one that was denied")
	}
	ctx, cancel := context.WithCancel(c.Context)
	interrupted := c.Respond("skill_load s0", "skill_load s1")
	cancel()
	if _, err := c.Runtime.CallTool(ctx, c.Key, interrupted[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
