package chattest

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// Files is a file system like any other, also after skills were added and removed.
func TestFiles(t *testing.T) {
	w := NewWorld(2)
	w.Add("later")
	w.Remove("s0")
	if err := fstest.TestFS(w.Files, "s1/SKILL.md", "s1/d2.md", "later/data.csv"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(w.Files, "s0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed skill: %v", err)
	}
}
