//go:build unix

package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/library"
)

// TestManifestIsPipe checks that a pipe instead of plugin.json is an error, with or without a
// writer. The read must not block.
func TestManifestIsPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".claude-plugin"), 0o700); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, ".claude-plugin", "plugin.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(what string) {
		t.Helper()
		if _, err := library.OpenPlugin(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "a named pipe") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("nobody writes")
	w, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	refused("somebody could write")
}
