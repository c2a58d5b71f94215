//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]func(dir string) error{"stage": stageForever})
}

// crashFiles is a skill in which every file contains the digest.
func crashFiles(digest string) *skillFiles {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("dir%d/file%d", i%4, i)] = digest + strings.Repeat(".", 2000)
	}
	return &skillFiles{files: files}
}

func stageForever(base string) error {
	ctx := context.Background()
	w, err := workspace.Open(context.Background(), base, workspace.WithKeep())
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		ws, err := w.Of(ctx, "crash")
		if err != nil {
			return err
		}
		digest := fmt.Sprint(os.Getpid(), "-", i)
		if _, _, err := ws.Stage(ctx, pdf, digest, crashFiles(digest)); err != nil {
			return err
		}
		if i == 0 {
			fmt.Println(ws.Path())
		}
		ws.Release()
	}
}

// startStaging starts a child and returns it once it is staging, with the path of
// its workspace.
func startStaging(t *testing.T, base string) (*crashtest.Child, string) {
	t.Helper()
	child := crashtest.Start(t, "stage", base)
	if !child.Lines.Scan() {
		t.Fatalf("the child ended: %v", child.Wait())
	}
	return child, child.Lines.Text()
}

// TestCrashWhileStaging kills a process at random moments. What it leaves in
// place is complete, nothing else remains, and the next process does not trust
// it.
func TestCrashWhileStaging(t *testing.T) {
	base := t.TempDir()
	for round := range 12 {
		crashtest.Start(t, "stage", base).KillWithin(t, 30*time.Millisecond, func(string) {})

		w, err := workspace.Open(t.Context(), base, workspace.WithKeep(), workspace.WithLogger(quiet()))
		must(t, err)
		ws := of(t, w, "crash")
		whole(t, round, ws)
		ws.Release()
		must(t, w.Close())
	}
	empty(t, base)
}

// empty opens base as a host that keeps nothing, and checks that everything is
// removed.
func empty(t *testing.T, base string) {
	t.Helper()
	w, err := workspace.Open(t.Context(), base)
	must(t, err)
	must(t, w.Close())
	left, err := os.ReadDir(base)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// whole checks that all files of one digest are in place, or none at all.
func whole(t *testing.T, round int, ws *workspace.Local) {
	t.Helper()
	names := staged(t, ws)
	for _, name := range names {
		if name != "pdf" {
			t.Errorf("round %d: left %s", round, name)
		}
	}
	digest := "none"
	if len(names) > 0 {
		digest = strings.Trim(read(t, filepath.Join(ws.Path(), "skills/pdf/dir0/file0")), ".")
		for file, content := range crashFiles(digest).files {
			if got := read(t, filepath.Join(ws.Path(), "skills/pdf", file)); got != content {
				t.Fatalf("round %d: %s of digest %s is %.40q", round, file, digest, got)
			}
		}
	}
	if _, done := stage(t, ws, pdf, digest, crashFiles(digest)); !done {
		t.Errorf("round %d: what a dead process left was believed", round)
	}
}

// TestSweepAtOpen: a living process loses nothing, a killed one everything.
func TestSweepAtOpen(t *testing.T) {
	base := t.TempDir()
	alive, alivePath := startStaging(t, base)
	dead, deadPath := startStaging(t, base)
	dead.Kill(t)
	w, err := workspace.Open(t.Context(), base)
	must(t, err)
	if _, err := os.Stat(alivePath); err != nil {
		t.Errorf("a living process lost its workspace: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(deadPath))); !os.IsNotExist(err) {
		t.Errorf("what a killed process left is there: %v", err)
	}
	alive.Kill(t)
	must(t, w.Close())
	empty(t, base)
}

// TestCloseUnlocksAtOnce: until its exec a new child process has copies of all open files. Its
// copy of the lock must not make a closed directory look used.
func TestCloseUnlocksAtOnce(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	path := of(t, first, "kept").Path()
	must(t, os.WriteFile(filepath.Join(path, "work", "data.txt"), []byte("kept"), 0o600))
	inherited, err := syscall.Dup(int(workspace.LockFile(first).Fd()))
	must(t, err)
	defer syscall.Close(inherited)
	must(t, first.Close())

	second, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	defer second.Close()
	text, err := os.ReadFile(filepath.Join(of(t, second, "kept").Path(), "work", "data.txt"))
	if string(text) != "kept" {
		t.Errorf("the workspace that was kept has %q, error %v", text, err)
	}
}
