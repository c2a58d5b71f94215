package session_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

func TestMemoryLoadSharesAndAllocatesNothing(t *testing.T) {
	m := session.NewMemory()
	key := core.SessionKey{Session: "s", Agent: "a"}
	saved, err := m.Save(t.Context(), key, session.Value{Data: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Load(t.Context(), key); err != nil || &got.Data[0] != &saved.Data[0] {
		t.Errorf("got other bytes (%p, %v) than the saved ones %p", got.Data, err, saved.Data)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, err = m.Load(ctx, key) }); n != 0 || err != nil {
		t.Errorf("a load makes %v allocations, %v", n, err)
	}
}

func TestMemoryMaxSessions(t *testing.T) {
	stored := func(m *session.Memory, ids ...string) (kept []string) {
		for _, id := range ids {
			agents, err := m.Agents(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if len(agents) > 0 {
				kept = append(kept, id)
			}
		}
		return kept
	}
	save := func(m *session.Memory, id string) session.Value {
		v, err := m.Save(t.Context(), core.SessionKey{Session: id}, session.Value{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	t.Run("least recently used goes with its pins", func(t *testing.T) {
		m := &session.Memory{MaxSessions: 2}
		save(m, "a")
		b := save(m, "b")
		if err := m.Pin(t.Context(), "b", session.Digest("x"), "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Load(t.Context(), core.SessionKey{Session: "a"}); err != nil {
			t.Fatal(err)
		}
		save(m, "c")
		if got := stored(m, "a", "b", "c"); !reflect.DeepEqual(got, []string{"a", "c"}) {
			t.Errorf("kept %v", got)
		}
		if _, err := m.Pinned(t.Context(), "b", session.Digest("x")); !errors.Is(err, session.ErrNotPinned) {
			t.Errorf("pin of the dropped session: %v", err)
		}
		if _, err := m.Save(t.Context(), core.SessionKey{Session: "b"}, b); !errors.Is(err, session.ErrConflict) {
			t.Errorf("late save into the dropped session: %v", err)
		}
	})
	t.Run("reading the unknown drops nothing", func(t *testing.T) {
		m := &session.Memory{MaxSessions: 1}
		save(m, "a")
		for i := range 10 {
			if _, err := m.Load(t.Context(), core.SessionKey{Session: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		if got := stored(m, "a"); len(got) != 1 {
			t.Error("the session was dropped")
		}
	})
	t.Run("no bound", func(t *testing.T) {
		m := &session.Memory{MaxSessions: -1}
		for i := range session.MaxSessions + 1 {
			save(m, fmt.Sprint(i))
		}
		if got := stored(m, "0"); len(got) != 1 {
			t.Error("the first session was dropped")
		}
	})
}
