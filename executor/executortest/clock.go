package executortest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Shell scripts to observe whether a process lives. They need no process numbers, which differ in
// a sandbox.
const (
	// beat appends to the file beat again and again.
	beat = hold + "; while :; do echo x >> beat; sleep 0.02; done"
	// beating waits until the file beat is not empty.
	beating = "until [ -s beat ]; do sleep 0.01; done"
	// hold opens the pipe life, which children inherit. wantNoneRunning finds the processes by it.
	hold = "exec 3<>life"
)

const (
	// patience is how long a test waits for an event that must come.
	patience = time.Minute
	// tries is how often a test with a deadline is tried: a busy machine may spoil some of
	// them, and a fault spoils all.
	tries = 5
)

// wantNoneRunning fails the test if a process still holds the pipe life.
func wantNoneRunning(t *testing.T, b bench) {
	t.Helper()
	if b.size("beat") == 0 {
		t.Fatal("the process of which the end is tested never ran")
	}
	if !released(t, filepath.Join(b.dir, "life")) {
		t.Error("a process of the command still runs")
	}
}

// released waits until no process holds a pipe, and returns false if that takes too long. A killed
// process ends when it next gets a processor, which on a busy machine takes a while.
func released(t *testing.T, path string) bool {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); isHeld(t, path); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// size returns the size of a file in the workspace, or 0 if there is none.
func (b bench) size(name string) int64 {
	info, err := os.Stat(filepath.Join(b.dir, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// grows waits until a file in the workspace is larger than a size, and returns false if that takes
// too long.
func (b bench) grows(name string, than int64) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b.size(name) > than {
			return true
		}
	}
	return false
}

// lag returns how much later than on a quiet machine an event may come now. It is five times the
// duration of a command that does nothing.
func (b bench) lag() time.Duration {
	b.t.Helper()
	start := time.Now()
	wantEnd(b.t, b.run(b.sh("exit 0")), executor.ReasonExit, 0)
	return 5 * time.Since(start)
}

// endsSoon calls try, which returns the time from which it counts. It fails the test if try takes
// longer than the limit each time.
func endsSoon(t *testing.T, b bench, within time.Duration, try func() (since time.Time)) {
	t.Helper()
	var took, lag time.Duration
	for range tries {
		took = time.Since(try())
		if lag = b.lag(); took <= within+lag {
			return
		}
	}
	t.Errorf("took %v, want at most %v, with %v for a busy machine", took, within, lag)
}

// runToTimeout runs a script with a timeout of a second, which must end it within another second. The
// script makes the file up when it is ready. If it was not ready, or the result is not good,
// runToTimeout tries again with a longer timeout.
func runToTimeout(t *testing.T, b bench, script string, good func(executor.Result) bool) executor.Result {
	t.Helper()
	cmd, last := b.sh(script), time.Second<<(tries-1)
	for cmd.Limits.Timeout = time.Second; ; cmd.Limits.Timeout *= 2 {
		_ = os.Remove(filepath.Join(b.dir, "up"))
		start := time.Now()
		result := b.run(cmd)
		took := time.Since(start) - cmd.Limits.Timeout
		equal(t, "reason", result.Reason, executor.ReasonTimeout)
		ready, lag := b.size("up") > 0, b.lag()
		if ready && took <= time.Second+lag && good(result) {
			return result
		}
		if cmd.Limits.Timeout == last {
			t.Errorf("ready %v, ended %v after the timeout (%v for a busy machine), code %d, stdout %s", ready, took, lag, result.ExitCode, result.Stdout)
			return result
		}
	}
}

// livesOn fails the test with fault unless the file beat grows. Then it ends the process by making
// the file stop.
func livesOn(t *testing.T, b bench, fault string) {
	t.Helper()
	if !b.grows("beat", b.size("beat")) {
		t.Error(fault)
	}
	write(t, b.dir, "stop", 0o644, "")
	for deadline := time.Now().Add(patience); isHeld(t, filepath.Join(b.dir, "life")); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the process does not end although there is a file stop")
		}
	}
}
