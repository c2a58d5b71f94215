//go:build unix

package remote

import (
	"os"
	"path/filepath"
	"testing"
)

// link returns a path that leads over a link.
func link(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "link")
}

func TestIdentity(t *testing.T) {
	over := link(t)
	dir, err := filepath.EvalSymlinks(over)
	if err != nil {
		t.Fatal(err)
	}
	below, file := filepath.Join(dir, "below"), filepath.Join(dir, "file")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	seen := see(below)
	if seen.Error != "" || seen.Ino == 0 || seen != see(below+"/../below/") || seen == see(dir) {
		t.Errorf("%+v", seen)
	}
	if err := compare(Identity{At: below, Dev: seen.Dev, Ino: seen.Ino}, seen); err != nil {
		t.Error(err)
	}
	if root := see("/"); root.Error != "" {
		t.Errorf("the root: %+v", root)
	}
	for _, path := range []string{over, filepath.Join(over, "below"), file, filepath.Join(dir, "none"), "relative", ""} {
		if seen := see(path); seen.Error == "" {
			t.Errorf("%q: %+v", path, seen)
		}
	}
}
