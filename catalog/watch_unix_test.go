//go:build unix

package catalog

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
)

// The watch follows a root that a deployment swaps, and one that was removed and came back.
func TestWatchFollowsTheRoot(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"v1/skills/pdf/SKILL.md": skillText("pdf", "Version 1.", ""),
		"v2/skills/pdf/SKILL.md": skillText("pdf", "Version 2.", ""),
	})
	point := func(target string) {
		t.Helper()
		link := filepath.Join(base, "next")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(base, "current")); err != nil {
			t.Fatal(err)
		}
	}
	point("v1")
	c := mustOpen(t, []source.Root{source.Dir(filepath.Join(base, "current", "skills"))})
	_, wait := watchCatalog(t, c, WatchOptions{Quiet: 10 * time.Millisecond, Latest: 100 * time.Millisecond})
	wait("pdf", "Version 1.")
	point("v2")
	wait("pdf", "Version 2.")
	write(t, base, map[string]string{"v2/skills/pdf/SKILL.md": skillText("pdf", "Version 3.", "")})
	wait("pdf", "Version 3.")
	dir := filepath.Join(base, "v2", "skills")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	write(t, base, map[string]string{"v2/skills.away/pdf/SKILL.md": skillText("pdf", "Version 4.", "")})
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	wait("pdf", "Version 4.")
	write(t, base, map[string]string{"v2/skills/pdf/SKILL.md": skillText("pdf", "Version 5.", "")})
	wait("pdf", "Version 5.")
}

// The target of a link is watched too.
func TestWatchFollowsLinks(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		".git/HEAD":            "",
		"claude/own/SKILL.md":  skillText("own", "Is here.", ""),
		"agents/far/SKILL.md":  skillText("far", "Version 1.", ""),
		"agents/late/SKILL.md": skillText("late", "Is linked later.", ""),
	})
	dir := filepath.Join(base, "claude")
	link := func(name string) {
		t.Helper()
		if err := os.Symlink(filepath.Join("..", "agents", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("far")
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	_, wait := watchCatalog(t, c, WatchOptions{Quiet: 10 * time.Millisecond, Latest: 100 * time.Millisecond})
	write(t, base, map[string]string{"agents/far/SKILL.md": skillText("far", "Version 2.", "")})
	wait("far", "Version 2.")
	link("late")
	wait("late", "Is linked later.")
	write(t, base, map[string]string{"agents/late/SKILL.md": skillText("late", "Is watched.", "")})
	wait("late", "Is watched.")
}
