package session_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

func TestBuried(t *testing.T) {
	t.Run("tombs", func(t *testing.T) { testBuried(t, session.NewMemory()) })
	t.Run("records", func(t *testing.T) { testBuried(t, plain{session.NewMemory()}) })
}

func testBuried(t *testing.T, store session.Store) {
	save := func(id, agent string, calls int) {
		t.Helper()
		key := core.SessionKey{Session: id, Agent: agent}
		if _, err := session.Update(t.Context(), store, key, func(rec *state.Record) (*state.Record, error) {
			next := rec.Clone()
			next.Calls = calls
			return next, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	buried := func(id, agent string, want int) {
		t.Helper()
		calls, err := session.Buried(t.Context(), store, core.SessionKey{Session: id, Agent: agent})
		if calls != want || err != nil {
			t.Errorf("%s of %s: call %d, %v; want %d", agent, id, calls, err, want)
		}
	}
	end := func(id string) {
		t.Helper()
		if err := session.Bury(t.Context(), store, id); err != nil {
			t.Fatal(err)
		}
		if err := store.End(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	end("never")
	save("chat", "a", 3)
	save("chat", "b", 0)
	buried("chat", "a", 0)
	end("chat")
	buried("chat", "a", 3)
	buried("chat", "b", 0)
	buried("other", "a", 0)
	save("chat", "a", 5)
	end("chat")
	buried("chat", "a", 5)
}

// plain is a store that keeps no notes of its own.
type plain struct{ session.Store }

// If very many sessions end, the last ones are remembered and old notes are
// dropped.
func TestBuriedIsBounded(t *testing.T) {
	store := plain{session.NewMemory()}
	const sessions = 3000
	for i := range sessions {
		id := fmt.Sprint("chat-", i)
		if _, err := store.Save(t.Context(), &state.Record{Key: core.SessionKey{Session: id, Agent: "a"}, Calls: i % 7}); err != nil {
			t.Fatal(err)
		}
		if err := session.Bury(t.Context(), store, id); err != nil {
			t.Fatal(err)
		}
	}
	const kept = "satchel:closed"
	agents, err := store.Agents(t.Context(), kept)
	if err != nil || len(agents) != 256 {
		t.Fatalf("%d records, %v", len(agents), err)
	}
	total := 0
	for _, a := range agents {
		rec, err := store.Load(t.Context(), core.SessionKey{Session: kept, Agent: a})
		if err != nil || len(rec.Closed) > 64 {
			t.Errorf("record %s has %d sessions, %v", a, len(rec.Closed), err)
		}
		total += len(rec.Closed)
	}
	if want := sessions - (sessions+6)/7; total != want {
		t.Errorf("%d sessions are kept, want %d", total, want)
	}
	key := core.SessionKey{Session: kept, Agent: session.Digest("chat-1")[:2]}
	if _, err = session.Update(t.Context(), store, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Closed = nil
		for i := range 64 {
			next.Closed = append(next.Closed, state.Closed{Agent: fmt.Sprint(i), Calls: 1, At: int64(i % 2)})
		}
		return next, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := session.Bury(t.Context(), store, "chat-1"); err != nil {
		t.Fatal(err)
	}
	if rec, err := store.Load(t.Context(), key); err != nil || len(rec.Closed) != 1 || rec.Closed[0].Calls != 1 {
		t.Errorf("notes of long ago stay: %+v, %v", rec.Closed, err)
	}
}
