package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/workspace"
)

func TestOpenChecksOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for name, opt := range map[string]workspace.Option{
		"no bytes":       workspace.WithMaxBytes(0),
		"no file bytes":  workspace.WithMaxFileBytes(-1),
		"negative idle":  workspace.WithIdle(-1),
		"nil logger":     workspace.WithLogger(nil),
		"relative host":  workspace.WithHostDirs("data"),
		"missing host":   workspace.WithHostDirs(filepath.Join(filepath.Dir(file), "missing")),
		"host is a file": workspace.WithHostDirs(file),
		"keep, no base":  workspace.WithKeep(),
	} {
		t.Run(name, func(t *testing.T) {
			if w, err := workspace.Open("", opt); err == nil {
				w.Close()
				t.Error("no error")
			}
		})
	}
}

func TestOpenWithoutBase(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, err := workspace.Open("")
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
		got := make([]*workspace.Workspace, 32)
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
	w, err := workspace.Open(base)
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
	deadline := time.Now().Add(5 * time.Second)
	for { // by itself
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

// TestOpenLeavesOthersAlone: neither a living process nor a stranger loses
// anything when somebody opens the same base.
func TestOpenLeavesOthersAlone(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(base)
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

	second, err := workspace.Open(base, workspace.WithLogger(quiet()))
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

	first, err := workspace.Open(base, workspace.WithKeep())
	must(t, err)
	ws := of(t, first, "s")
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	write(t, filepath.Join(ws.Path(), dir, ".venv/bin/tool"), "installed")
	_, _, err = ws.Inputs(t.Context(), pinned, store)
	must(t, err)
	_, _, err = ws.Attach(t.Context(), attached, store)
	must(t, err)
	write(t, filepath.Join(ws.Path(), "out/a"), "a")
	write(t, filepath.Join(ws.Path(), "work/inputs/.satchel-new-1"), "half")
	of(t, first, "forgotten")
	must(t, first.Close())

	second, err := workspace.Open(base, workspace.WithKeep())
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
	if _, err := os.Stat(filepath.Join(again.Path(), "work/inputs/.satchel-new-1")); err == nil {
		t.Error("a half-written file stays")
	}
	must(t, second.End("forgotten"))
	must(t, second.Close())

	third, err := workspace.Open(base) // without keeping
	must(t, err)
	must(t, third.Close())
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, error %v", left, err)
	}
}

func TestKeepWithDamagedState(t *testing.T) {
	base := t.TempDir()
	first, err := workspace.Open(base, workspace.WithKeep())
	must(t, err)
	ws := of(t, first, "s")
	store := workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a.csv": {"v0"}}}}
	pinned := []workspace.Input{{From: "artifact://a.csv", Pin: true}}
	_, _, err = ws.Inputs(t.Context(), pinned, store)
	must(t, err)
	must(t, first.Close())
	write(t, filepath.Join(filepath.Dir(ws.Path()), "control/state.json"), strings.Repeat("{", 100))
	store.Artifacts.(*memoryArtifacts).versions["a.csv"] = []string{"v0", "v1"}

	second, err := workspace.Open(base, workspace.WithKeep(), workspace.WithLogger(quiet()))
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
