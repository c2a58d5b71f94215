package satchel_test

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// The messages of a session that was ended bring nothing back, in this process or
// in another, at the next turn or in the middle of one; those of a session whose
// record was lost do.
func TestAnEndedSessionStaysEnded(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Once, loadmode.Session} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprint(mode, " in another process ", again), func(t *testing.T) {
				w, dir := newWorld(2), t.TempDir()
				start := func() *satchel.Runtime {
					store, err := session.NewDirectory(dir, session.WithSync(false))
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = store.Close() })
					return open(t, w.files, satchel.WithStore(store), satchel.WithLoadMode(mode))
				}
				c := newChat(t, start()).say(core.User, "one")
				c.calls("skill_load s0", `skill_load {"skill":"s1","docs":["d1.md"]}`)
				if err := c.runtime.EndSession(c.ctx, "chat"); err != nil {
					t.Fatal(err)
				}
				if again {
					c.runtime = start()
				}
				same(t, "in view after the end", where(c.view()))
				c.answer("done")
				c.say(core.User, "two")
				same(t, "in view at the next turn", where(c.view()))
				same(t, "loaded", c.loadedNames())

				// The next session goes on with the numbers, and its own loads come
				// back when its record is lost.
				answer := c.calls("skill_load s1")[0]
				if receipt, ok := session.ParseReceipt(answer); !ok || receipt.Call != 3 {
					t.Errorf("the answer is %q, want the receipt of call 3", answer)
				}
				same(t, "loaded", c.loadedNames(), "s1[]")
				store, err := session.NewDirectory(dir, session.WithSync(false))
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				if err := store.End(t.Context(), "chat"); err != nil {
					t.Fatal(err)
				}
				c.runtime = start()
				c.view()
				same(t, "loaded, record lost", c.loadedNames(), "s1[]")
			})
		}
	}
}

// What is kept of ended sessions is bounded, and the latest are kept.
func TestEndedSessionsAreForgotten(t *testing.T) {
	store := session.NewMemory()
	r := open(t, newWorld(1).files, satchel.WithStore(store))
	const sessions = 3000
	for i := range sessions {
		id := fmt.Sprint("chat-", i)
		if _, err := store.Save(t.Context(), &session.Record{Key: core.SessionKey{Session: id, Agent: "a"}, Turn: 1, Calls: i % 7}); err != nil {
			t.Fatal(err)
		}
		if err := r.EndSession(t.Context(), id); err != nil {
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
		for _, c := range rec.Closed {
			if c.Calls == 0 {
				t.Error("a session without a call is kept")
			}
		}
		total += len(rec.Closed)
	}
	if want := sessions - (sessions+6)/7; total != want {
		t.Errorf("%d sessions are kept, want %d", total, want)
	}
	key := core.SessionKey{Session: kept, Agent: session.Digest("chat-1")[:2]}
	_, err = session.Update(t.Context(), store, key, func(rec *session.Record) (*session.Record, error) {
		next := rec.Clone()
		next.Closed = nil
		for i := range 64 {
			next.Closed = append(next.Closed, session.Closed{Agent: fmt.Sprint(i), Calls: 1, At: int64(i % 2)})
		}
		return next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Save(t.Context(), &session.Record{Key: core.SessionKey{Session: "chat-1", Agent: "a"}, Calls: 9}); err != nil {
		t.Fatal(err)
	}
	if err := r.EndSession(t.Context(), "chat-1"); err != nil {
		t.Fatal(err)
	}
	if rec, err := store.Load(t.Context(), key); err != nil || len(rec.Closed) != 1 || rec.Closed[0].Calls != 9 {
		t.Errorf("old ones stay: %+v, %v", rec.Closed, err)
	}
}
