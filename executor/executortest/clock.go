package executortest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// beat is a shell loop that shows, by a growing file, that it lives, and beating
// waits for that. It works wherever the numbers of processes are not those of
// the host. It and its children hold the pipe life, by which still sees at once
// that one of them is left.
const (
	beat    = hold + "; while :; do echo x >> beat; sleep 0.02; done"
	beating = "until [ -s beat ]; do sleep 0.01; done"
	hold    = "exec 3<>life"
)

// patience is how long what must come is waited for, and tries how often a
// busy machine may spoil what runs against the clock. A fault spoils all tries.
const (
	patience = time.Minute
	tries    = 5
)

// still fails when a process still holds the pipe life.
func still(t *testing.T, b bench) {
	t.Helper()
	if b.size("beat") == 0 {
		t.Fatal("the process of which the end is tested never ran")
	}
	if !released(t, filepath.Join(b.dir, "life")) {
		t.Error("a process of the command still runs")
	}
}

// released waits until no process holds a file. One that was killed needs a
// processor once more to be gone, which on a busy machine takes a while.
func released(t *testing.T, path string) bool {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); held(t, path); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// size is how large a file in the workspace is, 0 for one that is not there.
func (b bench) size(name string) int64 {
	info, err := os.Stat(filepath.Join(b.dir, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// grown reports whether a file in the workspace gets larger than that.
func (b bench) grown(name string, than int64) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b.size(name) > than {
			return true
		}
	}
	return false
}

// lag is how much longer things take on this machine now than on a quiet one: a
// few times what a program takes that only ends.
func (b bench) lag() time.Duration {
	b.t.Helper()
	start := time.Now()
	ended(b.t, b.run(b.sh("exit 0")), executor.ReasonExit, 0)
	return 5 * time.Since(start)
}

// soon wants one of the tries to end in time after the moment that it returns.
func soon(t *testing.T, b bench, within time.Duration, try func() (since time.Time)) {
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

// timed runs a script that makes the file up when it is ready, with a second to
// get there, and wants it ended within a second of that. Where it was not ready
// by then, or is not good, it gets longer.
func timed(t *testing.T, b bench, script string, good func(executor.Result) bool) executor.Result {
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

// livesOn wants the file beat to grow until there is a file stop.
func livesOn(t *testing.T, b bench, fault string) {
	t.Helper()
	if !b.grown("beat", b.size("beat")) {
		t.Error(fault)
	}
	write(t, b.dir, "stop", 0o644, "")
	for deadline := time.Now().Add(patience); held(t, filepath.Join(b.dir, "life")); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not end when it is told")
		}
	}
}
