package run

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/tools"
)

// DefaultPerSession is how many commands of skill_run a session may run at once.
const DefaultPerSession = 4

// queue bounds how many commands run at once. Of those that wait, it first admits
// the ones whose session has the fewest running, then the ones that came first.
type queue struct {
	perSession, total int

	mu      sync.Mutex
	running map[string]int // by session
	talking map[string]int // sessions of skill_exec, which take no place, by session
	alone   map[string]int // how many of both run alone, by session: at most one
	all     int
	waiting []*waiter
}

type waiter struct {
	session string
	alone   bool          // beside no other of its session
	in      chan struct{} // closed when it may run
}

// newQueue returns a queue; 0 stands for [DefaultPerSession] and twice
// GOMAXPROCS.
func newQueue(perSession, total int) *queue {
	if perSession <= 0 {
		perSession = DefaultPerSession
	}
	if total <= 0 {
		total = 2 * runtime.GOMAXPROCS(0)
	}
	return &queue{perSession: perSession, total: total, running: map[string]int{}, talking: map[string]int{}, alone: map[string]int{}}
}

// enter waits for a place, at most for the given time. Without an error the
// caller must call leave, once. A command that is to run alone, or beside one
// that does, waits for commands of skill_run, but not for sessions of skill_exec.
func (q *queue) enter(ctx context.Context, session string, patience time.Duration, alone bool) (leave func(), err error) {
	w := &waiter{session, alone, make(chan struct{})}
	q.mu.Lock()
	if err := q.talks(session, alone); err != nil {
		q.mu.Unlock()
		return nil, err
	}
	q.waiting = append(q.waiting, w)
	q.admit()
	q.mu.Unlock()
	leave = func() { q.leave(w) }
	select {
	case <-w.in:
		return leave, nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.in:
		return leave, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = tools.ModelErrorf("not run: %d commands of a conversation, and %d in all, may run at once, and no place was free for %s: call again when others have ended",
			q.perSession, q.total, patience)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 { // it was admitted at the last moment
		q.free(w)
		return nil, err
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return nil, err
}

func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free(w)
}

// free gives a place back. q.mu is held.
func (q *queue) free(w *waiter) {
	q.all--
	less(q.running, w.session)
	if w.alone {
		less(q.alone, w.session)
	}
	q.admit()
}

func less(counts map[string]int, session string) {
	if counts[session]--; counts[session] == 0 {
		delete(counts, session)
	}
}

// join begins a session of skill_exec, which does not wait. Without an error the
// caller must call leave; further calls of it do nothing.
func (q *queue) join(session string, alone bool) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.talks(session, alone); err != nil {
		return nil, err
	}
	waits := func(w *waiter) bool { return w.alone && w.session == session }
	if alone && q.running[session] > 0 || q.alone[session] > 0 || slices.ContainsFunc(q.waiting, waits) {
		return nil, tools.ModelErrorf("not run: a command that reaches the network runs alone, and another one is running: call again when it has ended")
	}
	q.talking[session]++
	if alone {
		q.alone[session]++
	}
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		less(q.talking, session)
		if alone {
			less(q.alone, session)
		}
		q.admit()
	}), nil
}

// talks returns an error if a session of skill_exec keeps a command from running.
// Only the model can end that session, so it makes no sense to wait. q.mu is
// held.
func (q *queue) talks(session string, alone bool) error {
	if q.talking[session] > 0 && (alone || q.alone[session] > 0) {
		return tools.ModelErrorf("not run: a command that reaches the network runs alone: end the sessions of skill_exec with skill_kill_session first")
	}
	return nil
}

// admit admits every command that may run now. q.mu is held.
func (q *queue) admit() {
	for q.all < q.total {
		next := -1
		for i, w := range q.waiting {
			if n := q.running[w.session]; n < q.perSession && q.may(i) && (next < 0 || n < q.running[q.waiting[next].session]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := q.waiting[next]
		q.waiting = slices.Delete(q.waiting, next, next+1)
		q.running[w.session]++
		if w.alone {
			q.alone[w.session]++
		}
		q.all++
		close(w.in)
	}
}

// may reports whether a waiter may run beside what runs in its session. It may
// not overtake one of its session that waits to run alone. q.mu is held.
func (q *queue) may(i int) bool {
	w := q.waiting[i]
	if q.alone[w.session] > 0 || w.alone && q.running[w.session]+q.talking[w.session] > 0 {
		return false
	}
	return !slices.ContainsFunc(q.waiting[:i], func(before *waiter) bool { return before.alone && before.session == w.session })
}
