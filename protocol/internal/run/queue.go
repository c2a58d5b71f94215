package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// ErrBusy is wrapped when a run has found no place in time.
var ErrBusy = errors.New("too many runs")

// ErrStopping is returned when the queue takes no more.
var ErrStopping = errors.New("the server is stopping")

// Queue says when a run may begin. A tenant that is alone has all places. A place that
// becomes free goes to the waiting tenant that has the fewest; of equals, tenants take
// turns.
type Queue struct {
	most int
	wait time.Duration

	mu      sync.Mutex
	running int
	tenants map[string]*tenantQueue
	turns   []string // tenants with somebody waiting, whose turn it is first
	waiting int
	closed  bool
	idle    sync.Cond
}

type tenantQueue struct {
	running int
	waiting []*waiter
}

type waiter struct{ admitted chan error }

// NewQueue returns a queue for most runs at once, of which each waits for its place at
// most that long. 0 stands for the default: four for each processor (GOMAXPROCS), and 60
// seconds.
func NewQueue(most int, wait time.Duration) *Queue {
	if most < 1 {
		most = runsEach * runtime.GOMAXPROCS(0)
	}
	if wait <= 0 {
		wait = defaultWait
	}
	q := &Queue{most: most, wait: wait, tenants: make(map[string]*tenantQueue)}
	q.idle.L = &q.mu
	return q
}

// Acquire waits for a place. Call release when the run has ended. queued is called if it has to wait. The error wraps ErrBusy, or is
// ErrStopping or that of ctx.
func (q *Queue) Acquire(ctx context.Context, tenant string, queued func()) (release func(), err error) {
	w := &waiter{make(chan error, 1)}
	if err := q.enter(tenant, w); err != nil {
		return nil, err
	}
	release = sync.OnceFunc(func() { q.release(tenant) })
	select {
	case err := <-w.admitted:
		return releaseUnless(err, release)
	default:
	}
	queued()
	timer := time.NewTimer(q.wait)
	defer timer.Stop()
	select {
	case err := <-w.admitted:
		return releaseUnless(err, release)
	case <-timer.C:
		err = q.busy("no place in %v", q.wait)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !q.leave(tenant, w) { // it was admitted just now
		if got := <-w.admitted; got != nil {
			return nil, got
		}
		if ctx.Err() == nil {
			return release, nil
		}
		release()
	}
	return nil, err
}

func releaseUnless(err error, release func()) (func(), error) {
	if err != nil {
		return nil, err
	}
	return release, nil
}

func (q *Queue) enter(tenant string, w *waiter) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tenants[tenant]
	if t == nil {
		t = &tenantQueue{}
	}
	switch {
	case q.closed:
		return ErrStopping
	case q.running < q.most:
	case q.waiting >= maxQueued:
		return q.full("at most %d may wait", maxQueued)
	case len(t.waiting) >= maxTenantQueued:
		return q.full("%d of yours wait, and no more may", maxTenantQueued)
	}
	q.tenants[tenant] = t
	if len(t.waiting) == 0 {
		q.turns = append(q.turns, tenant)
	}
	t.waiting = append(t.waiting, w)
	q.waiting++
	q.admit()
	return nil
}

// busy says how many run and wait.
func (q *Queue) busy(format string, args ...any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.full(format, args...)
}

// full is busy where q.mu is held.
func (q *Queue) full(format string, args ...any) error {
	return fmt.Errorf("%w: %d go on and %d wait: "+format, append([]any{ErrBusy, q.running, q.waiting}, args...)...)
}

// admit gives free places to those that wait. It expects q.mu to be held.
func (q *Queue) admit() {
	for len(q.turns) > 0 && q.running < q.most {
		i := 0
		for n, name := range q.turns {
			if q.tenants[name].running < q.tenants[q.turns[i]].running {
				i = n
			}
		}
		name := q.turns[i]
		t := q.tenants[name]
		t.waiting[0].admitted <- nil
		t.waiting = t.waiting[1:]
		q.waiting--
		q.running++
		t.running++
		q.turns = slices.Delete(q.turns, i, i+1)
		if len(t.waiting) > 0 {
			q.turns = append(q.turns, name)
		}
	}
}

// leave takes a waiter out of the queue. It reports false if it is not there.
func (q *Queue) leave(tenant string, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := q.tenants[tenant]
	if t == nil {
		return false
	}
	i := slices.Index(t.waiting, w)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	q.waiting--
	if len(t.waiting) == 0 {
		q.turns = slices.DeleteFunc(q.turns, func(name string) bool { return name == tenant })
	}
	q.forget(tenant)
	return true
}

func (q *Queue) release(tenant string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	q.tenants[tenant].running--
	q.forget(tenant)
	q.admit()
	q.idle.Broadcast()
}

func (q *Queue) forget(tenant string) {
	if t := q.tenants[tenant]; t.running == 0 && len(t.waiting) == 0 {
		delete(q.tenants, tenant)
	}
}

// Close refuses those that wait and all that follow, and waits until those that
// run have ended, or ctx has.
func (q *Queue) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, name := range q.turns {
		t := q.tenants[name]
		for _, w := range t.waiting {
			w.admitted <- ErrStopping
		}
		t.waiting = nil
		q.forget(name)
	}
	q.turns, q.waiting = nil, 0
	for q.running > 0 && ctx.Err() == nil {
		q.idle.Wait()
	}
	return ctx.Err()
}
