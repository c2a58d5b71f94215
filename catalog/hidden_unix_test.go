//go:build unix

package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"
)

// A link of another skill to the folder of a hidden one cannot be read.
func TestHiddenSkillsBehindLinks(t *testing.T) {
	dir := t.TempDir()
	for name, text := range hiddenSkills() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "hid", "shared/link": "../hid/in", "fine": "b", "a/own": "../hid", "a/sub": "../shared"} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Open(t.Context(), []source.Root{source.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for path, reads := range map[string]bool{
		"../fine/notes.md": false, "../hid/notes.md": false, "../link/notes.md": false, "../link/in/notes.md": false,
		"../link/SKILL.md": false, "../shared/link/notes.md": false, "../shared/notes.md": false, "own/notes.md": false, "sub/notes.md": true,
	} {
		if _, err := c.ReadFile(t.Context(), "a", path); reads != (err == nil) || !reads && !errors.Is(err, ErrPath) {
			t.Errorf("a reads %s: %v", path, err)
		}
	}
}
