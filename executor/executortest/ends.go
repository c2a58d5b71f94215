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
	result := timed(t, b, "echo > up; sleep 300", func(executor.Result) bool { return true })
	equal(t, "code", result.ExitCode, 143)
	equal(t, "signal", result.Signal, "SIGTERM")
}

func timeoutOutput(t *testing.T, b bench) {
	result := timed(t, b, "echo before; echo > up; sleep 300; echo after", func(executor.Result) bool { return true })
	equal(t, "stdout", result.Stdout.String(), "before\n")
}

func timeoutGrandchildren(t *testing.T, b bench) {
	timed(t, b, "sleep 300 & (("+beat+") & "+beat+") & "+beating+"; echo > up; wait", func(executor.Result) bool { return true })
	still(t, b)
}

func askedFirst(t *testing.T, b bench) {
	result := timed(t, b, "trap 'echo tidy; exit 17' TERM; echo > up; while :; do sleep 0.01; done",
		func(r executor.Result) bool { return r.ExitCode == 17 })
	equal(t, "stdout", result.Stdout.String(), "tidy\n")
}

func ignoredTerm(t *testing.T, b bench) {
	result := timed(t, b, "trap '' TERM HUP INT; ("+beat+") & "+beating+"; echo > up; "+beat, func(executor.Result) bool { return true })
	equal(t, "code", result.ExitCode, 137)
	still(t, b)
}

func cancelled(t *testing.T, b bench) {
	soon(t, b, 2*time.Second, func() time.Time {
		ctx, cancel := context.WithCancel(t.Context())
		beaten, at := b.size("beat"), make(chan time.Time, 1)
		go func() {
			b.grown("beat", beaten)
			at <- time.Now()
			cancel()
		}()
		result, err := b.exec.Run(ctx, b.sh("("+beat+") & wait"))
		if err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("reason %q, error %v", result.Reason, err)
		}
		return <-at
	})
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

// cancelledStarting cancels when the program has just begun, which its executor may not
// know yet.
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
	still(t, b)
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
	soon(t, b, 2*time.Second, func() time.Time {
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
		ended(t, b.run(b.sh(script)), executor.ReasonExit, 0)
		still(t, b)
	}
}

// backgroundFinishes writes in the time that is left to it.
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
	timed(t, b, "("+beat+") & "+beating+"; echo > up; kill -STOP $!; kill -STOP $$", func(executor.Result) bool { return true })
	still(t, b)
}

// daemon leaves the group, the session and the streams, and forgets its environment. If the
// executor does not claim to end it, it must live on until the test ends it.
func daemon(t *testing.T, b bench) {
	const script = `d="setsid setsid"
command -v setsid >/dev/null || d="perl -MPOSIX -e setsid();fork()&&exit;exec(@ARGV)"
env -i PATH="$PATH" $d sh -c '` + hold + `; i=0; while [ ! -e stop ] && [ $i -lt 3000 ]; do echo x >> beat; sleep 0.02; i=$((i+1)); done' </dev/null >/dev/null 2>&1 &
`
	ended(t, b.run(b.sh(script+beating)), executor.ReasonExit, 0)
	if b.exec.Capabilities().KillTree.Enforced {
		still(t, b)
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
