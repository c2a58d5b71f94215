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
// the host.
const (
	beat    = "while :; do echo x >> beat; sleep 0.02; done"
	beating = "until [ -s beat ]; do sleep 0.01; done"
)

// patience is how long what must come is waited for, and tries how often a
// busy machine may spoil what runs against the clock. A fault spoils all tries.
const (
	patience = time.Minute
	tries    = 5
)

// still fails when something still writes the file beat.
func still(t *testing.T, b bench) {
	t.Helper()
	before := b.size("beat")
	if before == 0 {
		t.Fatal("the process of which the end is tested never ran")
	}
	time.Sleep(300 * time.Millisecond)
	if after := b.size("beat"); after != before {
		t.Errorf("a process of the command still runs: %d beats, then %d", before, after)
	}
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

// soon wants one of the tries to end in time after the moment that it returns.
func soon(t *testing.T, within time.Duration, try func() (since time.Time)) {
	t.Helper()
	var took time.Duration
	for range tries {
		if took = time.Since(try()); took <= within {
			return
		}
	}
	t.Errorf("took %v, want at most %v", took, within)
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
		ready := b.size("up") > 0
		if ready && took <= time.Second && good(result) {
			return result
		}
		if cmd.Limits.Timeout == last {
			t.Errorf("ready %v, ended %v after the timeout, code %d, stdout %s", ready, took, result.ExitCode, result.Stdout)
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
	for before := int64(-1); before != b.size("beat"); time.Sleep(300 * time.Millisecond) {
		before = b.size("beat")
	}
}
