package executortest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// terminals test Terminal.TTY. If the executor does not claim it, Start must fail.
var terminals = []conformance{
	{"three streams", onTerminal(isTerminal)},
	{"controlling terminal", onTerminal(controls)},
	{"size", onTerminal(size)},
	{"echo", onTerminal(echo)},
	{"prompt comes once", onTerminal(promptOnce)},
	{"20,000 lines once and in order", onTerminal(manyLines)},
	{"long input", onTerminal(longInput)},
	{"interrupt", onTerminal(interrupt)},
	{"interrupt of a shell's job", onTerminal(interruptJob)},
	{"end of input", onTerminal(endOfInput)},
	{"output after the end", onTerminal(lastWords)},
	{"timeout", onTerminal(terminalTimeout)},
	{"kill", onTerminal(killOnTerminal)},
	{"kill while Write waits", onTerminal(killTyping)},
	{"background child holds the terminal", onTerminal(heldTerminal)},
	{"not found", onTerminal(notFoundOnTerminal)},
}

func onTerminal(check func(*testing.T, bench)) func(*testing.T, bench) {
	return func(t *testing.T, b bench) {
		if b.exec.Capabilities().Terminal.Enforced {
			check(t, b)
			return
		}
		if _, err := b.exec.Start(t.Context(), b.sh("exit 0"), executor.Terminal{TTY: true}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a terminal is not claimed, start: %v", err)
		}
	}
}

// open starts a command on a terminal.
func (b bench) open(cmd executor.Command, out *transcript) executor.Process {
	b.t.Helper()
	p, err := b.exec.Start(b.t.Context(), cmd, executor.Terminal{TTY: true, Rows: 30, Cols: 100, Output: out})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { p.Kill(); <-p.Done() })
	return p
}

// screen returns the output of a terminal, with the line ends that the program wrote.
func (s *transcript) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

func isTerminal(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh("test -t 0 && test -t 1 && test -t 2; echo terminal $?; echo oops >&2; exit 3"), &out)
	result := wait(t, p)
	wantEnd(t, result, executor.ReasonExit, 3)
	equal(t, "output", out.screen(), "terminal 0\noops\n")
	equal(t, "stdout", result.Stdout.String(), "terminal 0\r\noops\r\n")
	equal(t, "stderr", result.Stderr.String(), "")
}

func controls(t *testing.T, b bench) {
	var out transcript
	wantEnd(t, wait(t, b.open(b.sh("echo told > /dev/tty"), &out)), executor.ReasonExit, 0)
	equal(t, "output", out.screen(), "told\n")
	// The next command has no terminal.
	ownSession(t, b)
}

func size(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh(`stty size; trap 'stty size' WINCH; echo ready; while :; do read line && echo "[$line]"; done`), &out)
	out.wait(t, "ready")
	if err := p.Resize(50, 132); err != nil {
		t.Fatal(err)
	}
	send(t, p, "go\n")
	out.wait(t, "[go]")
	for _, want := range []string{"30 100\n", "50 132\n"} {
		contains(t, "output", out.screen(), want)
	}
	p.Kill()
	wait(t, p)
	if err := p.Resize(1, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("resize after the end: %v", err)
	}
	p, err := b.exec.Start(t.Context(), b.sh("stty size"), executor.Terminal{TTY: true})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "size that was not given", wait(t, p).Stdout.String(), "24 80\r\n")
	p = b.start(b.command("cat"), nil)
	if err := p.Resize(1, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("resize without terminal: %v", err)
	}
}

func echo(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh(`echo 1; read a; stty -echo; echo 2; read b; stty echo; echo "3 $a $b"`), &out)
	out.wait(t, "1\r\n")
	send(t, p, "seen\n")
	out.wait(t, "2\r\n")
	send(t, p, "hidden\n")
	wantEnd(t, wait(t, p), executor.ReasonExit, 0)
	equal(t, "output", out.screen(), "1\nseen\n2\n3 seen hidden\n")
}

func promptOnce(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh(`printf 'name: '; read n; echo "hello $n"`), &out)
	out.wait(t, "name: ")
	send(t, p, "Ada\r") // what the key sends
	wantEnd(t, wait(t, p), executor.ReasonExit, 0)
	equal(t, "output", out.screen(), "name: Ada\nhello Ada\n")
}

func manyLines(t *testing.T, b bench) {
	var out transcript
	result := wait(t, b.open(b.sh(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "this is line number $i"; done`), &out))
	wantEnd(t, result, executor.ReasonExit, 0)
	var want strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&want, "this is line number %d\n", i+1)
	}
	if got := out.screen(); got != want.String() {
		t.Errorf("%d bytes are not the %d that were written", len(got), want.Len())
	}
}

// longInput types more than a terminal accepts at once, line by line.
func longInput(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh("stty -echo; echo ready; wc -l"), &out)
	out.wait(t, "ready")
	send(t, p, strings.Repeat("a line of some length that somebody types\n", 5000))
	if err := p.CloseInput(); err != nil {
		t.Error(err)
	}
	result := wait(t, p)
	wantEnd(t, result, executor.ReasonExit, 0)
	equal(t, "lines", atoi(t, strings.TrimPrefix(out.screen(), "ready")), 5000)
}

func interrupt(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.command("sh", "-c", "echo up; exec sleep 300"), &out)
	out.wait(t, "up")
	send(t, p, "\x03")
	result := wait(t, p)
	wantEnd(t, result, executor.ReasonSignal, 130)
	equal(t, "signal", result.Signal, "SIGINT")
}

// interruptJob sends ^C to a shell with a job. The job must end, and the shell must not.
func interruptJob(t *testing.T, b bench) {
	var out transcript
	cmd := b.command("bash", "--norc", "--noediting", "-i")
	cmd.Env = append(cmd.Env, "PS1=ready> ", "TERM=dumb")
	p := b.open(cmd, &out)
	out.wait(t, "ready> ")
	send(t, p, "cat\n")
	send(t, p, "job is up\n") // shown as it is typed, and by the job, which reads then
	out.wait(t, "job is up\r\njob is up\r\n")
	send(t, p, "\x03")
	out.wait(t, "^C\r\nready> ") // a shell may drop what was typed before
	send(t, p, "echo code $?; exit 7\n")
	wantEnd(t, wait(t, p), executor.ReasonExit, 7)
	contains(t, "output", out.screen(), "code 130\n")
}

func endOfInput(t *testing.T, b bench) {
	for _, text := range []string{"", "line\n", "no line end"} {
		var out transcript
		p := b.open(b.sh("stty -echo; echo ready; cat; echo end"), &out)
		out.wait(t, "ready")
		send(t, p, text)
		for range 2 {
			if err := p.CloseInput(); err != nil {
				t.Error(err)
			}
		}
		if _, err := p.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("write after the end of input: %v", err)
		}
		wantEnd(t, wait(t, p), executor.ReasonExit, 0)
		equal(t, "output", out.screen(), "ready\n"+text+"end\n")
	}
}

// lastWords tests output that is written just before the program ends, when no other process holds the
// terminal.
func lastWords(t *testing.T, b bench) {
	for range 20 {
		var out transcript
		wait(t, b.open(b.sh(`i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "line $i"; done`), &out))
		if !strings.HasSuffix(out.screen(), "line 100\n") || strings.Count(out.screen(), "\n") != 100 {
			t.Fatalf("output ends with %q", out.screen()[max(0, len(out.screen())-20):])
		}
	}
}

func terminalTimeout(t *testing.T, b bench) {
	cmd, shown := b.sh("echo up; sleep 300"), ""
	for try := 0; shown == "" && try < tries; try++ {
		cmd.Limits.Timeout = 300 * time.Millisecond << try // to get up on a busy machine
		var out transcript
		equal(t, "reason", wait(t, b.open(cmd, &out)).Reason, executor.ReasonTimeout)
		shown = out.screen()
	}
	equal(t, "output", shown, "up\n")
}

func killOnTerminal(t *testing.T, b bench) {
	endsSoon(t, b, 2*time.Second, func() time.Time {
		var out transcript
		p := b.open(b.sh("trap '' TERM HUP; ("+beat+") & "+beating+"; echo up; wait; sleep 300"), &out)
		out.wait(t, "up")
		start := time.Now()
		p.Kill()
		wantEnd(t, wait(t, p), executor.ReasonCancelled, 137)
		return start
	})
	wantNoneRunning(t, b)
}

func killTyping(t *testing.T, b bench) {
	var out transcript
	p := b.open(b.sh("stty raw -echo; echo up; sleep 300"), &out)
	out.wait(t, "up")
	time.AfterFunc(200*time.Millisecond, p.Kill)
	if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write to a process that does not read: %v", err)
	}
	equal(t, "reason", wait(t, p).Reason, executor.ReasonCancelled)
}

func heldTerminal(t *testing.T, b bench) {
	endsSoon(t, b, 2500*time.Millisecond, func() time.Time {
		var out transcript
		start := time.Now()
		wantEnd(t, wait(t, b.open(b.sh("trap '' HUP; ("+beat+") & "+beating+"; echo out; exit 4"), &out)), executor.ReasonExit, 4)
		equal(t, "output", out.screen(), "out\n")
		return start
	})
	wantNoneRunning(t, b)
}

func notFoundOnTerminal(t *testing.T, b bench) {
	var out transcript
	result := wait(t, b.open(b.command("no-such-program"), &out))
	wantEnd(t, result, executor.ReasonSetup, 127)
}
