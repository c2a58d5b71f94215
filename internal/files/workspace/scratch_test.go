package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestScratch(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	ws, err := places.Of(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Release()
	at := func(name string) string { return filepath.Join(ws.Path(), filepath.FromSlash(name)) }
	if err := os.WriteFile(at("skills/.satchel-new-home-2"), nil, 0o600); err != nil { // a command left this file behind
		t.Fatal(err)
	}
	var made []string
	for range 2 {
		dir, err := ws.Scratch("home")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(at(dir))
		if err != nil || len(entries) != 0 {
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
		if err := os.WriteFile(filepath.Join(at(dir), "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		made = append(made, dir)
	}
	if made[0] != "skills/.satchel-new-home" || made[1] != "skills/.satchel-new-home-3" {
		t.Errorf("made are %q", made)
	}
	for _, dir := range append(made, made[0]) {
		if err := ws.Discard(dir); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(at(dir)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	for _, bad := range []string{"", "a/b", "..", "/x"} {
		if _, err := ws.Scratch(bad); !errors.Is(err, workspace.ErrPath) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "skills", "work/x", "skills/../work", "skills/a", "skills/.satchel-new-a/b"} {
		if err := ws.Discard(bad); !errors.Is(err, workspace.ErrPath) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
