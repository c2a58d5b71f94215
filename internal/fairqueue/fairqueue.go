// Package fairqueue shares a number of places among groups, such as the tenants of a server or
// the sessions of an agent. A place that becomes free goes to the waiting group that has the
// fewest places. Groups with equally many take turns.
package fairqueue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Errors of [Queue.Enter] and [Queue.Join].
var (
	// ErrTimeout is returned when no place became free in time.
	ErrTimeout = errors.New("no place was free in time")
	// ErrFull is returned when too many callers wait, and ErrGroupFull when too many of the group
	// do.
	ErrFull      = errors.New("too many wait")
	ErrGroupFull = errors.New("too many of the group wait")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the queue is closed")
	// ErrJoined is returned if a joined entry is incompatible with the new one. To wait does not
	// help, because only the caller that joined ends the entry.
	ErrJoined = errors.New("an entry that has joined is incompatible")
	// ErrIncompatible is returned by Join if an entry that is inside or waits is incompatible
	// with the new one.
	ErrIncompatible = errors.New("another entry is incompatible")
)

// Limits bounds a queue. A zero field means no bound, except for Places.
type Limits struct {
	Places       int // in all
	Group        int // places of one group
	Waiting      int // those that wait
	GroupWaiting int // those of one group that wait
}

// Queue shares places among groups. It is safe for concurrent use. [New] returns one; the zero
// value is not usable.
type Queue[T any] struct {
	limits       Limits
	isCompatible func(a, b T) bool

	mu       sync.Mutex
	groups   map[string]*group[T]
	turns    []string // groups of which some wait, in the order of their turns
	running  int
	waiting  int
	isClosed bool
	idle     sync.Cond
}

// group holds the entries of one group.
type group[T any] struct {
	running int
	inside  []*entry[T] // that have a place or have joined
	waiting []*entry[T] // the one that came first is first
}

// entry is one caller that waits for a place, has one, or has joined without one.
type entry[T any] struct {
	value    T
	isJoined bool
	admitted chan error // gets one value
}

// New returns a queue. isCompatible reports whether two entries of one group may be inside at the
// same time; nil means that all may.
func New[T any](limits Limits, isCompatible func(a, b T) bool) *Queue[T] {
	if isCompatible == nil {
		isCompatible = func(T, T) bool { return true }
	}
	q := &Queue[T]{limits: limits, isCompatible: isCompatible, groups: make(map[string]*group[T])}
	q.idle.L = &q.mu
	return q
}

// Enter waits for a place, at most for timeout. The caller calls leave when it has ended; further
// calls of leave do nothing. waits, if not nil, is called if no place is free. An entry waits
// until it is compatible with those inside. Later entries of its group only overtake it if they
// are compatible with it. The error is ErrTimeout, ErrFull, ErrGroupFull, ErrClosed, ErrJoined or
// that of ctx.
func (q *Queue[T]) Enter(ctx context.Context, name string, value T, timeout time.Duration, waits func()) (leave func(), err error) {
	e := &entry[T]{value: value, admitted: make(chan error, 1)}
	if err := q.wait(name, e); err != nil {
		return nil, err
	}
	leave = sync.OnceFunc(func() { q.leave(name, e) })
	select {
	case err := <-e.admitted:
		return leaveUnless(err, leave)
	default:
	}
	if waits != nil {
		waits()
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case err := <-e.admitted:
		return leaveUnless(err, leave)
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = ErrTimeout
	}
	if q.giveUp(name, e) {
		return nil, err
	}
	if refused := <-e.admitted; refused != nil { // admit or Close was faster than giveUp
		return nil, refused
	}
	if ctx.Err() != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// leaveUnless returns err, or leave if there is none.
func leaveUnless(err error, leave func()) (func(), error) {
	if err != nil {
		return nil, err
	}
	return leave, nil
}

// Join enters without a place and without waiting. The caller calls leave when it has ended;
// further calls of leave do nothing. The error is ErrClosed, ErrJoined or ErrIncompatible.
func (q *Queue[T]) Join(name string, value T) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.group(name)
	defer q.removeIfEmpty(name)
	e := &entry[T]{value: value, isJoined: true}
	conflicts := func(other *entry[T]) bool { return !q.isCompatible(other.value, value) }
	switch {
	case q.isClosed:
		return nil, ErrClosed
	case q.hasIncompatibleJoined(g, value):
		return nil, ErrJoined
	case slices.ContainsFunc(g.inside, conflicts) || slices.ContainsFunc(g.waiting, conflicts):
		return nil, ErrIncompatible
	}
	g.inside = append(g.inside, e)
	return sync.OnceFunc(func() { q.leave(name, e) }), nil
}

// Counts returns how many entries have a place and how many wait.
func (q *Queue[T]) Counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting
}

// IsEmpty reports whether no entry is inside or waits.
func (q *Queue[T]) IsEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.groups) == 0 && q.running == 0 && q.waiting == 0
}

// Close rejects all entries that wait or come later, and waits until all places are free or ctx
// ends. The error is that of ctx.
func (q *Queue[T]) Close(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.idle.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.isClosed = true
	for _, name := range q.turns {
		g := q.groups[name]
		for _, e := range g.waiting {
			e.admitted <- ErrClosed
		}
		g.waiting = nil
		q.removeIfEmpty(name)
	}
	q.turns, q.waiting = nil, 0
	for q.running > 0 && ctx.Err() == nil {
		q.idle.Wait()
	}
	return ctx.Err()
}

// group returns a group, and adds it if there is none. The caller holds q.mu, as for all
// functions below.
func (q *Queue[T]) group(name string) *group[T] {
	g := q.groups[name]
	if g == nil {
		g = &group[T]{}
		q.groups[name] = g
	}
	return g
}

// removeIfEmpty removes a group without entries.
func (q *Queue[T]) removeIfEmpty(name string) {
	if g := q.groups[name]; g != nil && len(g.inside) == 0 && len(g.waiting) == 0 {
		delete(q.groups, name)
	}
}

// hasIncompatibleJoined reports whether a joined entry of g is incompatible with value.
func (q *Queue[T]) hasIncompatibleJoined(g *group[T], value T) bool {
	return slices.ContainsFunc(g.inside, func(e *entry[T]) bool { return e.isJoined && !q.isCompatible(e.value, value) })
}

// wait adds an entry to those that wait, and admits it if possible.
func (q *Queue[T]) wait(name string, e *entry[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.group(name)
	defer q.removeIfEmpty(name)
	mustWait := q.running >= q.limits.Places
	switch {
	case q.isClosed:
		return ErrClosed
	case q.hasIncompatibleJoined(g, e.value):
		return ErrJoined
	case mustWait && q.limits.Waiting > 0 && q.waiting >= q.limits.Waiting:
		return ErrFull
	case mustWait && q.limits.GroupWaiting > 0 && len(g.waiting) >= q.limits.GroupWaiting:
		return ErrGroupFull
	}
	if len(g.waiting) == 0 {
		q.turns = append(q.turns, name)
	}
	g.waiting = append(g.waiting, e)
	q.waiting++
	q.admit()
	return nil
}

// giveUp removes a waiting entry. It returns false if the entry does not wait any more.
func (q *Queue[T]) giveUp(name string, e *entry[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.groups[name]
	if g == nil {
		return false
	}
	i := slices.Index(g.waiting, e)
	if i < 0 {
		return false
	}
	q.remove(name, i)
	q.removeIfEmpty(name)
	q.admit() // it may have kept others of its group from overtaking it
	return true
}

// remove removes the waiting entry at an index of a group.
func (q *Queue[T]) remove(name string, i int) {
	g := q.groups[name]
	g.waiting = slices.Delete(g.waiting, i, i+1)
	q.waiting--
	if len(g.waiting) == 0 {
		q.turns = slices.DeleteFunc(q.turns, func(turn string) bool { return turn == name })
	}
}

func (q *Queue[T]) leave(name string, e *entry[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.groups[name]
	g.inside = slices.DeleteFunc(g.inside, func(other *entry[T]) bool { return other == e })
	if !e.isJoined {
		g.running--
		q.running--
	}
	q.removeIfEmpty(name)
	q.admit()
	q.idle.Broadcast()
}

// admit gives free places to waiting entries.
func (q *Queue[T]) admit() {
	for q.running < q.limits.Places {
		turn, first := -1, 0
		for i, name := range q.turns {
			g := q.groups[name]
			if turn >= 0 && g.running >= q.groups[q.turns[turn]].running {
				continue
			}
			if next := q.next(g); next >= 0 {
				turn, first = i, next
			}
		}
		if turn < 0 {
			return
		}
		name := q.turns[turn]
		g := q.groups[name]
		e := g.waiting[first]
		q.remove(name, first)
		if len(g.waiting) > 0 { // its next turn comes after those of the others
			q.turns = append(slices.Delete(q.turns, turn, turn+1), name)
		}
		g.inside = append(g.inside, e)
		g.running++
		q.running++
		e.admitted <- nil
	}
}

// next returns the index of the first entry of g that may get a place now, or -1.
func (q *Queue[T]) next(g *group[T]) int {
	if q.limits.Group > 0 && g.running >= q.limits.Group {
		return -1
	}
	for i, e := range g.waiting {
		conflicts := func(other *entry[T]) bool { return !q.isCompatible(other.value, e.value) }
		if !slices.ContainsFunc(g.inside, conflicts) && !slices.ContainsFunc(g.waiting[:i], conflicts) {
			return i
		}
	}
	return -1
}
