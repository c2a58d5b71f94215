package executortest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

var ends = []conformance{
	{"timeout", timeout},
	{"timeout with output", timeoutOutput},
	{"timeout ends grandchildren", timeoutGrandchildren},
	{"SIGTERM is asked first", askedFirst},
	{"SIGTERM is ignored", ignoredTerm},
	{"cancelled", cancelled},
	{"cancelled before", cancelledBefore},
	{"deadline of the context", deadline},
	{"background child holds the output", backgroundOutput},
	{"background child is ended", backgroundEnded},
	{"background child may finish", backgroundFinishes},
	{"stopped processes", stopped},
	{"daemon", daemon},
}

// beat is a shell loop that shows, by a growing file, that it lives. It works
// wherever the numbers of processes are not those of the host.
const beat = "while :; do echo x >> beat; sleep 0.02; done"

// still fails when something still writes the file beat.
func still(t *testing.T, b bench) {
	t.Helper()
	before := beats(t, b)
	time.Sleep(300 * time.Millisecond)
	if after := beats(t, b); after != before {
		t.Errorf("a process of the command still runs: %d beats, then %d", before, after)
	}
}

func beats(t *testing.T, b bench) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(b.dir, "beat"))
	if err != nil {
		t.Fatalf("the process of which the end is tested never ran: %v", err)
	}
	return info.Size()
}

func soon(t *testing.T, start time.Time, within time.Duration) {
	t.Helper()
	if took := time.Since(start); took > within {
		t.Errorf("took %v, want at most %v", took, within)
	}
}

// timed runs a script with a second to go and wants it ended within a second of
// that.
func timed(t *testing.T, b bench, script string) executor.Result {
	t.Helper()
	cmd := b.sh(script)
	cmd.Limits.Timeout = time.Second
	start := time.Now()
	result := b.run(cmd)
	soon(t, start, 2*time.Second)
	equal(t, "reason", result.Reason, executor.ReasonTimeout)
	return result
}

func timeout(t *testing.T, b bench) {
	result := timed(t, b, "sleep 20")
	equal(t, "code", result.ExitCode, 143)
	equal(t, "signal", result.Signal, "SIGTERM")
}

func timeoutOutput(t *testing.T, b bench) {
	equal(t, "stdout", timed(t, b, "echo before; sleep 20; echo after").Stdout.String(), "before\n")
}

func timeoutGrandchildren(t *testing.T, b bench) {
	timed(t, b, "sleep 20 & (("+beat+") & "+beat+") & wait")
	still(t, b)
}

func askedFirst(t *testing.T, b bench) {
	result := timed(t, b, "trap 'echo tidy; exit 17' TERM; while :; do sleep 0.01; done")
	equal(t, "code", result.ExitCode, 17)
	equal(t, "stdout", result.Stdout.String(), "tidy\n")
}

func ignoredTerm(t *testing.T, b bench) {
	result := timed(t, b, "trap '' TERM HUP INT; ("+beat+") & "+beat)
	equal(t, "code", result.ExitCode, 137)
	still(t, b)
}

func cancelled(t *testing.T, b bench) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	start := time.Now()
	result, err := b.exec.Run(ctx, b.sh("("+beat+") & wait"))
	soon(t, start, 2500*time.Millisecond)
	if err != nil || result.Reason != executor.ReasonCancelled {
		t.Errorf("reason %q, error %v", result.Reason, err)
	}
	still(t, b)
}

func cancelledBefore(t *testing.T, b bench) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := b.exec.Run(ctx, b.sh("echo > ran"))
	if err != nil || result.Reason != executor.ReasonCancelled {
		t.Errorf("reason %q, error %v", result.Reason, err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

func deadline(t *testing.T, b bench) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	result, err := b.exec.Run(ctx, b.sh("sleep 20"))
	if err != nil || result.Reason != executor.ReasonCancelled {
		t.Errorf("reason %q, error %v", result.Reason, err)
	}
}

func backgroundOutput(t *testing.T, b bench) {
	start := time.Now()
	equal(t, "stdout", b.output(b.sh("echo out; sleep 20 & exit 0")), "out\n")
	soon(t, start, 2*time.Second)
}

func backgroundEnded(t *testing.T, b bench) {
	for _, script := range []string{
		"(" + beat + ") & sleep 0.2",
		"(" + beat + ") >/dev/null 2>&1 </dev/null & sleep 0.2",
	} {
		ended(t, b.run(b.sh(script)), executor.ReasonExit, 0)
		still(t, b)
	}
}

func backgroundFinishes(t *testing.T, b bench) {
	equal(t, "stdout", b.output(b.sh("(sleep 0.05; echo late) & echo early")), "early\nlate\n")
}

func stopped(t *testing.T, b bench) {
	timed(t, b, "("+beat+") & sleep 0.2; kill -STOP $!; kill -STOP $$")
	still(t, b)
}

// daemon leaves the group, the session and the streams, and forgets its
// environment. Where it is not claimed to end, it must be seen to live on; it
// ends by itself then.
func daemon(t *testing.T, b bench) {
	const script = `d="setsid setsid"
command -v setsid >/dev/null || d="perl -MPOSIX -e setsid();fork()&&exit;exec(@ARGV)"
env -i PATH="$PATH" $d sh -c 'i=0; while [ $i -lt 100 ]; do echo x >> beat; sleep 0.02; i=$((i+1)); done' </dev/null >/dev/null 2>&1 &
sleep 0.3`
	ended(t, b.run(b.sh(script)), executor.ReasonExit, 0)
	if b.exec.Capabilities().KillTree.Enforced {
		still(t, b)
		return
	}
	before := beats(t, b)
	time.Sleep(300 * time.Millisecond)
	if beats(t, b) == before {
		t.Error("the daemon is ended, but the capability is not claimed")
	}
	time.Sleep(4 * time.Second)
	still(t, b)
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
