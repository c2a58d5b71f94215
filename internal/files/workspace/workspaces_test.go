package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestOpenChecksOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for name, opt := range map[string]workspace.Option{
		"no bytes":       workspace.WithMaxBytes(0),
		"no file bytes":  workspace.WithMaxFileBytes(-1),
		"negative total": workspace.WithMaxTotalBytes(-1),
		"negative idle":  workspace.WithIdle(-1),
		"nil logger":     workspace.WithLogger(nil),
		"relative host":  workspace.WithHostDirs("data"),
		"missing host":   workspace.WithHostDirs(filepath.Join(filepath.Dir(file), "missing")),
		"host is a file": workspace.WithHostDirs(file),
		"keep, no base":  workspace.WithKeep(),
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := workspace.Open(t.Context(), "", opt); err == nil {
				w.Close()
				t.Error("no error")
			}
		})
	}
}

// TestSeenAt checks that only commands that see a workspace at its own path need one that PATH can hold.
func TestSeenAt(t *testing.T) {
	w, err := workspace.Open(t.Context(), filepath.Join(t.TempDir(), "a"+string(filepath.ListSeparator)+"b"))
	must(t, err)
	defer w.Close()
	ws := of(t, w, "s")
	if at, err := workspace.SeenAt("/workspace", ws); err != nil || at != "/workspace" {
		t.Errorf("elsewhere: %q, %v", at, err)
	}
	if at, err := workspace.SeenAt("", ws); err == nil || !strings.Contains(err.Error(), "PATH") || at != "" {
		t.Errorf("at its own path: %q, %v", at, err)
	}
	if last := workspace.LastPath(ws.Path()); last != "" {
		t.Errorf("the last directory of PATH is %q", last)
	}
}

func TestOpenWithoutBase(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, err := workspace.Open(t.Context(), "")
	must(t, err)
	ws := of(t, w, "s")
	private := filepath.Dir(filepath.Dir(ws.Path()))
	info, err := os.Stat(private)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode is %v", info.Mode())
	}
	must(t, w.Close())
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

func TestOf(t *testing.T) {
	w := open(t)
	t.Run("layout", func(t *testing.T) {
		ws := of(t, w, "../../etc\x00")
		if ws.Session() != "../../etc\x00" {
			t.Errorf("session %q", ws.Session())
		}
		for _, dir := range []string{"skills", "work/inputs", "out", "runs/home", "runs/tmp"} {
			info, err := os.Lstat(filepath.Join(ws.Path(), dir))
			if err != nil || !info.IsDir() {
				t.Errorf("%s: %v, %v", dir, info, err)
			}
			if _, err := ws.Root().Stat(dir); err != nil {
				t.Errorf("root: %v", err)
			}
		}
	})
	t.Run("sessions are apart", func(t *testing.T) {
		if of(t, w, "a").Path() == of(t, w, "A").Path() {
			t.Error("one path for two sessions")
		}
	})
	t.Run("empty session", func(t *testing.T) {
		if _, err := w.Of(t.Context(), ""); !errors.Is(err, workspace.ErrName) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("ended context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := w.Of(ctx, "late"); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("concurrent calls", func(t *testing.T) {
		var wg sync.WaitGroup
		got := make([]workspace.Workspace, 32)
		for i := range got {
			wg.Go(func() { got[i], _ = w.Of(context.Background(), "same") })
		}
		wg.Wait()
		for _, ws := range got {
			if ws == nil || ws != got[0] {
				t.Fatalf("workspaces %p and %p", ws, got[0])
			}
		}
	})
}

func TestEnd(t *testing.T) {
	w := open(t)
	ws := of(t, w, "s")
	write(t, filepath.Join(ws.Path(), "out/a"), "a")
	must(t, w.End("s"))
	if read(t, filepath.Join(ws.Path(), "out/a")) != "a" {
		t.Error("a workspace in use was removed")
	}
	next := of(t, w, "s")
	if next == ws || next.Path() == ws.Path() {
		t.Error("the ended workspace was given out again")
	}
	ws.Release()
	if _, err := os.Stat(filepath.Dir(ws.Path())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("not removed with the last release: %v", err)
	}
	next.Release()
	must(t, w.End("s"))
	if _, err := os.Stat(next.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("not removed at once: %v", err)
	}
	must(t, w.End("never seen"))
	if _, _, err := ws.Stage(t.Context(), pdf, "1", pdfFiles()); !errors.Is(err, workspace.ErrClosed) {
		t.Errorf("stage after the end: %v", err)
	}
}

func TestClose(t *testing.T) {
	base := t.TempDir()
	w, err := workspace.Open(t.Context(), base)
	must(t, err)
	stage(t, of(t, w, "in use"), pdf, "1", pdfFiles())
	must(t, w.Close())
	must(t, w.Close())
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, error %v", left, err)
	}
	if _, err := w.Of(t.Context(), "s"); !errors.Is(err, workspace.ErrClosed) {
		t.Errorf("of after close: %v", err)
	}
}

func TestSweep(t *testing.T) {
	w := open(t, workspace.WithIdle(20*time.Millisecond))
	used, idle := of(t, w, "used"), of(t, w, "idle")
	idle.Release()
	deadline := time.Now().Add(time.Minute)
	for { // no further call triggers the removal
		if _, err := os.Stat(idle.Path()); errors.Is(err, os.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("an idle workspace stays")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := os.Stat(used.Path()); err != nil {
		t.Errorf("a workspace in use was removed: %v", err)
	}
	again := of(t, w, "idle")
	if _, err := os.Stat(again.Path()); err != nil {
		t.Errorf("no new workspace after the sweep: %v", err)
	}

	slow := open(t, workspace.WithIdle(time.Hour))
	of(t, slow, "fresh").Release()
	if n, err := slow.Sweep(); n != 0 || err != nil {
		t.Errorf("swept %d, error %v", n, err)
	}
	never := open(t, workspace.WithIdle(0))
	of(t, never, "s").Release()
	if n, err := never.Sweep(); n != 0 || err != nil {
		t.Errorf("swept %d, error %v", n, err)
	}
}

// TestOnSweep: notify is called for each workspace that was removed as idle,
// including one of an earlier process, and for no other.
func TestOnSweep(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	of(t, first, "kept")
	must(t, first.Close())
	w, err := workspace.Open(t.Context(), base, workspace.WithKeep(), workspace.WithIdle(time.Hour))
	must(t, err)
	t.Cleanup(func() {
		must(t, w.End("used"))
		must(t, w.Close())
	})
	told := map[string]int{}
	w.OnSweep(func(s workspace.Removal) {
		if s.Err != nil || s.Took < 0 {
			t.Errorf("told %+v", s)
		}
		told[s.Session]++
	})
	stop := w.OnSweep(func(s workspace.Removal) { t.Errorf("told of %q after the stop", s.Session) })
	stop()
	of(t, w, "used")
	of(t, w, "idle").Release()
	of(t, w, "ended").Release()
	must(t, w.End("ended"))
	workspace.Age(w, 2*time.Hour)
	if n, err := w.Sweep(); n != 2 || err != nil {
		t.Errorf("swept %d, error %v", n, err)
	}
	if diff := differ(map[string]int{"idle": 1, "kept": 1}, told); diff != "" {
		t.Error(diff)
	}
	of(t, w, "used").Release()
}

// TestOpenLeavesOthersAlone: neither a living process nor a stranger loses
// anything when somebody opens the same base.
func TestOpenLeavesOthersAlone(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(t.Context(), base)
	must(t, err)
	defer first.Close()
	ws := of(t, first, "s")
	write(t, filepath.Join(ws.Path(), "out/a"), "a")
	target, check := outside(t)
	must(t, os.Symlink(target, filepath.Join(base, "satchel-ws-link")))
	write(t, filepath.Join(base, "satchel-ws-shared/lock"), "")
	write(t, filepath.Join(base, "satchel-ws-shared/data"), "mine")
	must(t, os.Chmod(filepath.Join(base, "satchel-ws-shared"), 0o777))
	write(t, filepath.Join(base, "satchel-ws-unlocked/data"), "mine")
	must(t, os.Chmod(filepath.Join(base, "satchel-ws-unlocked"), 0o700))
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(base, "satchel-ws-unlocked"), old, old))

	second, err := workspace.Open(t.Context(), base, workspace.WithLogger(quiet()))
	must(t, err)
	if read(t, filepath.Join(ws.Path(), "out/a")) != "a" {
		t.Error("a living process lost a file")
	}
	must(t, second.Close())
	for _, file := range []string{"satchel-ws-shared/data", "satchel-ws-unlocked/data"} {
		if read(t, filepath.Join(base, file)) != "mine" {
			t.Errorf("%s was changed", file)
		}
	}
	check()
}

func TestKeep(t *testing.T) {
	base := t.TempDir()
	store := workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a.csv": {"v0"}}}}
	pinned := []workspace.Input{{From: "artifact://a.csv", Pin: true}}
	attached := []workspace.Attachment{{Name: "a.csv", Data: []byte("attached")}}

	first, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	ws := of(t, first, "s")
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	write(t, filepath.Join(ws.Path(), dir, ".venv/bin/tool"), "installed")
	_, _, err = ws.Inputs(t.Context(), pinned, store)
	must(t, err)
	_, _, err = ws.Attach(t.Context(), attached, store)
	must(t, err)
	write(t, filepath.Join(ws.Path(), "out/a"), "a")
	half := []string{
		"work/inputs/.satchel-new-1", "out/.satchel-new-2", "out/deep/er/.satchel-new-3", "work/.satchel-new-4",
		"runs/tmp/.satchel-new-5", "../control/.satchel-new-8", "skills/.satchel-new-6/SKILL.md", "skills/.satchel-old-7/SKILL.md",
	}
	for _, file := range half {
		write(t, filepath.Join(ws.Path(), file), "half")
	}
	write(t, filepath.Join(ws.Path(), "out/satchel-new-1"), "of a command")
	of(t, first, "forgotten")
	must(t, first.Close())

	second, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	store.Artifacts.(*memoryArtifacts).versions["a.csv"] = []string{"v0", "v1"}
	again := of(t, second, "s")
	files := pdfFiles()
	if same, staged := stage(t, again, pdf, "1", files); !staged || same != dir {
		t.Errorf("what another process staged was believed: %t, %q", staged, same)
	}
	if got := read(t, filepath.Join(again.Path(), dir, ".venv/bin/tool")); got != "installed" {
		t.Errorf(".venv has %q", got)
	}
	if read(t, filepath.Join(again.Path(), "out/a")) != "a" {
		t.Error("a result is lost")
	}
	_, _, err = again.Inputs(t.Context(), pinned, store)
	must(t, err)
	if got := read(t, filepath.Join(again.Path(), "work/inputs/a.csv")); got != "v0" {
		t.Errorf("pinned version is %q", got)
	}
	got, _, err := again.Attach(t.Context(), attached, store)
	must(t, err)
	if len(got) != 1 || got[0].Name != "work/inputs/a_2.csv" {
		t.Errorf("attached %v", got)
	}
	for _, file := range half {
		if _, err := os.Stat(filepath.Join(again.Path(), file)); err == nil {
			t.Errorf("%s stays", file)
		}
	}
	if read(t, filepath.Join(again.Path(), "out/satchel-new-1")) != "of a command" {
		t.Error("a file of a command is lost")
	}
	must(t, second.End("forgotten"))
	must(t, second.Close())

	third, err := workspace.Open(t.Context(), base) // opened without WithKeep
	must(t, err)
	must(t, third.Close())
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

// Opening a workspace looks at a bounded number of entries, however many a
// command has left.
func TestTidyIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		write(t, filepath.Join(dir, fmt.Sprintf("d%d/deep/.satchel-new-1", i)), "half")
	}
	must(t, os.Symlink("..", filepath.Join(dir, "up")))
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	count := func() (n int) {
		for path := range tree(t, dir) {
			if strings.HasSuffix(path, ".satchel-new-1") {
				n++
			}
		}
		return n
	}
	if left := workspace.Tidy(root, 41+20); left > 0 || count() != 30 {
		t.Errorf("%d entries to go, %d files are left", left, count())
	}
	if left := workspace.Tidy(root, 1000); left != 1000-41-40-30 || count() != 0 {
		t.Errorf("%d entries to go, %d files are left", left, count())
	}
}

func TestKeepWithDamagedState(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(t.Context(), base, workspace.WithKeep())
	must(t, err)
	ws := of(t, first, "s")
	store := workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a.csv": {"v0"}}}}
	pinned := []workspace.Input{{From: "artifact://a.csv", Pin: true}}
	_, _, err = ws.Inputs(t.Context(), pinned, store)
	must(t, err)
	must(t, first.Close())
	write(t, filepath.Join(filepath.Dir(ws.Path()), "control/state.json"), strings.Repeat("{", 100))
	store.Artifacts.(*memoryArtifacts).versions["a.csv"] = []string{"v0", "v1"}

	second, err := workspace.Open(t.Context(), base, workspace.WithKeep(), workspace.WithLogger(quiet()))
	must(t, err)
	again := of(t, second, "s")
	_, _, err = again.Inputs(t.Context(), pinned, store)
	must(t, err)
	if got := read(t, filepath.Join(again.Path(), "work/inputs/a.csv")); got != "v1" {
		t.Errorf("the pin outlived its state: %q", got)
	}
	again.Release()
	must(t, second.End("s"))
	must(t, second.Close())
}

// TestOpenEnded: with a context that has ended, Open makes nothing and removes nothing.
func TestOpenEnded(t *testing.T) {
	base := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w, err := workspace.Open(ctx, base); !errors.Is(err, context.Canceled) || w != nil {
		t.Errorf("%v, %v", w, err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
