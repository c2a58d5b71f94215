//go:build unix

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"os"

	"github.com/satchel-go/satchel/executor"
)

func TestOneRunnerForAWorkspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: exits}}
		e := newTestExecutor(t, c)
		first, second := t.TempDir(), t.TempDir()
		for _, dir := range []string{first, first + "/.", second, first} {
			if result, err := e.Run(t.Context(), commandIn(dir)); err != nil || result.Reason != executor.ReasonExit {
				t.Errorf("%s: %s, %v", dir, result.Reason, err)
			}
		}
		if n := c.opened(); n != 2 {
			t.Errorf("%d runners for 2 workspaces", n)
		}
		job := c.jobs[0]
		if job.Workspace != first || len(job.Verify) != 1 || job.Verify[0].Ino == 0 || job.Limits.Memory == 0 {
			t.Errorf("job %+v", job)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		c.served.Wait()
		if _, err := e.Run(t.Context(), commandIn(first)); !errors.Is(err, executor.ErrSetup) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestIdleRunnersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: func(ctx context.Context, cmd executor.Command) (executor.Result, error) {
			time.Sleep(20 * time.Second)
			return exits(ctx, cmd)
		}}}
		e := newTestExecutor(t, c)
		defer e.Close()
		dir := t.TempDir()
		run := func(want int) {
			t.Helper()
			if _, err := e.Run(t.Context(), commandIn(dir)); err != nil {
				t.Error(err)
			}
			if n := c.opened(); n != want {
				t.Errorf("%d runners, want %d", n, want)
			}
		}
		run(1)
		time.Sleep(defaultIdle - time.Second)
		run(1) // the command itself takes longer than the rest of the idle time
		time.Sleep(defaultIdle + time.Second)
		c.served.Wait()
		run(2)
	})
}

func TestPreparedRunnersStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: exits}}
		e := newTestExecutor(t, c)
		defer e.Close()
		used, released := t.TempDir(), t.TempDir()
		for _, dir := range []string{used, released} {
			if err := e.Prepare(t.Context(), dir, executor.Limits{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10 * defaultIdle)
		if _, err := e.Run(t.Context(), commandIn(used)); err != nil {
			t.Error(err)
		}
		if err := e.Release(released); err != nil {
			t.Error(err)
		}
		if n := c.opened(); n != 2 {
			t.Errorf("%d runners for 2 workspaces", n)
		}
		time.Sleep(defaultIdle + time.Second) // the first command has ended, so its runner goes too
		c.served.Wait()
	})
}

func TestReleaseEndsCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: waits}}
		e := newTestExecutor(t, c)
		defer e.Close()
		dir, ended := t.TempDir(), make(chan executor.Reason, 3)
		for range cap(ended) {
			go func() {
				result, err := e.Run(t.Context(), commandIn(dir))
				if err != nil {
					t.Error(err)
				}
				ended <- result.Reason
			}()
		}
		synctest.Wait()
		if err := e.Release(dir + "/"); err != nil {
			t.Error(err)
		}
		c.served.Wait()
		for range cap(ended) {
			if reason := <-ended; reason != executor.ReasonCancelled {
				t.Errorf("reason %s", reason)
			}
		}
		if err := e.Release(t.TempDir()); err != nil {
			t.Errorf("a workspace without runner: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if result, err := e.Run(ctx, commandIn(dir)); err != nil || result.Reason != executor.ReasonCancelled || c.opened() != 2 {
			t.Errorf("after Release: %s, %v, %d runners", result.Reason, err, c.opened())
		}
	})
}

func TestAllRunnersAreBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{stub: stub{run: waits}}
		e := newTestExecutor(t, c)
		defer e.Close()
		base := t.TempDir()
		dir := func(i int) string {
			at := filepath.Join(base, fmt.Sprint(i))
			if err := os.MkdirAll(at, 0o700); err != nil {
				t.Fatal(err)
			}
			return at
		}
		ctx, cancel := context.WithCancel(t.Context())
		first, endFirst := context.WithCancel(ctx)
		for i := range maxRunners {
			ctx := ctx
			if i == 0 {
				ctx = first
			}
			go func() { _, _ = e.Run(ctx, commandIn(dir(i))) }()
		}
		synctest.Wait()
		start := time.Now()
		result, err := e.Run(ctx, commandIn(dir(maxRunners)))
		if !errors.Is(err, executor.ErrSetup) || !strings.HasSuffix(err.Error(), "all 64 runners are busy: try again later") || result.Reason != executor.ReasonSetup {
			t.Errorf("%s, %v", result.Reason, err)
		}
		if waited := time.Since(start); waited != busyWait {
			t.Errorf("it waited %v, want %v", waited, busyWait)
		}
		waiting, stop := context.WithTimeout(ctx, 10*time.Second)
		if result, err := e.Run(waiting, commandIn(dir(maxRunners))); err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("cancelled while it waits: %s, %v", result.Reason, err)
		}
		stop()
		if _, err := e.Start(waiting, commandIn(dir(maxRunners)), executor.Terminal{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("start with an ended context: %v", err)
		}
		// The runner of the first command becomes idle, and makes room at once.
		time.AfterFunc(5*time.Second, endFirst)
		start = time.Now()
		waiting, stop = context.WithTimeout(ctx, 20*time.Second)
		defer stop()
		result, err = e.Run(waiting, commandIn(dir(maxRunners)))
		if err != nil || result.Reason != executor.ReasonCancelled || c.opened() != maxRunners+1 || time.Since(start) != 20*time.Second {
			t.Errorf("%s, %v, %d runners, %v", result.Reason, err, c.opened(), time.Since(start))
		}
		cancel()
	})
}

func TestOpeningFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &carrier{err: errors.New("no daemon")}
		e := newTestExecutor(t, c)
		defer e.Close()
		result, err := e.Run(t.Context(), commandIn(t.TempDir()))
		if !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "no daemon") || result.Reason != executor.ReasonSetup {
			t.Errorf("%s, %v", result.Reason, err)
		}
		_, err = e.Start(t.Context(), commandIn(t.TempDir()), executor.Terminal{})
		if !errors.Is(err, executor.ErrSetup) || c.opened() != 2 {
			t.Errorf("start: %v, %d runners", err, c.opened())
		}
		c.err, c.wire = nil, func(rw io.ReadWriteCloser) {
			_ = Serve(context.Background(), rw, func() (executor.Executor, error) { return nil, errors.New("no sandbox here") })
		}
		if _, err := e.Run(t.Context(), commandIn(t.TempDir())); !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "no sandbox here") {
			t.Errorf("a runner without executor: %v", err)
		}
		c.wire = func(rw io.ReadWriteCloser) { _, _ = io.Copy(io.Discard, rw) } // silent
		start := time.Now()
		if _, err := e.Run(t.Context(), commandIn(t.TempDir())); !errors.Is(err, executor.ErrSetup) || time.Since(start) > openWait {
			t.Errorf("a silent runner: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if result, err := e.Run(ctx, commandIn(t.TempDir())); err != nil || result.Reason != executor.ReasonCancelled {
			t.Errorf("cancelled while it opens: %s, %v", result.Reason, err)
		}
	})
}

func TestOptions(t *testing.T) {
	for name, opt := range map[string]Option{
		"no idle time": WithIdle(0), "a day": WithIdle(24 * time.Hour), "relative": WithWorkspaceAt("workspace"), "nowhere": WithWorkspaceAt(""),
	} {
		if _, err := New(&carrier{}, opt); !errors.Is(err, errOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
