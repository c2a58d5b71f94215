//go:build unix

package catalog

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
)

// hostile creates a root with one good skill. In its other folders SKILL.md is a pipe, a device, a
// directory, a link and so on.
func hostile(t *testing.T) (root, outside string) {
	t.Helper()
	base := t.TempDir()
	root, outside = filepath.Join(base, "r"), filepath.Join(base, "outside")
	write(t, base, map[string]string{
		"outside/SKILL.md":  skillText("outside", "Must not be read.", "Secret.\n"),
		"outside/secret.md": "secret",
		"r/good/SKILL.md":   skillText("good", "Is good.", "Body.\n"),
		"r/good/real.md":    "real",
		"r/target.md":       skillText("linked", "Is a link inside the root.", "Body.\n"),
		"r/sparse/SKILL.md": skillText("sparse", "Is huge.", ""),
		"r/.keep":           "",
	})
	if err := os.Truncate(filepath.Join(root, "sparse/SKILL.md"), 1<<40); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"absolute/SKILL.md": filepath.Join(outside, "SKILL.md"),
		"relative/SKILL.md": "../../outside/SKILL.md",
		"dangling/SKILL.md": "nowhere",
		"loop/SKILL.md":     "SKILL.md",
		"linked/SKILL.md":   "../target.md",
		"device/SKILL.md":   "/dev/zero",
		"dirs/out":          outside,
		"dirs/in":           "../good",
		"good/inside.md":    "real.md",
		"good/sibling.md":   "../target.md",
		"good/secret.md":    "../../outside/secret.md",
		"good/dangling.md":  "nowhere.md",
		"good/folder.md":    "../linked",
	} {
		full := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, full); err != nil {
			t.Fatal(err)
		}
	}
	for _, pipe := range []string{"pipe/SKILL.md", "good/pipe.md"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, pipe)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(root, pipe), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, outside
}

func TestHostileFiles(t *testing.T) {
	root, _ := hostile(t)
	for kind, r := range map[string]source.Root{"Dir": source.Dir(root), "DirFS": source.FS("r", os.DirFS(root))} {
		t.Run(kind, func(t *testing.T) {
			// The context ends the test if it would otherwise hang.
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c, err := Open(ctx, []source.Root{r})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			skills, findings := summary(c.Snapshot())
			same(t, "skills", []string{"good@r/good/SKILL.md", "linked@r/linked/SKILL.md"}, skills)
			same(t, "findings", []string{
				"error unreadable r/absolute/SKILL.md",
				"error unreadable r/dangling/SKILL.md",
				"error unreadable r/device/SKILL.md",
				"warning link-not-followed r/dirs/in",
				"error unreadable r/loop/SKILL.md",
				"error unreadable r/pipe/SKILL.md",
				"error unreadable r/relative/SKILL.md",
				"error unreadable r/sparse/SKILL.md",
			}, findings)
			docs, err := c.Docs(ctx, "good")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "docs", []string{"inside.md", "real.md", "sibling.md"}, docs)
			for file, want := range map[string]error{
				"secret.md": ErrPath, "dangling.md": fs.ErrNotExist, "folder.md": scan.ErrNotRegular, "pipe.md": scan.ErrNotRegular,
				"inside.md": nil, "sibling.md": nil, "../dirs/in/real.md": ErrPath, "../dirs/out/secret.md": ErrPath,
			} {
				if _, err := c.ReadFile(ctx, "good", file); !errors.Is(err, want) {
					t.Errorf("ReadFile(%q): %v, want %v", file, err, want)
				}
			}
		})
	}
}

func TestSocketIsNoSkill(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // a relative path, because the absolute one can be too long for a socket
	l, err := net.Listen("unix", "SKILL.md")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	if d := c.Snapshot().Diagnostics(); len(d) != 2 || d[0].Code != CodeUnreadable || d[1].Code != CodeNoSkills {
		t.Errorf("diagnostics %v", d)
	}
}

// TestPipeTakesThePlace opens a file that has become a pipe after the check.
func TestPipeTakesThePlace(t *testing.T) {
	root, _ := hostile(t)
	tr, err := scan.OpenTree(scan.Place{Path: root}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	done := make(chan error, 1)
	go func() {
		_, _, err := scan.OpenChecked(tr, "pipe/SKILL.md", 1<<20)
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, scan.ErrNotRegular) {
			t.Errorf("error %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("open waits for the other end of the pipe")
	}
	if _, _, err := tr.ReadDir("pipe/SKILL.md", 10); err == nil {
		t.Error("a pipe is listed as a directory")
	}
}

func TestUnreadableDirectory(t *testing.T) {
	root, _ := hostile(t)
	locked := filepath.Join(root, "good")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(locked, 0o755)
	c := mustOpen(t, []source.Root{source.Dir(root)})
	if os.Geteuid() == 0 {
		if _, ok := c.Snapshot().Skill("good"); !ok {
			t.Error("root may read everything, but the skill is missing")
		}
		return
	}
	if _, ok := c.Snapshot().Skill("linked"); !ok {
		t.Error("a locked directory hides another skill")
	}
	found := false
	for _, d := range c.Snapshot().Diagnostics() {
		found = found || d.File == "r/good" && d.Code == CodeUnreadable
	}
	if !found {
		t.Errorf("no finding about the locked directory: %v", c.Snapshot().Diagnostics())
	}
}

func TestRootIsAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := Open(t.Context(), []source.Root{source.Dir(pipe)}); err == nil {
		c.Close()
		t.Error("a pipe is a root")
	}
}
