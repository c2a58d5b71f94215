//go:build unix

package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// TestASilentRunnerIsLost cuts a runner's sign of life while a command runs.
func TestASilentRunnerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := make(chan struct{})
		c := &carrier{stub: stub{run: waits}}
		c.wire = func(rw io.ReadWriteCloser) {
			_ = Serve(context.Background(), &mute{ReadWriteCloser: rw, cut: cut}, func() (executor.Executor, error) { return c.stub, nil })
		}
		e := newTestExecutor(t, c)
		defer e.Close()
		since := time.Now().Add(time.Minute)
		time.AfterFunc(time.Minute, func() { close(cut) })
		cmd := commandIn(t.TempDir())
		result, err := e.Run(t.Context(), cmd)
		if result.Reason != executor.ReasonLost || !errors.Is(err, executor.ErrLost) || result.ExitCode != -1 {
			t.Errorf("%+v, %v", result, err)
		}
		if got := result.Stderr.String(); got != executor.LostText+"\n" {
			t.Errorf("stderr %q", got)
		}
		if took := time.Since(since); took < 2*beatEvery || took > silence+beatEvery {
			t.Errorf("lost after %v", took)
		}
		if n := c.opened(); n != 1 {
			t.Errorf("%d runners: the command was started again", n)
		}
	})
}

// mute drops what a runner writes once cut is closed.
type mute struct {
	io.ReadWriteCloser
	cut chan struct{}
}

func (m *mute) Write(p []byte) (int, error) {
	select {
	case <-m.cut:
		return len(p), nil
	default:
		return m.ReadWriteCloser.Write(p)
	}
}

// TestASilentHostEndsTheRunner cuts the host's sign of life, in both ways: it sends nothing, or takes nothing.
func TestASilentHostEndsTheRunner(t *testing.T) {
	for name, takes := range map[string]bool{"it sends nothing": true, "it takes nothing": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, runner := net.Pipe()
				defer host.Close()
				go func() {
					for range 4 {
						time.Sleep(beatEvery)
						if _, err := host.Write(appendFrame(nil, kindBeat, 0, nil)); err != nil {
							return
						}
					}
				}()
				if takes {
					go func() { _, _ = io.Copy(io.Discard, host) }()
				}
				start := time.Now()
				err := Serve(context.Background(), runner, func() (executor.Executor, error) { return stub{run: exits}, nil })
				if !errors.Is(err, errSilent) {
					t.Errorf("%v", err)
				}
				if took := time.Since(start); took < silence || took > 4*beatEvery+silence+beatEvery {
					t.Errorf("it ended after %v", took)
				}
			})
		})
	}
}

// TestLivingCommandsAreNotLost runs a command for hours.
func TestLivingCommandsAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestExecutor(t, &carrier{stub: stub{run: func(ctx context.Context, cmd executor.Command) (executor.Result, error) {
			time.Sleep(3 * time.Hour)
			return exits(ctx, cmd)
		}}})
		defer e.Close()
		cmd := commandIn(t.TempDir())
		cmd.Limits.Timeout = -1
		if result, err := e.Run(t.Context(), cmd); err != nil || result.Reason != executor.ReasonExit {
			t.Errorf("%s, %v", result.Reason, err)
		}
	})
}

// TestALateRunnerIsLost runs a command that ends neither at its timeout nor when it is killed.
func TestALateRunnerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		c := &carrier{stub: stub{run: func(context.Context, executor.Command) (executor.Result, error) {
			<-stop
			return executor.Result{Reason: executor.ReasonExit}, nil
		}}}
		e := newTestExecutor(t, c)
		defer e.Close()
		cmd := commandIn(t.TempDir())
		cmd.Limits.Timeout = time.Minute
		start := time.Now()
		if _, err := e.Run(t.Context(), cmd); !errors.Is(err, executor.ErrLost) || time.Since(start) != time.Minute+lateWait {
			t.Errorf("past its timeout: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := e.Run(ctx, cmd); !errors.Is(err, executor.ErrLost) || !strings.Contains(err.Error(), "in time") || time.Since(start) != time.Second+killWait {
			t.Errorf("killed: %v after %v", err, time.Since(start))
		}
		close(stop)
	})
}

// TestTheNextCommandGetsANewRunner loses an idle runner and one with a command.
func TestTheNextCommandGetsANewRunner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conns []io.Closer
		c := &carrier{stub: stub{run: exits}}
		c.wire = func(rw io.ReadWriteCloser) {
			conns = append(conns, rw)
			_ = Serve(context.Background(), rw, func() (executor.Executor, error) { return c.stub, nil })
		}
		e := newTestExecutor(t, c)
		defer e.Close()
		dir := t.TempDir()
		for i := range 3 {
			if result, err := e.Run(t.Context(), commandIn(dir)); err != nil || result.Reason != executor.ReasonExit {
				t.Errorf("%s, %v", result.Reason, err)
			}
			if n := c.opened(); n != i+1 {
				t.Errorf("%d runners, want %d", n, i+1)
			}
			_ = conns[i].Close()
			synctest.Wait()
		}
	})
}
