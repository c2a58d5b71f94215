package satchel

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
)

func shutdownRuntime(t *testing.T) *Runtime {
	t.Helper()
	rt, err := New(WithSkillFS("skills", fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")}}))
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// Shutdown waits for the calls that are open and lets no other begin.
func TestShutdownLetsCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := shutdownRuntime(t)
		agent := rt.Agent(core.SessionKey{Session: "s", Agent: "a"})
		opened, err := agent.Open(t.Context(), core.ToolCall{ID: "1", Name: "skill_load", Arguments: `{"skill":"pdf"}`})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- rt.Shutdown(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Fatalf("Shutdown ended with an open call: %v", err)
		default:
		}
		if _, err := agent.Open(t.Context(), core.ToolCall{ID: "2", Name: "skill_load"}); !errors.Is(err, call.ErrShutdown) {
			t.Errorf("a call began: %v", err)
		}
		if _, err := agent.Prepare(t.Context(), core.Request{}); !errors.Is(err, call.ErrShutdown) {
			t.Errorf("a request was prepared: %v", err)
		}
		if answer, err := opened.Run(t.Context()); err != nil || answer == "" {
			t.Errorf("the open call: %q, %v", answer, err)
		}
		opened.Close()
		opened.Close()
		if err := <-ended; err != nil {
			t.Errorf("Shutdown = %v", err)
		}
		if err := rt.Close(); err != nil {
			t.Errorf("Close after Shutdown = %v", err)
		}
	})
}

// A call that does not end keeps Shutdown no longer than its context.
func TestShutdownGivesUp(t *testing.T) {
	rt := shutdownRuntime(t)
	call, err := rt.Agent(core.SessionKey{Session: "s", Agent: "a"}).Open(t.Context(), core.ToolCall{Name: "skill_load"})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rt.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown = %v", err)
	}
}

// The sessions that have not changed for long are ended, and the others go on.
func TestEndSessionsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := shutdownRuntime(t)
		defer rt.Close()
		say := func(session string) {
			t.Helper()
			if _, err := rt.Prepare(t.Context(), core.Request{
				Key: core.SessionKey{Session: session, Agent: "a"}, Messages: []core.Message{{Role: core.User, Text: "hi"}},
			}); err != nil {
				t.Fatal(err)
			}
		}
		say("old")
		time.Sleep(time.Hour)
		say("new")
		ended, err := rt.EndSessionsBefore(t.Context(), time.Now().Add(-time.Minute))
		if err != nil || ended != 1 {
			t.Errorf("%d sessions ended, %v", ended, err)
		}
		if left, err := rt.Sessions(t.Context()); err != nil || len(left) != 1 || left[0].ID != "new" {
			t.Errorf("Sessions = %+v, %v", left, err)
		}
	})
}

// An event names its turn, and what happens during a call names the call.
func TestEventsNameTurnAndCall(t *testing.T) {
	var events []core.Event
	rt, err := New(
		WithSkillFS("skills", fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBODY\n")}}),
		WithEvents(func(_ context.Context, e core.Event) { events = append(events, e) }),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key := core.SessionKey{Session: "s", Agent: "a"}
	for turn := 1; turn <= 2; turn++ {
		ctx := BeginTurn(t.Context(), "")
		if _, err := rt.Prepare(ctx, core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
			t.Fatal(err)
		}
		call := core.ToolCall{ID: "1", Name: "skill_load", Arguments: `{"skill":"pdf"}`}
		if err := rt.Hooks().Observe(ctx, key, []core.ToolCall{call}); err != nil {
			t.Fatal(err)
		}
		if _, err := rt.CallTool(ctx, key, call); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, e := range events {
			if e.Turn != turn && e.Kind != core.CatalogScanned {
				t.Errorf("%s happened in turn %d, want %d", e.Kind, e.Turn, turn)
			}
			if e.Kind == core.SkillLoaded && e.Call == call {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("turn %d: %d loads name their call in %+v", turn, seen, events)
		}
		events = nil
	}
}
