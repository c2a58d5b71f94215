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

// Table holds the sessions of all owners. Its methods are safe for concurrent use.
type Table struct {
	limits Limits

	mu       sync.Mutex
	all      []*Session // oldest first
	opened   map[core.SessionKey]numbers
	isClosed bool
	// alive counts the sessions that are in the table. Each has a goroutine from its start on.
	alive sync.WaitGroup
}

// numbers is the range of session numbers that an owner has got from this table.
type numbers struct{ first, last int }

func (n numbers) has(number int) bool { return n.first > 0 && n.first <= number && number <= n.last }

// New returns an empty table. The caller must close it.
func New(limits Limits) *Table {
	return &Table{limits: limits.orDefaults(), opened: map[core.SessionKey]numbers{}}
}

// Open reserves a place for a session that is about to start, and gives it the owner's next id:
// s1, s2 and so on. after is the highest number that the owner has used, here or on another
// machine; the new number is above it. The caller must call Start or Abandon. The error wraps
// ErrFull or ErrClosed.
func (t *Table) Open(owner core.SessionKey, after int) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isClosed {
		return nil, ErrClosed
	}
	own, all := t.liveIDs(func(s *Session) bool { return s.owner == owner }), t.liveIDs(func(*Session) bool { return true })
	switch {
	case len(own) >= t.limits.Sessions:
		return nil, fmt.Errorf("%w: %d are allowed; end one of %s", ErrFull, t.limits.Sessions, strings.Join(own, ", "))
	case len(all) >= t.limits.Total:
		return nil, fmt.Errorf("%w on this host; try again later", ErrFull)
	case len(t.liveIDs(func(s *Session) bool { return s.owner.Session == owner.Session })) > t.limits.Total-len(all):
		return nil, fmt.Errorf("%w: this conversation has more than are free for others; end some first", ErrFull)
	}
	t.forgetEnded(owner)
	if len(t.opened) >= maxOwners {
		t.forgetOwners()
	}
	used := t.opened[owner]
	used.last = max(used.last, after) + 1
	if used.first == 0 {
		used.first = used.last
	}
	t.opened[owner] = used
	s := newSession(t, owner, used.last)
	t.all = append(t.all, s)
	t.alive.Add(1)
	return s, nil
}

// liveIDs returns the ids of sessions that have not ended. The caller holds t.mu.
func (t *Table) liveIDs(which func(*Session) bool) (ids []string) {
	for _, s := range t.all {
		if which(s) && !s.HasFinished() {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// forgetEnded discards the oldest ended sessions, if there are as many as may run. The caller
// holds t.mu.
func (t *Table) forgetEnded(owner core.SessionKey) {
	own, all := 0, 0
	for _, s := range slices.Backward(t.all) {
		if !s.HasFinished() {
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

// forgetOwners drops the numbers of owners without sessions. The caller holds t.mu.
func (t *Table) forgetOwners() {
	for owner := range t.opened {
		if !slices.ContainsFunc(t.all, func(s *Session) bool { return s.owner == owner }) {
			delete(t.opened, owner)
		}
	}
}

// Session returns the owner's session with that id. The error wraps ErrUnknown if there is none,
// also if the id belongs to another owner. It wraps ErrGone if the owner got the id earlier from
// another machine or before a restart; after is the highest number that the owner has used.
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
	id = printable.Cut(id, maxQuotedID)
	if len(ids) == 0 {
		return nil, fmt.Errorf("%w %q: there is none", ErrUnknown, id)
	}
	return nil, fmt.Errorf("%w %q: there are %s", ErrUnknown, id, strings.Join(ids, ", "))
}

// Skill returns the skill whose command an owner's session runs, or "". It does not count as a
// use of the session.
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

// EndSession ends the sessions of all agents of a host's session. Their ids start again at s1.
func (t *Table) EndSession(session string) {
	of := func(owner core.SessionKey) bool { return owner.Session == session }
	t.End(of)
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.opened, func(owner core.SessionKey, _ numbers) bool { return of(owner) })
}

// End kills and forgets the sessions of the owners for which chosen returns true. It waits until
// their processes have ended and Finish has returned. A session that is about to start does not
// start, or is killed at once.
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
			<-s.removed
		}
	}
}

// Revoke calls [Session.Revoke] for the sessions of all agents of a host's session.
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

// HasLive reports whether an owner for which chosen returns true has a session that has not
// ended.
func (t *Table) HasLive(chosen func(owner core.SessionKey) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.liveIDs(func(s *Session) bool { return chosen(s.owner) })) > 0
}

// Close ends all sessions, also those that are about to start. Open then returns ErrClosed.
// Further calls do nothing.
func (t *Table) Close() {
	t.mu.Lock()
	t.isClosed = true
	t.mu.Unlock()
	t.End(func(core.SessionKey) bool { return true })
	t.alive.Wait()
}

// abandon removes a session that was not started. If it has the owner's last number, the number
// is free again, because no caller has seen it.
func (t *Table) abandon(s *Session) {
	t.mu.Lock()
	if used := t.opened[s.owner]; used.last == s.number {
		used.last--
		t.opened[s.owner] = used
	}
	t.mu.Unlock()
	t.remove(s)
}

// remove removes a session from the table.
func (t *Table) remove(s *Session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = slices.DeleteFunc(t.all, func(o *Session) bool { return o == s })
	t.alive.Done()
}
