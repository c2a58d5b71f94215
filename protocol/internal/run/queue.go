package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/satchel-go/satchel/internal/fairqueue"
)

// ErrBusy is wrapped if the queue is full, or if a run could not begin in time.
var ErrBusy = errors.New("too many runs")

// ErrStopping is returned after Close.
var ErrStopping = errors.New("the server is stopping")

// Queue limits how many runs there are at once. Tenants that want to run at the same time share
// the places; one tenant alone may have all of them.
type Queue struct {
	places *fairqueue.Queue[struct{}]
	wait   time.Duration
}

// NewQueue returns a queue that allows so many runs at once. A run waits for its place at most the
// wait. Zero means the default: four runs for each processor (GOMAXPROCS), and 60 seconds.
func NewQueue(runs int, wait time.Duration) *Queue {
	if runs < 1 {
		runs = runsPerCPU * runtime.GOMAXPROCS(0)
	}
	if wait <= 0 {
		wait = defaultWait
	}
	limits := fairqueue.Limits{Places: runs, Waiting: maxQueued, GroupWaiting: maxTenantQueued}
	return &Queue{fairqueue.New[struct{}](limits, nil), wait}
}

// Acquire waits for a place. The caller calls release when the run has ended. queued is called
// if the run has to wait. The error wraps ErrBusy, or is ErrStopping or that of ctx.
func (q *Queue) Acquire(ctx context.Context, tenant string, queued func()) (release func(), err error) {
	release, err = q.places.Enter(ctx, tenant, struct{}{}, q.wait, queued)
	switch {
	case errors.Is(err, fairqueue.ErrTimeout):
		return nil, q.busy(1, "no place in %v", q.wait)
	case errors.Is(err, fairqueue.ErrFull):
		return nil, q.busy(0, "at most %d may wait", maxQueued)
	case errors.Is(err, fairqueue.ErrGroupFull):
		return nil, q.busy(0, "%d of yours wait, and no more may", maxTenantQueued)
	case errors.Is(err, fairqueue.ErrClosed):
		return nil, ErrStopping
	}
	return release, err
}

// busy returns ErrBusy with the numbers of runs. uncounted are runs that have just stopped waiting:
// the error counts them as waiting.
func (q *Queue) busy(uncounted int, format string, args ...any) error {
	running, waiting := q.places.Counts()
	return fmt.Errorf("%w: %d go on and %d wait: "+format, append([]any{ErrBusy, running, waiting + uncounted}, args...)...)
}

// Close refuses waiting runs and all later ones. It returns when all running ones have ended, or
// when ctx ends.
func (q *Queue) Close(ctx context.Context) error { return q.places.Close(ctx) }
