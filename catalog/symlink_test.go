package catalog

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// symlink creates a link and its parent directory. On Windows without the right to create links it
// skips the test.
func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}
