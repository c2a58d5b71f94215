package satchel_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// Clear drops the texts of what it unloads, but for those that another agent has
// loaded, and the session goes on.
func TestClearDropsPins(t *testing.T) {
	store := session.NewMemory()
	r := open(t, newWorld(3).files, satchel.WithStore(store), satchel.WithLoadMode(loadmode.Session))
	a, b := newChat(t, r).say(core.User, "one"), newChat(t, r).say(core.User, "two")
	b.key.Agent = "other"
	pinned := func(c *chat) (digests []string) {
		rec, err := store.Load(t.Context(), c.key)
		if err != nil {
			t.Fatal(err)
		}
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
	a.calls("skill_load s0", `skill_load {"skill":"s1","docs":["d1.md"]}`)
	b.calls("skill_load s1")
	of, others := pinned(a), pinned(b)
	if lost(of) != 0 || lost(others) != 0 {
		t.Fatal("what is loaded is not pinned")
	}
	if err := r.Clear(satchel.WithKey(t.Context(), a.key)); err != nil {
		t.Fatal(err)
	}
	// Gone are the body of s0 and the doc: active and delivered, and delivered.
	if lost(of) != 3 || lost(others) != 0 || lost(pinned(a)) != 0 {
		t.Errorf("after the first, %d of %d and %d of %d are gone", lost(of), len(of), lost(others), len(others))
	}
	same(t, "loaded", a.loadedNames())
	same(t, "loaded by the other", b.loadedNames(), "s1[]")
	same(t, "in view", where(a.view()))

	if err := r.Clear(satchel.WithSession(t.Context(), "chat")); err != nil {
		t.Fatal(err)
	}
	if kept := pinned(b); len(others)-lost(others) != len(kept) || lost(kept) != 0 {
		t.Errorf("after the second, %d of %d are gone", lost(others), len(others))
	}
	same(t, "loaded by the other", b.loadedNames())
	if view := b.view(); !strings.Contains(view[0].Text, "<available_skills>") {
		t.Errorf("the session did not go on: %s", shown(view))
	}
	a.calls("skill_load s0")
	if lost(pinned(a)) != 0 {
		t.Error("loaded again, but not pinned")
	}
}

// Clear removes the workspace unless another agent of the session needs it.
func TestClearDropsTheWorkspace(t *testing.T) {
	places, err := workspace.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, tools.Runner{Workspaces: places}, satchel.WithLoadMode(loadmode.Session))
	other := *b
	other.key.Agent = "other"
	path := func() string {
		return strings.TrimSpace(b.run(`{"skill":"demo","command":"echo x > work/x; pwd -P"}`).Stdout)
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	clearing := func(key core.SessionKey) {
		t.Helper()
		ctx := satchel.WithKey(t.Context(), key)
		if key.Agent == "" {
			ctx = satchel.WithSession(t.Context(), key.Session)
		}
		if err := b.rt.Clear(ctx); err != nil {
			t.Fatal(err)
		}
	}
	first := path()
	other.call("skill_load", `{"skill":"plain"}`)
	if clearing(b.key); !there(first) {
		t.Error("gone, and another agent has a skill loaded")
	}
	if clearing(other.key); there(first) {
		t.Error("there, and nobody has anything loaded")
	}
	b.call("skill_load", `{"skill":"demo"}`)
	other.call("skill_load", `{"skill":"demo"}`)
	second := path()
	if clearing(core.SessionKey{Session: b.key.Session}); second == first || there(second) {
		t.Error("there, and the whole session was cleared")
	}
	b.call("skill_load", `{"skill":"demo"}`)
	other.call("skill_load", `{"skill":"demo"}`)
	third := path()
	other.call("skill_exec", `{"skill":"demo","command":"cat","yield_ms":0}`)
	other.call("skill_unload", `{"all":true}`)
	if clearing(b.key); !there(third) {
		t.Error("gone, and a command of another agent goes on")
	}
	if clearing(other.key); there(third) {
		t.Error("there after the command has ended")
	}
}
