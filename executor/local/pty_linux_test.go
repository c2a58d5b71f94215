package local_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// TestHostGetsNoTerminal starts commands on terminals from a process that leads a session
// without one, as a daemon does. Opening a terminal carelessly would make it the daemon's own,
// and its end would send the daemon SIGHUP.
func TestHostGetsNoTerminal(t *testing.T) {
	const variable = "SATCHEL_TEST_DAEMON"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHostGetsNoTerminal$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestHostGetsNoTerminal") {
			t.Fatalf("as a daemon: %v\n%s", err, out)
		}
		return
	}
	noTerminal(t)
	for range 3 {
		p, err := newLocal(t).Start(t.Context(), script(t.TempDir(), "test -t 0; exit $?"), executor.Terminal{TTY: true})
		if err != nil {
			t.Fatal(err)
		}
		noTerminal(t)
		if r, err := p.Wait(t.Context()); err != nil || r.ExitCode != 0 {
			t.Errorf("Wait: got %+v, error %v, want ExitCode 0", r, err)
		}
		noTerminal(t)
	}
}

func noTerminal(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if !errors.Is(err, syscall.ENXIO) {
		t.Errorf("the host has a controlling terminal: %v, %v", f, err)
	}
}

// TestTerminalHeldByAStray ends a command of which one process is not found and holds the terminal.
// Wait must not wait for it.
func TestTerminalHeldByAStray(t *testing.T) {
	dir := t.TempDir()
	p, err := newLocal(t).Start(t.Context(), script(dir, "echo $$ > new; mv new pid; exec sleep 300"), executor.Terminal{TTY: true})
	if err != nil {
		t.Fatal(err)
	}
	var pid []byte
	for deadline := time.Now().Add(time.Minute); len(pid) == 0; time.Sleep(time.Millisecond) {
		if pid, err = os.ReadFile(filepath.Join(dir, "pid")); err != nil && time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	// This file keeps the terminal open, as any other process could.
	held, err := os.OpenFile("/proc/"+strings.TrimSpace(string(pid))+"/fd/0", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	p.Kill()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("the end of the command is held up")
	}
}
