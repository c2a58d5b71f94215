package satchel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
)

// A response that is observed twice, because the process ended before the host
// stored it, keeps its numbers; one that was executed does not give them away.
func TestObservedTwice(t *testing.T) {
	c := newChat(t, open(t, newWorld(2).files)).say(core.User, "hi")
	c.view()
	calls := []core.ToolCall{{Name: "skill_load", Arguments: "s0"}}
	for range 2 {
		if err := c.runtime.Observe(c.ctx, c.key, calls); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.execute(calls[0]); !strings.Contains(got, "[skill#1 ") {
		t.Errorf("answer %q", got)
	}
	c.observe([]core.ToolCall{{Name: "skill_load", Arguments: `{"skill":"s0","docs":["d0.md"]}`}})
	if got := c.execute(c.messages[len(c.messages)-1].Calls[0]); !strings.Contains(got, "[skill#2 ") {
		t.Errorf("answer %q", got)
	}
}

// Executed again, a call that failed fails as before, though it could succeed
// by now, and one that changed nothing changes nothing.
func TestExecutedAgain(t *testing.T) {
	c := newChat(t, open(t, newWorld(2).files)).say(core.User, "hi")
	made := c.respond(`skill_select_docs {"skill":"s0","docs":["d0.md"]}`, "skill_unload s0", "skill_load s0")
	var answers []string
	for _, call := range made {
		answers = append(answers, c.execute(call))
	}
	for i, call := range made {
		if got := c.execute(call); got != answers[i] {
			t.Errorf("call %d answers %q, first %q", i, got, answers[i])
		}
	}
	same(t, "loaded", c.loadedNames(), "s0[]")
}

// Two runs of one session at once use the same ids. Neither may be given the
// answer of the other.
func TestTwoRunsWithTheSameIDs(t *testing.T) {
	for _, id := range []string{"call_0", ""} {
		t.Run(id, func(t *testing.T) {
			one := newChat(t, open(t, newWorld(2).files)).say(core.User, "hi")
			two := newChat(t, one.runtime).say(core.User, "hi")
			one.view()
			a := core.ToolCall{ID: id, Name: "skill_load", Arguments: "s0"}
			b := core.ToolCall{ID: id, Name: "skill_load", Arguments: "s1"}
			one.observe([]core.ToolCall{a})
			two.observe([]core.ToolCall{b})
			if got := one.execute(a) + two.execute(b); !strings.HasPrefix(got, "loaded: s0\n") || !strings.Contains(got, "loaded: s1\n") {
				t.Errorf("answers %q", got)
			}
			same(t, "loaded", one.loadedNames(), "s0[]", "s1[]")
		})
	}
}

// A call waits for one of lower position that is executing, whatever responses
// come meanwhile, and never for one that nobody will execute.
func TestNobodyWaitsForEver(t *testing.T) {
	c := newChat(t, open(t, newWorld(3).files)).say(core.User, "hi")
	dropped := c.respond("skill_load s0", "skill_load s1")
	done := make(chan error)
	go func() {
		_, err := c.runtime.CallTool(c.ctx, c.key, dropped[1])
		done <- err
	}()
	time.Sleep(5 * time.Millisecond)
	c.respond("skill_load s2")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the call still waits for one that was dropped")
	}
	denied := c.respond("skill_load s0", "skill_load s1")
	go func() {
		_, err := c.runtime.CallTool(c.ctx, c.key, denied[1])
		done <- err
	}()
	c.runtime.Finished(c.key, denied[0])
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the call still waits for one that was denied")
	}
	ctx, cancel := context.WithCancel(c.ctx)
	interrupted := c.respond("skill_load s0", "skill_load s1")
	cancel()
	if _, err := c.runtime.CallTool(ctx, c.key, interrupted[1]); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
