// Package fairqueue shares a number of places among groups, such as the tenants of a server or
// the sessions of an agent. A place that becomes free goes to the waiting group that has the
// fewest; of equals, groups take turns.
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
	// ErrPatience is returned when no place was free in time.
	ErrPatience = errors.New("no place was free in time")
	// ErrFull is returned when as many wait as may, and ErrGroupFull when as many of the group
	// do.
	ErrFull      = errors.New("too many wait")
	ErrGroupFull = errors.New("too many of the group wait")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the queue is closed")
	// ErrJoined is returned if one that has joined cannot be beside the new one. Waiting does not
	// help: only its own caller ends it.
	ErrJoined = errors.New("one that has joined bears no other")
	// ErrBeside is returned by Join if one that has a place, or waits for one, cannot be beside
	// the new one.
	ErrBeside = errors.New("another one is there")
)

// Limits bound a queue. A field that is 0 bounds nothing, except Places.
type Limits struct {
	Places       int // in all
	Group        int // places of one group
	Waiting      int // those that wait
	GroupWaiting int // those of one group that wait
}

// Queue is a queue for places. Its methods may be called concurrently. The zero value is not
// usable: see [New].
type Queue[T any] struct {
	limits Limits
	bears  func(a, b T) bool

	mu      sync.Mutex
	groups  map[string]*group[T]
	turns   []string // groups of which some wait, in the order of their turns
	running int
	waiting int
	closed  bool
	idle    sync.Cond
}

// group is what one group has.
type group[T any] struct {
	running int
	inside  []*entry[T] // that have a place or have joined
	waiting []*entry[T] // the one that came first is first
}

// entry is one that wants a place, has one, or has joined without one.
type entry[T any] struct {
	what     T
	joined   bool
	admitted chan error // gets one value
}

// New returns a queue. bears reports whether two of one group may be inside at the same time;
// nil means that all may.
func New[T any](limits Limits, bears func(a, b T) bool) *Queue[T] {
	if bears == nil {
		bears = func(T, T) bool { return true }
	}
	q := &Queue[T]{limits: limits, bears: bears, groups: make(map[string]*group[T])}
	q.idle.L = &q.mu
	return q
}

// Enter waits for a place, at most for the given time. The caller calls leave when it has ended;
// further calls of leave do nothing. waits, if not nil, is called if no place is free. One that
// is not borne by others of its group waits for them, and is not overtaken by those of its group
// that it does not bear. The error is ErrPatience, ErrFull, ErrGroupFull, ErrClosed, ErrJoined
// or that of ctx.
func (q *Queue[T]) Enter(ctx context.Context, name string, what T, patience time.Duration, waits func()) (leave func(), err error) {
	e := &entry[T]{what: what, admitted: make(chan error, 1)}
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
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-e.admitted:
		return leaveUnless(err, leave)
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = ErrPatience
	}
	if q.giveUp(name, e) {
		return nil, err
	}
	if refused := <-e.admitted; refused != nil { // it was decided just now
		return nil, refused
	}
	if ctx.Err() != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

func leaveUnless(err error, leave func()) (func(), error) {
	if err != nil {
		return nil, err
	}
	return leave, nil
}

// Join goes inside without a place and without waiting. The caller calls leave when it has
// ended; further calls of leave do nothing. The error is ErrClosed, ErrJoined or ErrBeside.
func (q *Queue[T]) Join(name string, what T) (leave func(), err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.group(name)
	defer q.forget(name)
	e := &entry[T]{what: what, joined: true}
	refused := func(other *entry[T]) bool { return !q.bears(other.what, what) }
	switch {
	case q.closed:
		return nil, ErrClosed
	case q.joinedBars(g, what):
		return nil, ErrJoined
	case slices.ContainsFunc(g.inside, refused) || slices.ContainsFunc(g.waiting, refused):
		return nil, ErrBeside
	}
	g.inside = append(g.inside, e)
	return sync.OnceFunc(func() { q.leave(name, e) }), nil
}

// Counts returns how many have a place and how many wait.
func (q *Queue[T]) Counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting
}

// Empty reports whether nothing is inside or waits.
func (q *Queue[T]) Empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.groups) == 0 && q.running == 0 && q.waiting == 0
}

// Close refuses all that wait or come later, and waits until all places are free or ctx ends.
// The error is that of ctx.
func (q *Queue[T]) Close(ctx context.Context) error {
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
		g := q.groups[name]
		for _, e := range g.waiting {
			e.admitted <- ErrClosed
		}
		g.waiting = nil
		q.forget(name)
	}
	q.turns, q.waiting = nil, 0
	for q.running > 0 && ctx.Err() == nil {
		q.idle.Wait()
	}
	return ctx.Err()
}

// group returns a group, which forget removes if it has nothing. q.mu is held, here and below.
func (q *Queue[T]) group(name string) *group[T] {
	g := q.groups[name]
	if g == nil {
		g = &group[T]{}
		q.groups[name] = g
	}
	return g
}

func (q *Queue[T]) forget(name string) {
	if g := q.groups[name]; g != nil && len(g.inside) == 0 && len(g.waiting) == 0 {
		delete(q.groups, name)
	}
}

// joinedBars reports whether one that has joined a group bars another one.
func (q *Queue[T]) joinedBars(g *group[T], what T) bool {
	return slices.ContainsFunc(g.inside, func(e *entry[T]) bool { return e.joined && !q.bears(e.what, what) })
}

// wait adds an entry to those that wait, and admits it if it can.
func (q *Queue[T]) wait(name string, e *entry[T]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.group(name)
	defer q.forget(name)
	mustWait := q.running >= q.limits.Places
	switch {
	case q.closed:
		return ErrClosed
	case q.joinedBars(g, e.what):
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

// giveUp takes an entry out of those that wait. It reports false if it does not wait any more.
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
	q.forget(name)
	q.admit() // it may have kept others of its group from overtaking it
	return true
}

// remove takes the entry with an index out of those of a group that wait.
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
	if !e.joined {
		g.running--
		q.running--
	}
	q.forget(name)
	q.admit()
	q.idle.Broadcast()
}

// admit gives the free places away.
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

// next returns the index of the first of a group that may have a place now, or -1.
func (q *Queue[T]) next(g *group[T]) int {
	if q.limits.Group > 0 && g.running >= q.limits.Group {
		return -1
	}
	for i, e := range g.waiting {
		refused := func(other *entry[T]) bool { return !q.bears(other.what, e.what) }
		if !slices.ContainsFunc(g.inside, refused) && !slices.ContainsFunc(g.waiting[:i], refused) {
			return i
		}
	}
	return -1
}
