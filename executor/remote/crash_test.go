//go:build unix

package remote_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/remote"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

func script(dir, text string) executor.Command {
	return executor.Command{
		Args: []string{"sh", "-c", text}, Workspace: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Limits: executor.Limits{Timeout: 5 * time.Minute},
	}
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// holder returns a command with a background process that both hold the pipe life of the workspace.
func holder(t *testing.T, dir string) executor.Command {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "life"), 0o600); err != nil {
		t.Fatal(err)
	}
	return script(dir, "exec 3<>life; trap '' HUP TERM; (echo up > up; sleep 300) & wait")
}

// held reports whether a process has the pipe life open for writing.
func held(t *testing.T, dir string) bool {
	t.Helper()
	fd, err := syscall.Open(filepath.Join(dir, "life"), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	_, err = syscall.Read(fd, make([]byte, 1))
	return errors.Is(err, syscall.EAGAIN)
}

// TestARunnerIsKilled kills a runner that has a command of Run and one of Start.
func TestARunnerIsKilled(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			c := newChild(t, kind)
			e := newExecutor(t, c)
			dir := t.TempDir()
			type end struct {
				result executor.Result
				err    error
			}
			ended := make(chan end, 1)
			go func() {
				result, err := e.Run(t.Context(), script(dir, "echo out; echo > up; sleep 300"))
				ended <- end{result, err}
			}()
			await(t, "the command runs", func() bool { return exists(filepath.Join(dir, "up")) })
			p, err := e.Start(t.Context(), script(dir, "cat"), executor.Terminal{})
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(c.last(), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			ran := <-ended
			started, startErr := p.Wait(t.Context())
			for _, got := range []end{ran, {started, startErr}} {
				if got.result.Reason != executor.ReasonLost || !errors.Is(got.err, executor.ErrLost) || !strings.Contains(got.result.Stderr.String(), "look at its files before you run it again") {
					t.Errorf("%+v, %v", got.result, got.err)
				}
			}
			if _, err := p.Write([]byte("x")); err == nil {
				t.Error("a lost process takes input")
			}
			p.Kill()
			if result, err := e.Run(t.Context(), script(dir, "exit 3")); err != nil || result.ExitCode != 3 {
				t.Errorf("the next command: %+v, %v", result, err)
			}
		})
	}
}

// TestTheHostIsGone closes the host's end of a connection. The runner and its commands must be gone in a
// second, or a little more on a busy machine.
func TestTheHostIsGone(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			took := time.Duration(0)
			for range 5 {
				if took = goneAfter(t, kind); took <= time.Second {
					return
				}
			}
			t.Errorf("gone after %v, want at most a second", took)
		})
	}
}

// goneAfter returns how long a command, its background process and its runner live on when the host has
// closed the connection.
func goneAfter(t *testing.T, kind string) time.Duration {
	t.Helper()
	c, dir := newChild(t, kind), t.TempDir()
	cutter := &cutting{Carrier: c}
	e := newExecutor(t, cutter)
	ended := make(chan error, 1)
	go func() {
		_, err := e.Run(t.Context(), holder(t, dir))
		ended <- err
	}()
	await(t, "the command runs", func() bool { return exists(filepath.Join(dir, "up")) && held(t, dir) })
	start := time.Now()
	cutter.cut()
	await(t, "the end of the command", func() bool { return !held(t, dir) })
	await(t, "the end of the runner", func() bool { return errors.Is(syscall.Kill(c.last(), 0), syscall.ESRCH) })
	took := time.Since(start)
	if err := <-ended; !errors.Is(err, executor.ErrLost) {
		t.Errorf("%v", err)
	}
	return took
}

// TestErrorsOfARunner checks the errors of Start that come from the runner.
func TestErrorsOfARunner(t *testing.T) {
	e := newExecutor(t, newChild(t, "local"))
	dir := t.TempDir()
	cmd := script(dir, "true")
	cmd.Secrets = map[string]string{"A": "b"}
	if _, err := e.Start(t.Context(), cmd, executor.Terminal{}); !errors.Is(err, executor.ErrCommand) || !strings.Contains(err.Error(), "needs namespaces") {
		t.Errorf("secrets: %v", err)
	}
	cmd = script(dir, "true")
	cmd.Args = append(cmd.Args, strings.Repeat("x", 1<<20))
	if result, err := e.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
		t.Errorf("a long argument: %s, %v", result.Reason, err)
	}
	if result, err := e.Run(t.Context(), script(dir, "exit 4")); err != nil || result.ExitCode != 4 {
		t.Errorf("the next command: %+v, %v", result, err)
	}
	broken := newExecutor(t, &child{kind: "broken"})
	if _, err := broken.Run(t.Context(), script(dir, "true")); !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "nothing works here") {
		t.Errorf("a runner without executor: %v", err)
	}
}

var _ remote.Carrier = (*cutting)(nil)
