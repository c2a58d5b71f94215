package run

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/internal/files/deps"
)

// TestNodeOptions has two environments: one hook is enough for the ES modules of both. One of an
// earlier version has none.
func TestNodeOptions(t *testing.T) {
	var found deps.Status
	var dirs []string
	for range 2 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "esm.cjs"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		found.Environments = append(found.Environments, deps.Environment{Kind: deps.Node, Dir: dir})
	}
	want := []string{"NODE_PATH=" + dirs[0] + string(filepath.ListSeparator) + dirs[1], `NODE_OPTIONS=--require="` + filepath.Join(dirs[1], "esm.cjs") + `"`}
	if got := dependencyVars(found, nil, nil); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	old := deps.Status{Environments: []deps.Environment{{Kind: deps.Node, Dir: t.TempDir()}}}
	if got := dependencyVars(old, nil, nil); len(got) != 1 {
		t.Errorf("without a hook: %q", got)
	}
}
