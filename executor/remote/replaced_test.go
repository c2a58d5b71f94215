//go:build unix

package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// replace puts another directory in the place of a workspace. The old one still exists.
func replace(t *testing.T, dir string) {
	t.Helper()
	if err := errors.Join(os.Rename(dir, dir+"-old"), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedWorkspace replaces a workspace whose runner is kept. A runner may still see the old directory,
// so it must run no further command.
func TestReplacedWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: exits}}
		e := newTestExecutor(t, c)
		defer e.Close()
		dir := t.TempDir() + "/workspace"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for want := range 2 {
			if want > 0 {
				replace(t, dir)
			}
			if _, err := e.Run(t.Context(), commandIn(dir)); err != nil {
				t.Error(err)
			}
			if n := c.opened(); n != want+1 {
				t.Errorf("%d runners, want %d", n, want+1)
			}
			if err := os.RemoveAll(dir + "-old"); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestReplacedUnderCommands replaces a workspace while a command runs in it. That command goes on.
func TestReplacedUnderCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: waits}}
		e := newTestExecutor(t, c)
		defer e.Close()
		dir := t.TempDir() + "/workspace"
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		first, end := context.WithCancel(t.Context())
		ended := make(chan executor.Reason, 1)
		go func() {
			result, _ := e.Run(first, commandIn(dir))
			ended <- result.Reason
		}()
		synctest.Wait()
		replace(t, dir)
		result, err := e.Run(t.Context(), commandIn(dir))
		if !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "was replaced while commands run in it") || result.Reason != executor.ReasonSetup {
			t.Errorf("%s, %v", result.Reason, err)
		}
		if len(ended) > 0 {
			t.Error("the first command has ended")
		}
		time.AfterFunc(5*time.Second, end)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if result, err := e.Run(ctx, commandIn(dir)); err != nil || c.opened() != 2 {
			t.Errorf("after the first command: %s, %v, %d runners", result.Reason, err, c.opened())
		}
		if reason := <-ended; reason != executor.ReasonCancelled {
			t.Error(reason)
		}
	})
}

// slowCarrier starts runners that take a while to end.
type slowCarrier struct {
	*carrier
	gone atomic.Int32
}

func (c *slowCarrier) Open(ctx context.Context, j Job) (io.ReadWriteCloser, error) {
	rw, err := c.carrier.Open(ctx, j)
	return slowConn{rw, c}, err
}

type slowConn struct {
	io.ReadWriteCloser
	carrier *slowCarrier
}

func (c slowConn) Close() error {
	err := c.ReadWriteCloser.Close()
	time.Sleep(10 * time.Second)
	c.carrier.gone.Add(1)
	return err
}

// TestLostRunnersEnd loses the runner of a workspace. Release and Close return when it has ended.
func TestLostRunnersEnd(t *testing.T) {
	for name, end := range map[string]func(e *Executor, dir string) error{
		"Release": (*Executor).Release,
		"Close":   func(e *Executor, _ string) error { return e.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &slowCarrier{carrier: &carrier{wire: func(rw io.ReadWriteCloser) {
					time.AfterFunc(time.Second, func() { _ = rw.Close() })
					_ = Serve(context.Background(), rw, func() (executor.Executor, error) { return stub{run: waits}, nil })
				}}}
				e := newTestExecutor(t, c)
				defer e.Close()
				dir := t.TempDir()
				if result, err := e.Run(t.Context(), commandIn(dir)); !errors.Is(err, executor.ErrLost) {
					t.Errorf("%s, %v", result.Reason, err)
				}
				if err := end(e, dir); err != nil {
					t.Error(err)
				}
				if n := c.gone.Load(); n != 1 {
					t.Errorf("%d runners have ended, want 1", n)
				}
			})
		})
	}
}

// TestManySearches starts more searches than a runner takes. The last one fails alone.
func TestManySearches(t *testing.T) {
	r := newTestCommand(t).runner
	body, err := encode(findMessage{Name: []byte("sh"), Path: []byte("/bin")}, maxMessage)
	if err != nil {
		t.Fatal(err)
	}
	for range maxCommands {
		if err := r.sendFind(t.Context(), body, make(chan foundMessage, 1)); err != nil {
			t.Fatal(err)
		}
	}
	err = r.sendFind(t.Context(), body, make(chan foundMessage, 1))
	if !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "try again later") || r.conn.isEnded() {
		t.Errorf("%v, ended %v", err, r.conn.isEnded())
	}
}

// TestAdviceIsBounded checks that the advice of many runners does not add up without end.
func TestAdviceIsBounded(t *testing.T) {
	var c executor.Capabilities
	for i := range 2 * maxListed {
		c = lower(c, executor.Capabilities{Advice: []string{strings.Repeat("x", i)}})
	}
	if len(c.Advice) != maxListed {
		t.Errorf("%d sentences, want %d", len(c.Advice), maxListed)
	}
}

// TestErrorsDoNotControlTerminals checks the texts that a runner gives, which a host may print.
func TestErrorsDoNotControlTerminals(t *testing.T) {
	const hostile = "first\n\x1b]0;title\x07\u009b2J\rlast"
	for name, err := range map[string]error{
		"result": (&errorMessage{Text: []byte(hostile)}).error(),
		"hello":  (&runner{}).verify(helloAnswer{Error: hostile}),
		"path":   compare(Identity{}, sighting{Error: hostile}),
		"line":   errors.New(line(hostile)),
	} {
		if text := err.Error(); strings.ContainsAny(text, "\x1b\x07\u009b\r") || !strings.Contains(text, "last") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
