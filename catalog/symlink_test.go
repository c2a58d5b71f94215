package catalog

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// symlink makes a link, and the directory in which it stands. The test is skipped on Windows
// without the right to make links.
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
