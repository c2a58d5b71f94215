package satchel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/session"
)

// countingStore counts the operations on a store.
type countingStore struct {
	session.Store
	loads, saves, pins int
}

func (s *countingStore) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	s.loads++
	return s.Store.Load(ctx, key)
}

func (s *countingStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	s.saves++
	return s.Store.Save(ctx, key, v)
}

func (s *countingStore) Pin(ctx context.Context, session, digest, text string) error {
	s.pins++
	return s.Store.Pin(ctx, session, digest, text)
}

func (s *countingStore) reset() { s.loads, s.saves, s.pins = 0, 0, 0 }

func (s *countingStore) atMost(t *testing.T, what string, loads, saves, pins int) {
	t.Helper()
	if s.loads > loads || s.saves > saves || s.pins > pins {
		t.Errorf("%s takes %d loads, %d saves and %d pins, want at most %d, %d and %d", what, s.loads, s.saves, s.pins, loads, saves, pins)
	}
	s.reset()
}

// TestStoreBudget limits the store operations of a conversation. A call counts with the
// response that made it.
func TestStoreBudget(t *testing.T) {
	store := &countingStore{Store: session.NewMemory()}
	c := chattest.NewChat(t, chattest.Open(t, chattest.NewWorld(3).Files, satchel.WithStore(store))).Say(core.User, "hi")
	c.View()
	store.atMost(t, "the first request of a session", 2, 1, 2)
	c.View()
	store.atMost(t, "a request without a change", 1, 0, 0)

	call := func(what string, loads, saves, pins int, name, arguments string) {
		t.Helper()
		c.IDs++
		made := core.ToolCall{ID: fmt.Sprint("id-", c.IDs), Name: name, Arguments: arguments}
		c.Observe([]core.ToolCall{made})
		c.Execute(made)
		store.atMost(t, what, loads, saves, pins)
		c.View()
		store.atMost(t, "the request after "+what, 1, 0, 0)
	}
	call("a load", 2, 1, 1, "skill_load", `{"skill":"s0"}`)
	call("a load with a doc", 2, 1, 2, "skill_load", `{"skill":"s1","docs":["d0.md"]}`)
	call("a load of what is loaded", 2, 1, 1, "skill_load", `{"skill":"s0"}`)
	call("a load that fails", 2, 1, 0, "skill_load", `{"skill":"no such skill"}`)
	call("a selection of a doc", 2, 1, 1, "skill_select_docs", `{"skill":"s0","docs":["d1.md"]}`)
	call("reading a file", 1, 0, 0, "skill_read", `{"skill":"s0","path":"data.csv"}`)
	call("a run", 1, 0, 0, "skill_run", `{"skill":"s0","command":"true"}`)
	call("a tool that does not exist", 1, 1, 0, "Read", `{"file_path":"x"}`)
	c.Decide(c.Respond(`search {}`)[0])
	store.atMost(t, "a request and the gate of a host's tool", 2, 0, 0)
	call("an unload", 2, 1, 0, "skill_unload", `{"skill":"s0"}`)
	c.Answer("done")
	store.atMost(t, "the end of a turn", 1, 0, 0)
	c.Say(core.User, "go on").View()
	store.atMost(t, "the first request of a turn", 1, 1, 0)
}
