//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

func sandboxed(t *testing.T, s *sandbox.Sandbox, cmd executor.Command) executor.Result {
	t.Helper()
	result, err := s.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestOptionsAreChecked(t *testing.T) {
	for name, opt := range map[string]sandbox.Option{
		"relative":           sandbox.WithReadable("opt"),
		"not clean":          sandbox.WithReadable("/opt/../etc"),
		"everything":         sandbox.WithReadable("/"),
		"not there":          sandbox.WithReadable("/no/such/directory"),
		"no temp":            sandbox.WithTemp(0),
		"too many prepared":  sandbox.WithPrepared(65),
		"less than none":     sandbox.WithPrepared(-1),
		"cgroup not there":   sandbox.WithCgroup("/no/such/group"),
		"relative cgroup":    sandbox.WithCgroup("group"),
		"least is none":      sandbox.WithLeast(""),
		"grace of an eon":    sandbox.WithGrace(1 << 62),
		"grace before start": sandbox.WithGrace(-1),
	} {
		s, err := sandbox.Open(t.Context(), opt)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", name)
		} else if !errors.Is(err, sandbox.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSandboxReadable(t *testing.T) {
	tools, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{tools, other} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := newSandbox(t, sandbox.WithReadable(tools), sandbox.WithTemp(1<<20))
	script := "cat '" + tools + "/file'; cat '" + other + "/file'; echo x > '" + tools + "/new'; head -c 2M /dev/zero > /tmp/big"
	result := sandboxed(t, s, executor.Command{Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: t.TempDir()})
	if got := result.Stdout.String(); got != "content" {
		t.Errorf("it read %q", got)
	}
	for _, want := range []string{other + "/file: No such file", "Read-only file system", "No space left"} {
		if got := result.Stderr.String(); !strings.Contains(got, want) {
			t.Errorf("stderr lacks %q: %s", want, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(tools, "new")); err == nil {
		t.Error("it wrote to a readable directory")
	}
}

// TestSandboxSkills checks that the skills are visible at both paths and writable
// at neither.
func TestSandboxSkills(t *testing.T) {
	dir := t.TempDir()
	skill := filepath.Join(dir, "skills", "demo")
	for _, d := range []string{skill, filepath.Join(dir, "out")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../out", filepath.Join(skill, "out")); err != nil {
		t.Fatal(err)
	}
	s := newSandbox(t)
	result := sandboxed(t, s, executor.Command{
		Args: []string{"sh", "-c", `pwd; cd /skills/demo; for at in . /workspace/skills/demo; do touch $at/x || chmod 777 $at || rmdir $at && echo OPEN; echo $at > $at/out/a; cat $at/out/a; done; mv /workspace/skills /workspace/moved && echo MOVED; touch /workspace/new`},
		Env:  []string{"PATH=/usr/bin:/bin"}, Workspace: dir, Dir: "skills/demo", Skills: "skills",
	})
	if got, want := result.Stdout.String(), "/workspace/skills/demo\n.\n/workspace/skills/demo\n"; got != want {
		t.Errorf("stdout %q, want %q; stderr %s", got, want, result.Stderr)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}

func TestSandboxDirectoryOutside(t *testing.T) {
	s := newSandbox(t)
	_, err := s.Run(t.Context(), executor.Command{Args: []string{"true"}, Workspace: t.TempDir(), Dir: "../elsewhere"})
	if !errors.Is(err, executor.ErrCommand) {
		t.Errorf("a directory outside the workspace: %v", err)
	}
}

// TestPrepared runs more commands at once than sandboxes are prepared, each with
// limits of its own. No command sees what another left.
func TestPrepared(t *testing.T) {
	s := newSandbox(t, sandbox.WithPrepared(3))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			cmd := executor.Command{
				Args: []string{"sh", "-c", "ls -A /tmp /dev/shm; id -u; echo x > /tmp/left; echo x > /dev/shm/left; exit 3"},
				Env:  []string{"PATH=/usr/bin:/bin"}, Workspace: t.TempDir(),
			}
			if i%2 == 0 {
				cmd.Limits.Memory = 1 << 30
			}
			result, err := s.Run(t.Context(), cmd)
			if err != nil || result.ExitCode != 3 || !strings.HasSuffix(result.Stdout.String(), "1000\n") || strings.Contains(result.Stdout.String(), "left") {
				t.Errorf("%v, code %d, stdout %q, stderr %s", err, result.ExitCode, result.Stdout, result.Stderr)
			}
		})
	}
	all.Wait()
}

func TestSandboxClosed(t *testing.T) {
	s := newSandbox(t, sandbox.WithPrepared(2))
	dir := t.TempDir()
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Run(t.Context(), executor.Command{Args: []string{"true"}, Workspace: dir})
	if !errors.Is(err, executor.ErrSetup) {
		t.Errorf("after Close: %v", err)
	}
}

// TestCloseEndsCommands closes a sandbox while a command runs.
func TestCloseEndsCommands(t *testing.T) {
	s := newSandbox(t)
	p, err := s.Start(t.Context(), executor.Command{Args: []string{"sleep", "300"}, Env: []string{"PATH=/usr/bin:/bin"}, Workspace: t.TempDir()}, executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	result, err := p.Wait(t.Context())
	if err != nil || result.Signal != "SIGKILL" {
		t.Errorf("Wait: got %+v, error %v, want Signal %q", result, err, "SIGKILL")
	}
}

// TestOpenEndsWithItsContext opens with a context that has ended: no weaker kind of isolation is
// tried in its place.
func TestOpenEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := sandbox.Open(ctx); !errors.Is(err, context.Canceled) {
		if s != nil {
			t.Errorf("opened %s", s.Capabilities().Isolation)
		}
		t.Errorf("%v, want context.Canceled", err)
	}
}
