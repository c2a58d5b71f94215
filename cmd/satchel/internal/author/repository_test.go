package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/archive"
)

// TestInstallFromALargeRepository: a small repository whose files would be large, or
// many, is refused before any of them is written.
func TestInstallFromALargeRepository(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is missing:", err)
	}
	base := t.TempDir()
	for name, c := range map[string]struct {
		levels, names, size int
		want                string
	}{
		"large":      {1, 300, 1 << 20, "its files have more than 268435456 bytes"},
		"many":       {1, 10_001, 1, "it has more than 10000 files and folders"},
		"deep, many": {10, 10, 1, "it has more than 10000 files and folders"},
		"deep":       {60, 1, 1, "it is deeper than 32 folders"},
	} {
		repo := filepath.Join(base, strings.ReplaceAll(name, " ", "")+".git")
		run := func(stdin string, args ...string) string {
			t.Helper()
			cmd := exec.Command(git, append([]string{"--git-dir", repo}, args...)...)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			cmd.Stdin = strings.NewReader(stdin)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return strings.TrimSpace(string(out))
		}
		run("", "init", "-q", "--bare")
		mode, kind, at := "100644", "blob", run(strings.Repeat("\x00", c.size), "hash-object", "-w", "--stdin")
		for range c.levels {
			var tree strings.Builder
			for n := range c.names {
				fmt.Fprintf(&tree, "%s %s %s\tn%d\n", mode, kind, at, n)
			}
			mode, kind, at = "040000", "tree", run(tree.String(), "mktree")
		}
		run("", "update-ref", "HEAD", run("", "commit-tree", "-m", "x", at))
		temp := t.TempDir()
		if dir, err := checkOut(t.Context(), repo, temp); !errors.Is(err, archive.ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q, %v", name, dir, err)
		}
		written := int64(0)
		err := filepath.WalkDir(temp, func(_ string, d fs.DirEntry, err error) error {
			if info, infoErr := d.Info(); err == nil && infoErr == nil && !d.IsDir() {
				written += info.Size()
			}
			return err
		})
		if err != nil || written > 4<<20 {
			t.Errorf("%s: %d bytes were written, %v", name, written, err)
		}
	}
}
