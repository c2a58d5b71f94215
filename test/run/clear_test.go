package run_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/loadmode"
)

// Clear removes the workspace unless another agent of the session needs it.
func TestClearDropsTheWorkspace(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	b := newBench(t, satchel.Runner{Workspaces: places}, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
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
		ctx := adapter.WithKey(t.Context(), key)
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
