package executortest

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
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
	{"cancelled as it starts", cancelledStarting},
	{"deadline of the context", deadline},
	{"background child holds the output", backgroundOutput},
	{"background child is ended", backgroundEnded},
	{"background child may finish", backgroundFinishes},
	{"stopped processes", stopped},
	{"daemon", daemon},
}

func timeout(t *testing.T, b bench) {
	result := runToTimeout(t, b, "echo > up; sleep 300", func(executor.Result) bool { return true })
	equal(t, "code", result.ExitCode, 143)
	equal(t, "signal", result.Signal, "SIGTERM")
}

func timeoutOutput(t *testing.T, b bench) {
	result := runToTimeout(t, b, "echo before; echo > up; sleep 300; echo after", func(executor.Result) bool { return true })
	equal(t, "stdout", result.Stdout.String(), "before\n")
}

func timeoutGrandchildren(t *testing.T, b bench) {
	runToTimeout(t, b, "sleep 300 & (("+beat+") & "+beat+") & "+beating+"; echo > up; wait", func(executor.Result) bool { return true })
	wantNoneRunning(t, b)
}

func askedFirst(t *testing.T, b bench) {
	result := runToTimeout(t, b, "trap 'echo tidy; exit 17' TERM; echo > up; while :; do sleep 0.01; done",
		func(r executor.Result) bool { return r.ExitCode == 17 })
	equal(t, "stdout", result.Stdout.String(), "tidy\n")
}

func ignoredTerm(t *testing.T, b bench) {
	result := runToTimeout(t, b, "trap '' TERM HUP INT; ("+beat+") & "+beating+"; echo > up; "+beat, func(executor.Result) bool { return true })
	equal(t, "code", result.ExitCode, 137)
	wantNoneRunning(t, b)
}

func cancelled(t *testing.T, b bench) {
	endsSoon(t, b, 2*time.Second, func() time.Time {
		ctx, cancel := context.WithCancel(t.Context())
		beaten, at := b.size("beat"), make(chan time.Time, 1)
		go func() {
			b.grows("beat", beaten)
			at <- time.Now()
			cancel()
		}()
		result, err := b.exec.Run(ctx, b.sh("("+beat+") & wait"))
		if err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("reason %q, error %v", result.Reason, err)
		}
		return <-at
	})
	wantNoneRunning(t, b)
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

// cancelledStarting cancels when the program has just begun; its executor may not know that yet.
func cancelledStarting(t *testing.T, b bench) {
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		begun, done := b.size("beat"), make(chan struct{})
		go func() {
			defer close(done)
			defer cancel()
			for b.size("beat") == begun && ctx.Err() == nil {
				runtime.Gosched()
			}
		}()
		result, err := b.exec.Run(ctx, b.sh(hold+"; echo x >> beat; sleep 300"))
		if err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("reason %q, error %v", result.Reason, err)
		}
		cancel()
		<-done
	}
	wantNoneRunning(t, b)
}

func deadline(t *testing.T, b bench) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	result, err := b.exec.Run(ctx, b.sh("sleep 300"))
	if err != nil || result.Reason != executor.ReasonCancelled {
		t.Errorf("reason %q, error %v", result.Reason, err)
	}
}

func backgroundOutput(t *testing.T, b bench) {
	endsSoon(t, b, 2*time.Second, func() time.Time {
		start := time.Now()
		equal(t, "stdout", b.output(b.sh("echo out; sleep 300 & exit 0")), "out\n")
		return start
	})
}

func backgroundEnded(t *testing.T, b bench) {
	for _, script := range []string{
		"rm -f beat; (" + beat + ") & " + beating,
		"rm -f beat; (" + beat + ") >/dev/null 2>&1 </dev/null & " + beating,
	} {
		wantEnd(t, b.run(b.sh(script)), executor.ReasonExit, 0)
		wantNoneRunning(t, b)
	}
}

// backgroundFinishes tests a background process that writes within the grace period.
func backgroundFinishes(t *testing.T, b bench) {
	got := ""
	for range tries {
		if got = b.output(b.sh("(sleep 0.05; echo late) & echo early")); got == "early\nlate\n" {
			return
		}
	}
	t.Errorf("stdout is %q", got)
}

func stopped(t *testing.T, b bench) {
	runToTimeout(t, b, "("+beat+") & "+beating+"; echo > up; kill -STOP $!; kill -STOP $$", func(executor.Result) bool { return true })
	wantNoneRunning(t, b)
}

// daemon tests a process that leaves the group and the session, closes the streams and clears its
// environment. If the executor does not claim to end it, it must live until the test ends it.
func daemon(t *testing.T, b bench) {
	const script = `d="setsid setsid"
command -v setsid >/dev/null || d="perl -MPOSIX -e setsid();fork()&&exit;exec(@ARGV)"
env -i PATH="$PATH" $d sh -c '` + hold + `; i=0; while [ ! -e stop ] && [ $i -lt 3000 ]; do echo x >> beat; sleep 0.02; i=$((i+1)); done' </dev/null >/dev/null 2>&1 &
`
	wantEnd(t, b.run(b.sh(script+beating)), executor.ReasonExit, 0)
	if b.exec.Capabilities().KillTree.Enforced {
		wantNoneRunning(t, b)
		return
	}
	livesOn(t, b, "the daemon is ended, but the capability is not claimed")
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
