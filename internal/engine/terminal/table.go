package terminal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// Table holds the sessions of all owners. Its methods are safe for concurrent
// use.
type Table struct {
	limits Limits

	mu     sync.Mutex
	all    []*Session // oldest first
	opened map[core.SessionKey]numbers
	closed bool
	// alive are the sessions that are not done: each has a goroutine from its
	// start on.
	alive sync.WaitGroup
}

// numbers are those that an owner was given by this table.
type numbers struct{ first, last int }

func (n numbers) has(number int) bool { return n.first > 0 && n.first <= number && number <= n.last }

// New returns an empty table. Close it.
func New(limits Limits) *Table {
	return &Table{limits: limits.orDefaults(), opened: map[core.SessionKey]numbers{}}
}

// Open takes a place for a session that is about to start, and gives it the owner's next
// id: s1, s2 and so on. Its number is above after, the highest number that the owner has
// used, here or on another machine. So ids are the same in each run of the host. The
// caller must call Start or Abandon. The error wraps ErrFull or ErrClosed.
func (t *Table) Open(owner core.SessionKey, after int) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	own, all := t.live(func(s *Session) bool { return s.owner == owner }), t.live(func(*Session) bool { return true })
	switch {
	case len(own) >= t.limits.Sessions:
		return nil, fmt.Errorf("%w: %d are allowed; end one of %s", ErrFull, t.limits.Sessions, strings.Join(own, ", "))
	case len(all) >= t.limits.Total:
		return nil, fmt.Errorf("%w on this host; try again later", ErrFull)
	case len(t.live(func(s *Session) bool { return s.owner.Session == owner.Session })) > t.limits.Total-len(all):
		return nil, fmt.Errorf("%w: this conversation has more than are free for others; end some first", ErrFull)
	}
	t.forgetEnded(owner)
	if len(t.opened) >= maxOwners {
		t.forgetOwners()
	}
	given := t.opened[owner]
	given.last = max(given.last, after) + 1
	if given.first == 0 {
		given.first = given.last
	}
	t.opened[owner] = given
	s := newSession(t, owner, given.last)
	t.all = append(t.all, s)
	t.alive.Add(1)
	return s, nil
}

// live are the ids of sessions that have not ended. t.mu is held.
func (t *Table) live(which func(*Session) bool) (ids []string) {
	for _, s := range t.all {
		if which(s) && !s.Finished() {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// forgetEnded makes room among sessions that have ended: there may be as many
// as run. t.mu is held.
func (t *Table) forgetEnded(owner core.SessionKey) {
	own, all := 0, 0
	for _, s := range slices.Backward(t.all) {
		if !s.Finished() {
			continue
		}
		all++
		if s.owner == owner {
			own++
		}
		if s.owner == owner && own >= t.limits.Sessions || all >= t.limits.Total {
			s.discard()
		}
	}
}

// forgetOwners forgets the counts of owners without sessions. t.mu is held.
func (t *Table) forgetOwners() {
	for owner := range t.opened {
		if !slices.ContainsFunc(t.all, func(s *Session) bool { return s.owner == owner }) {
			delete(t.opened, owner)
		}
	}
}

// Session returns the owner's session with that id. The error wraps ErrUnknown; another
// owner's id is as unknown as one that does not exist. It wraps ErrGone if the owner got the
// id earlier, up to the number after, and the table has no session for it. Such a session ran
// on another machine, or before the host started again.
func (t *Table) Session(owner core.SessionKey, id string, after int) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for _, s := range t.all {
		if s.owner != owner || !isClosed(s.started) || s.ctx.Err() != nil {
			continue
		}
		if s.id == id {
			s.touch()
			return s, nil
		}
		ids = append(ids, s.id)
	}
	if n, ok := numberOf(id); ok && n <= after && !t.opened[owner].has(n) {
		return nil, fmt.Errorf("%s %w", id, ErrGone)
	}
	id = printable.Cut(id, maxEchoed)
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w %q: there is none", ErrUnknown, id)
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrUnknown, id, strings.Join(ids, ", "))
}

// Skill returns the skill whose command the session of that id of that owner runs, ""
// where there is none. It does not count as a use of the session.
func (t *Table) Skill(owner core.SessionKey, id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.owner == owner && s.id == id && isClosed(s.started) {
			return s.skill
		}
	}
	return ""
}

// numberOf returns the number in an id.
func numberOf(id string) (number int, ok bool) {
	digits, ok := strings.CutPrefix(id, "s")
	number, err := strconv.Atoi(digits)
	return number, ok && err == nil && number > 0 && strconv.Itoa(number) == digits
}

// EndSession calls End for all agents of a session of the host. Their next ids start again.
func (t *Table) EndSession(session string) {
	of := func(owner core.SessionKey) bool { return owner.Session == session }
	t.End(of)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.opened, func(owner core.SessionKey, _ numbers) bool { return of(owner) })
}

// End kills and forgets the sessions of the owners that chosen accepts. When it returns,
// their processes have ended and their Finish has returned; one that is about to start
// will not, or is killed at once.
func (t *Table) End(chosen func(owner core.SessionKey) bool) {
	t.mu.Lock()
	var ended []*Session
	for _, s := range t.all {
		if chosen(s.owner) {
			s.discard()
			ended = append(ended, s)
		}
	}
	t.mu.Unlock()
	for _, s := range ended {
		if isClosed(s.started) {
			<-s.gone
		}
	}
}

// Revoke calls [Session.Revoke] for the sessions of all agents of a session of the host.
func (t *Table) Revoke(ctx context.Context, session string) error {
	t.mu.Lock()
	var started []*Session
	for _, s := range t.all {
		if s.owner.Session == session && isClosed(s.started) {
			started = append(started, s)
		}
	}
	t.mu.Unlock()
	var errs []error
	for _, s := range started {
		_, err := s.Revoke(ctx)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Any reports whether an owner that chosen accepts has a session that has not ended.
func (t *Table) Any(chosen func(owner core.SessionKey) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.live(func(s *Session) bool { return chosen(s.owner) })) > 0
}

// Close ends all sessions, also those that are about to start, and lets no more
// open. Further calls do nothing.
func (t *Table) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.End(func(core.SessionKey) bool { return true })
	t.alive.Wait()
}

// abandon removes a session that was not started. Its id is free again if it is the last,
// because no caller has seen it.
func (t *Table) abandon(s *Session) {
	t.mu.Lock()
	if given := t.opened[s.owner]; given.last == s.number {
		given.last--
		t.opened[s.owner] = given
	}
	t.mu.Unlock()
	t.remove(s)
}

// remove takes out a session that is done.
func (t *Table) remove(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(o *Session) bool { return o == s })
	t.alive.Done()
}
