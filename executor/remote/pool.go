package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// errReleased is the cause if Release, Close or the idle time ended a runner.
var errReleased = errors.New("the runner was released")

// take returns the runner of a job's workspace, and starts one if there is none. The caller gives it back.
func (e *Executor) take(ctx context.Context, job Job) (*runner, error) {
	timer := time.NewTimer(busyWait)
	defer timer.Stop()
	for {
		r, freed, err := e.tryTake(job)
		if r != nil {
			return e.awaitOpen(ctx, r)
		}
		if freed == nil {
			return nil, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, err
		}
	}
}

// tryTake returns a runner that the caller uses now. If there is none, the error says why, and the channel
// is closed when there may be one. Without channel there will be none.
func (e *Executor) tryTake(job Job) (*runner, <-chan struct{}, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, fmt.Errorf("%w: the executor is closed", executor.ErrSetup)
	}
	r := e.runners[job.Workspace]
	if r != nil && !r.leaving && r.isLost() {
		delete(e.runners, job.Workspace)
		r = nil
	}
	switch {
	case r != nil && r.leaving:
		return nil, e.freed, fmt.Errorf("%w: the runner of %q is ending: try again later", executor.ErrSetup, job.Workspace)
	case r != nil && !slices.Equal(r.job.Verify, job.Verify): // it may see the old directory
		if r.uses == 0 {
			e.retire(r)
		}
		return nil, e.freed, fmt.Errorf("%w: %q was replaced while commands run in it: try again later", executor.ErrSetup, job.Workspace)
	case r != nil:
	case len(e.alive) < maxRunners:
		r = e.startRunner(job)
	default:
		if old := e.longestIdle(); old != nil {
			e.retire(old)
		}
		return nil, e.freed, fmt.Errorf("%w: all %d runners are busy: try again later", executor.ErrSetup, maxRunners)
	}
	e.use(r)
	return r, nil, nil
}

// takeAny returns the runner that was used last, or one without a workspace.
func (e *Executor) takeAny(ctx context.Context) (*runner, error) {
	e.mu.Lock()
	r := e.lastUsed
	if r == nil || r.leaving || r.isLost() || e.runners[r.job.Workspace] != r || e.closed {
		e.mu.Unlock()
		return e.take(ctx, Job{Limits: executor.Limits{}.OrDefaults()})
	}
	e.use(r)
	e.mu.Unlock()
	return e.awaitOpen(ctx, r)
}

// use counts a user of a runner. The caller holds e.mu.
func (e *Executor) use(r *runner) {
	r.uses++
	if r.timer != nil {
		r.timer.Stop()
	}
	e.lastUsed = r
}

// startRunner starts a runner in the background. The caller holds e.mu.
func (e *Executor) startRunner(job Job) *runner {
	ctx, cancel := context.WithTimeout(context.Background(), openWait)
	r := &runner{
		executor: e, job: job, cancel: cancel, opened: make(chan struct{}), gone: make(chan struct{}),
		sending: make(chan struct{}, 1), hello: make(chan helloAnswer, 1),
		commands: map[uint32]*command{}, searches: map[uint32]chan foundMessage{},
	}
	e.runners[job.Workspace] = r
	e.alive[r] = true
	go r.live(ctx)
	return r
}

// awaitOpen waits until a runner that the caller uses is open.
func (e *Executor) awaitOpen(ctx context.Context, r *runner) (*runner, error) {
	var err error
	select {
	case <-r.opened:
		err = r.openErr
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		e.give(r)
		return nil, err
	}
	return r, nil
}

// give takes a runner back. Without users, an open runner is idle, and one that opens is ended.
func (e *Executor) give(r *runner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.uses--; r.uses > 0 || r.leaving {
		return
	}
	if !r.isOpen() {
		e.retire(r)
		return
	}
	r.idleSince = time.Now()
	if !r.kept {
		r.timer = time.AfterFunc(e.idle, func() { e.retireIdle(r, time.Now()) })
	}
	e.wakeWaiting()
}

// retireIdle ends a runner if it has been idle for long enough.
func (e *Executor) retireIdle(r *runner, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.uses == 0 && !r.leaving && now.Sub(r.idleSince) >= e.idle {
		e.retire(r)
	}
}

// longestIdle returns the runner that has been idle for the longest time, or nil. The caller holds e.mu.
func (e *Executor) longestIdle() *runner {
	var found *runner
	for _, r := range e.runners {
		if r.uses == 0 && !r.leaving && (found == nil || r.idleSince.Before(found.idleSince)) {
			found = r
		}
	}
	return found
}

// retire ends a runner. Its workspace gets no other one before it has ended. The caller holds e.mu.
func (e *Executor) retire(r *runner) {
	r.leaving = true
	if r.timer != nil {
		r.timer.Stop()
	}
	r.cancel()
	if r.isOpen() && r.conn != nil {
		go r.conn.fail(errReleased)
	}
}

// lose forgets a runner whose connection has ended, so that the next command of its workspace gets another
// one.
func (e *Executor) lose(r *runner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !r.leaving && e.runners[r.job.Workspace] == r {
		delete(e.runners, r.job.Workspace)
	}
}

// remove forgets a runner that has ended, and frees its place.
func (e *Executor) remove(r *runner) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runners[r.job.Workspace] == r {
		delete(e.runners, r.job.Workspace)
	}
	if e.lastUsed == r {
		e.lastUsed = nil
	}
	delete(e.alive, r)
	close(r.gone)
	e.wakeWaiting()
}

// wakeWaiting wakes the commands that wait for a runner. The caller holds e.mu.
func (e *Executor) wakeWaiting() {
	close(e.freed)
	e.freed = make(chan struct{})
}

// Release implements executor.Releaser. Commands that still run in the workspace end with
// ReasonCancelled.
func (e *Executor) Release(workspace string) error {
	workspace = filepath.Clean(workspace)
	e.mu.Lock()
	var left []*runner
	for r := range e.alive {
		if r.job.Workspace == workspace {
			left = append(left, r)
		}
	}
	e.mu.Unlock()
	e.release(left)
	return nil
}

// Close ends all runners and their commands. Later commands fail with executor.ErrSetup.
func (e *Executor) Close() error {
	e.mu.Lock()
	e.closed = true
	left := slices.Collect(maps.Keys(e.alive))
	e.wakeWaiting()
	e.mu.Unlock()
	e.release(left)
	return nil
}

// release ends runners and their commands, and returns when they have ended.
func (e *Executor) release(left []*runner) {
	var ending sync.WaitGroup
	for _, r := range left {
		ending.Go(func() { e.releaseOne(r) })
	}
	ending.Wait()
}

func (e *Executor) releaseOne(r *runner) {
	e.mu.Lock()
	first := !r.leaving
	r.leaving = true
	e.mu.Unlock()
	if first && r.isOpen() {
		r.endCommands()
	}
	e.mu.Lock()
	e.retire(r)
	e.mu.Unlock()
	<-r.gone
}
