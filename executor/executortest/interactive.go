package executortest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

var interactives = []conformance{
	{"talk", talk},
	{"outlives the context of the start", outlives},
	{"kill", kill},
	{"kill while Write waits", killWriter},
	{"timeout", interactiveTimeout},
	{"waiting is broken off", waitBrokenOff},
	{"not found", interactiveNotFound},
	{"stdin in the command", interactiveStdin},
}

// transcript collects the output of a process.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *transcript) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// wait waits until the process has written text.
func (s *transcript) wait(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		got := s.text.String()
		s.mu.Unlock()
		if strings.Contains(got, text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the process wrote %q, no %q", got, text)
		}
	}
}

func (b bench) start(cmd executor.Command, out io.Writer) executor.Process {
	b.t.Helper()
	p, err := b.exec.Start(b.t.Context(), cmd, executor.Terminal{Output: out})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { p.Kill(); <-p.Done() })
	return p
}

func send(t *testing.T, p executor.Process, text string) {
	t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		t.Fatal(err)
	}
}

func wait(t *testing.T, p executor.Process) executor.Result {
	t.Helper()
	result, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func talk(t *testing.T, b bench) {
	var out transcript
	p := b.start(b.sh(`printf 'name: '; read n; echo "hello $n"; echo oops >&2; cat; exit 5`), &out)
	out.wait(t, "name: ")
	send(t, p, "Ada\n")
	out.wait(t, "hello Ada\noops\n")
	send(t, p, "tail\n")
	out.wait(t, "tail\n")
	select {
	case <-p.Done():
		t.Error("ended before its input did")
	default:
	}
	for range 2 {
		if err := p.CloseInput(); err != nil {
			t.Error(err)
		}
	}
	result := wait(t, p)
	wantEnd(t, result, executor.ReasonExit, 5)
	equal(t, "stdout", result.Stdout.String(), "name: hello Ada\noops\ntail\n")
	equal(t, "stderr", result.Stderr.String(), "")
	if _, err := p.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write after the end: %v", err)
	}
	p.Kill() // nothing is left to kill
	wantEnd(t, wait(t, p), executor.ReasonExit, 5)
}

func outlives(t *testing.T, b bench) {
	ctx, cancel := context.WithCancel(t.Context())
	var out transcript
	p, err := b.exec.Start(ctx, b.command("cat"), executor.Terminal{Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for i := range 20 { // long enough to see that the process still runs
		line := fmt.Sprintf("still here %d\n", i)
		send(t, p, line)
		out.wait(t, line)
	}
	if err := p.CloseInput(); err != nil {
		t.Error(err)
	}
	wantEnd(t, wait(t, p), executor.ReasonExit, 0)

	if _, err := b.exec.Start(ctx, b.command("cat"), executor.Terminal{}); !errors.Is(err, context.Canceled) {
		t.Errorf("start with an ended context: %v", err)
	}
}

func kill(t *testing.T, b bench) {
	endsSoon(t, b, 2*time.Second, func() time.Time { // a second, on a machine that is busy with other tests
		var out transcript
		p := b.start(b.sh("trap '' TERM; ("+beat+") & "+beating+"; echo up; wait; sleep 300"), &out)
		out.wait(t, "up\n")
		start := time.Now()
		p.Kill()
		p.Kill()
		wantEnd(t, wait(t, p), executor.ReasonCancelled, 137)
		return start
	})
	wantNoneRunning(t, b)
}

func killWriter(t *testing.T, b bench) {
	p := b.start(b.sh("sleep 300"), nil)
	time.AfterFunc(200*time.Millisecond, p.Kill)
	if _, err := p.Write(make([]byte, 1<<20)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write to a process that does not read: %v", err)
	}
	equal(t, "reason", wait(t, p).Reason, executor.ReasonCancelled)
}

func interactiveTimeout(t *testing.T, b bench) {
	cmd := b.sh("sleep 300")
	cmd.Limits.Timeout = 300 * time.Millisecond
	equal(t, "reason", wait(t, b.start(cmd, nil)).Reason, executor.ReasonTimeout)
}

func waitBrokenOff(t *testing.T, b bench) {
	p := b.start(b.sh("read line; exit 6"), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait: %v", err)
	}
	send(t, p, "go\n")
	wantEnd(t, wait(t, p), executor.ReasonExit, 6)
}

func interactiveNotFound(t *testing.T, b bench) {
	p := b.start(b.command("no-such-program"), nil)
	select {
	case <-p.Done():
	default:
		t.Error("the process of a program that does not exist has not ended when Start returns")
	}
	wantEnd(t, wait(t, p), executor.ReasonSetup, 127)
	if _, err := p.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write: %v", err)
	}
	if err := p.CloseInput(); err != nil {
		t.Error(err)
	}
	p.Kill()
}

func interactiveStdin(t *testing.T, b bench) {
	cmd := b.command("cat")
	cmd.Stdin = strings.NewReader("x")
	if _, err := b.exec.Start(t.Context(), cmd, executor.Terminal{}); !errors.Is(err, executor.ErrCommand) {
		t.Errorf("start: %v", err)
	}
}
