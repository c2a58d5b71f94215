package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/satchel-go/satchel/internal/fairqueue"
)

// ErrBusy is wrapped when a run has found no place in time.
var ErrBusy = errors.New("too many runs")

// ErrStopping is returned when the queue takes no more.
var ErrStopping = errors.New("the server is stopping")

// Queue says when a run may begin. A tenant that is alone has all places; tenants that want them
// at once share them.
type Queue struct {
	places *fairqueue.Queue[struct{}]
	wait   time.Duration
}

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
	limits := fairqueue.Limits{Places: most, Waiting: maxQueued, GroupWaiting: maxTenantQueued}
	return &Queue{fairqueue.New[struct{}](limits, nil), wait}
}

// Acquire waits for a place. The caller calls release when the run has ended. queued is called
// if the run has to wait. The error wraps ErrBusy, or is ErrStopping or that of ctx.
func (q *Queue) Acquire(ctx context.Context, tenant string, queued func()) (release func(), err error) {
	release, err = q.places.Enter(ctx, tenant, struct{}{}, q.wait, queued)
	switch {
	case errors.Is(err, fairqueue.ErrPatience):
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

// busy says how many run, and how many wait: own more than the queue counts now.
func (q *Queue) busy(own int, format string, args ...any) error {
	running, waiting := q.places.Counts()
	return fmt.Errorf("%w: %d go on and %d wait: "+format, append([]any{ErrBusy, running, waiting + own}, args...)...)
}

// Close refuses those that wait and all that follow, and waits until those that
// run have ended, or ctx has.
func (q *Queue) Close(ctx context.Context) error { return q.places.Close(ctx) }
