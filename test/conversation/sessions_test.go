package conversation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Clear drops the texts of what it unloads, but for those that another agent has
// loaded, and the session goes on.
func TestClearDropsPins(t *testing.T) {
	store := session.NewMemory()
	r := chattest.Open(t, chattest.NewWorld(3).Files, satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
	a, b := chattest.NewChat(t, r).Say(core.User, "one"), chattest.NewChat(t, r).Say(core.User, "two")
	b.Key.Agent = "other"
	pinned := func(c *chattest.Chat) (digests []string) {
		rec := chattest.RecordOf(t, store, c.Key)
		return rec.Pins()
	}
	lost := func(digests []string) (n int) {
		for _, d := range digests {
			if _, err := store.Pinned(t.Context(), "chat", d); errors.Is(err, session.ErrNotPinned) {
				n++
			}
		}
		return n
	}
	a.Calls("skill_load s0", `skill_load {"skill":"s1","docs":["d1.md"]}`)
	b.Calls("skill_load s1")
	of, others := pinned(a), pinned(b)
	if lost(of) != 0 || lost(others) != 0 {
		t.Fatal("what is loaded is not pinned")
	}
	if err := r.Clear(adapter.WithKey(t.Context(), a.Key)); err != nil {
		t.Fatal(err)
	}
	// The body of s0 and the doc are removed.
	if lost(of) != 2 || lost(others) != 0 || lost(pinned(a)) != 0 {
		t.Errorf("after the first, %d of %d and %d of %d are gone", lost(of), len(of), lost(others), len(others))
	}
	chattest.Same(t, "loaded", a.LoadedNames())
	chattest.Same(t, "loaded by the other", b.LoadedNames(), "s1[]")
	chattest.Same(t, "in view", chattest.Where(a.View()))

	if err := r.Clear(satchel.WithSession(t.Context(), "chat")); err != nil {
		t.Fatal(err)
	}
	if kept := pinned(b); len(others)-lost(others) != len(kept) || lost(kept) != 0 {
		t.Errorf("after the second, %d of %d are gone", lost(others), len(others))
	}
	chattest.Same(t, "loaded by the other", b.LoadedNames())
	if view := b.View(); !strings.Contains(view[0].Text, "<available_skills>") {
		t.Errorf("the session did not go on: %s", chattest.Shown(view))
	}
	a.Calls("skill_load s0")
	if lost(pinned(a)) != 0 {
		t.Error("loaded again, but not pinned")
	}
}
