package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
)

func script(dir, text string) executor.Command {
	return executor.Command{
		Args: []string{"sh", "-c", text}, Workspace: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Limits: executor.Limits{Timeout: time.Minute},
	}
}

func run(t testing.TB, l *local.Local, cmd executor.Command) executor.Result {
	t.Helper()
	result, err := l.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// checkEnded fails for every process that the command wrote down and that is alive.
func checkEnded(t *testing.T, dir string, want int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(string(text))
	if len(pids) < want {
		t.Fatalf("%d processes wrote their number, want %d", len(pids), want)
	}
	for _, field := range pids {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		stat, _ := os.ReadFile("/proc/" + field + "/stat")
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("process %d lives: %s", pid, stat)
		}
	}
}

// killed cancels a command when so many processes have written their number. It fails the test if one
// of them is alive after that.
func killed(t *testing.T, text string, want int) {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if pids, _ := os.ReadFile(filepath.Join(dir, "pids")); bytes.Count(pids, []byte("\n")) >= want {
				return
			}
		}
	}()
	result, err := newLocal(t).Run(ctx, script(dir, text))
	if err != nil || result.Reason != executor.ReasonCancelled {
		t.Errorf("reason %q, %v", result.Reason, err)
	}
	checkEnded(t, dir, want)
}

func TestKillByNumber(t *testing.T) {
	for name, text := range map[string]string{
		"children":            "for i in 1 2 3; do sleep 300 & echo $! >> pids; done; wait",
		"other groups":        "set -m; for i in 1 2 3; do sleep 300 & echo $! >> pids; done; wait",
		"other sessions":      "for i in 1 2 3; do setsid sh -c 'echo $$ >> pids; exec sleep 300' & done; wait",
		"daemons":             "for i in 1 2 3; do (setsid setsid -f sh -c 'echo $$ >> pids; exec sleep 300' </dev/null >/dev/null 2>&1 &); done; sleep 300",
		"without variables":   "for i in 1 2 3; do env -i /bin/sh -c 'setsid sh -c \"echo \\$\\$ >> pids; exec sleep 300\"' & done; wait",
		"children of orphans": "setsid sh -c '(sh -c \"echo \\$\\$ >> pids; sleep 300 & echo \\$! >> pids; wait\" &)'; echo $$ >> pids; sleep 300",
	} {
		t.Run(name, func(t *testing.T) { killed(t, text, 3) })
	}
}

// TestKillStorm ends a program that starts sessions as fast as it can.
func TestKillStorm(t *testing.T) {
	killed(t, "trap '' TERM; i=0; while [ $i -lt 300 ]; do setsid sh -c 'echo $$ >> pids; exec sleep 300' & i=$((i+1)); done; wait", 20)
}

func TestLimitsOfTheChild(t *testing.T) {
	for _, untraced := range []bool{false, true} {
		t.Run("untraced "+strconv.FormatBool(untraced), func(t *testing.T) {
			l := newLocal(t)
			if untraced {
				l.Untrace()
			}
			// Without ptrace the limits are set a moment after the start, and this one is set last.
			cmd := script(t.TempDir(), "until grep -q '^Max file size  *1048576 ' /proc/self/limits; do sleep 0.01; done; cat /proc/self/limits")
			cmd.Limits.CPU, cmd.Limits.Memory, cmd.Limits.FileBytes = 1500*time.Millisecond, 1<<30, 1<<20
			text := run(t, l, cmd).Stdout.String()
			for name, want := range map[string]string{
				"Max cpu time": "2 3 seconds", "Max data size": "1073741824 1073741824 bytes",
				"Max file size": "1048576 1048576 bytes", "Max core file size": "0 0 bytes",
			} {
				_, rest, _ := strings.Cut(text, name)
				line, _, _ := strings.Cut(rest, "\n")
				if got := strings.Join(strings.Fields(line), " "); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			var own unix.Rlimit
			if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf(" %-21dfiles", min(4096, own.Max)); !strings.Contains(text, want) {
				t.Errorf("no limit on open files:\n%s", text)
			}
			if note := l.Capabilities().Memory.Note; strings.Contains(note, "after the start") != untraced {
				t.Errorf("note: %s", note)
			}
		})
	}
}

// TestLimitsFromTheFirstInstruction starts a program that exceeds a limit at once, often enough to
// notice a race.
func TestLimitsFromTheFirstInstruction(t *testing.T) {
	l, dir := newLocal(t), t.TempDir()
	for range 50 {
		cmd := script(dir, "")
		cmd.Args = []string{"cat", "/proc/self/limits"}
		if text := run(t, l, cmd).Stdout.String(); !strings.Contains(text, "2147483648") {
			t.Fatalf("the memory limit is missing:\n%s", text)
		}
	}
}

func BenchmarkLocal(b *testing.B) {
	l, cmd := newLocal(b), script(b.TempDir(), "")
	cmd.Args = []string{"true"}
	for b.Loop() {
		run(b, l, cmd)
	}
}
