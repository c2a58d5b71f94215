package run

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/tools"
)

// defaultPerSession is how many commands of skill_run a session may run at once.
const defaultPerSession = 4

// runsAlone is the reason for the model.
const runsAlone = "a command that reaches the network runs alone, and one whose skill asks for secrets beside no other skill's unless it starts and stays in its skill's folder"

// queue bounds how many commands run at once. Of those that wait, it first admits
// the ones whose session has the fewest running, then the ones that came first.
type queue struct {
	perSession, total int

	mu      sync.Mutex
	running map[string]int       // commands of skill_run, by session
	begun   map[string][]*waiter // those and the sessions of skill_exec, by session
	all     int
	waiting []*waiter
}

// entrant is a command that wants to run.
type entrant struct {
	session string
	skill   string // its id
	beside  beside
}

// beside says what may run in its session beside a command.
type beside int

const (
	besideAll  beside = iota
	besideOwn         // commands of the same skill
	besideNone        // no other command
)

// bears reports whether two commands of one session may run at the same time.
func (e entrant) bears(other entrant) bool {
	strictest := max(e.beside, other.beside)
	return strictest == besideAll || strictest == besideOwn && e.skill == other.skill
}

type waiter struct {
	entrant
	talks bool          // a session of skill_exec, which takes no place
	in    chan struct{} // closed when it may run
}

// newQueue returns a queue; 0 stands for [defaultPerSession] and twice
// GOMAXPROCS.
func newQueue(perSession, total int) *queue {
	if perSession <= 0 {
		perSession = defaultPerSession
	}
	if total <= 0 {
		total = 2 * runtime.GOMAXPROCS(0)
	}
	return &queue{perSession: perSession, total: total, running: map[string]int{}, begun: map[string][]*waiter{}}
}

// enter waits for a place, at most for the given time. Without an error the
// caller must call leave, once. A command that is to run alone, or beside one
// that does, waits for commands of skill_run, but not for sessions of skill_exec.
func (q *queue) enter(ctx context.Context, e entrant, patience time.Duration) (leave func(), err error) {
	w := &waiter{e, false, make(chan struct{})}
	q.mu.Lock()
	if err := q.talks(e); err != nil {
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
	if q.running[w.session]--; q.running[w.session] == 0 {
		delete(q.running, w.session)
	}
	q.end(w)
}

// end removes a command from those that have begun. q.mu is held.
func (q *queue) end(w *waiter) {
	q.begun[w.session] = slices.DeleteFunc(q.begun[w.session], func(b *waiter) bool { return b == w })
	if len(q.begun[w.session]) == 0 {
		delete(q.begun, w.session)
	}
	q.admit()
}

// join begins a session of skill_exec, which does not wait. Without an error the
// caller must call leave; further calls of it do nothing.
func (q *queue) join(e entrant) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.talks(e); err != nil {
		return nil, err
	}
	waits := func(w *waiter) bool { return w.beside != besideAll && w.session == e.session && !w.bears(e) }
	if !q.fits(e) || slices.ContainsFunc(q.waiting, waits) {
		return nil, tools.ModelErrorf("not run: %s, and another one is running: call again when it has ended", runsAlone)
	}
	w := &waiter{e, true, nil}
	q.begun[e.session] = append(q.begun[e.session], w)
	return sync.OnceFunc(func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.end(w)
	}), nil
}

// fits reports whether a command may run beside all that have begun in its session.
// q.mu is held.
func (q *queue) fits(e entrant) bool {
	return !slices.ContainsFunc(q.begun[e.session], func(b *waiter) bool { return !b.bears(e) })
}

// talks returns an error if a session of skill_exec keeps a command from running.
// Only the model can end that session, so it makes no sense to wait. q.mu is
// held.
func (q *queue) talks(e entrant) error {
	for _, b := range q.begun[e.session] {
		if b.talks && !b.bears(e) {
			return tools.ModelErrorf("not run: %s: end the sessions of skill_exec with skill_kill_session first", runsAlone)
		}
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
		q.begun[w.session] = append(q.begun[w.session], w)
		q.all++
		close(w.in)
	}
}

// may reports whether a waiter may run beside what runs in its session. It may
// not overtake one of its session that waits to run alone. q.mu is held.
func (q *queue) may(i int) bool {
	w := q.waiting[i]
	return q.fits(w.entrant) && !slices.ContainsFunc(q.waiting[:i], func(before *waiter) bool {
		return before.beside != besideAll && before.session == w.session && !before.bears(w.entrant)
	})
}
