package sessiontest

import (
	"fmt"
	"io"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// RunDurable runs the tests for stores that keep their content in a directory, in addition to
// [Run]. openAt opens a handle on dir. A test closes a handle that is an io.Closer, and drops
// any other.
func RunDurable(t *testing.T, openAt func(t *testing.T, dir string) session.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, func() session.Store)
	}{
		{"reopen/keeps everything", reopenKeeps},
		{"reopen/remembers the end", reopenEnded},
		{"two handles/see each other", handlesSee},
		{"two handles/lose no update", handlesUpdate},
		{"two handles/one end is the end for both", handlesEnd},
		{"two handles/same version with other bytes", handlesSameVersion},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.run(t, func() session.Store { return openAt(t, dir) })
		})
	}
}

func closeStore(t *testing.T, s session.Store) {
	t.Helper()
	if c, isCloser := s.(io.Closer); isCloser {
		ok(t, c.Close())
	}
}

func reopenKeeps(t *testing.T, open func() session.Store) {
	want := map[core.SessionKey]session.Value{}
	for round := range 6 {
		s := open()
		for i, id := range ids() {
			k := core.SessionKey{Session: id, Agent: ids()[len(ids())-1-i]}
			v := load(t, s, k)
			if round > 0 {
				equal(t, fmt.Sprintf("value of %.40q", id), v, want[k])
				text, err := s.Pinned(t.Context(), id, session.Digest(id))
				equal(t, "pin", must(t, text, err), id)
			}
			next := number(round)
			next.Version = v.Version
			want[k] = save(t, s, k, next)
			ok(t, s.Pin(t.Context(), id, session.Digest(id), id))
		}
		closeStore(t, s)
	}
}

func reopenEnded(t *testing.T, open func() session.Store) {
	s := open()
	v := save(t, s, key, full())
	ok(t, s.Pin(t.Context(), key.Session, session.Digest("x"), "x"))
	ok(t, s.End(t.Context(), key.Session))
	closeStore(t, s)

	s = open()
	defer closeStore(t, s)
	equal(t, "value", load(t, s, key), session.Value{})
	_, err := s.Save(t.Context(), key, v)
	is(t, err, session.ErrConflict)
	_, err = s.Pinned(t.Context(), key.Session, session.Digest("x"))
	is(t, err, session.ErrNotPinned)
}

func handlesSee(t *testing.T, open func() session.Store) {
	a, b := open(), open()
	defer closeStore(t, a)
	defer closeStore(t, b)
	for i := range 6 {
		stale := load(t, b, key)
		next := number(i)
		next.Version = stale.Version
		saved := save(t, a, key, next)
		equal(t, "value at the other handle", load(t, b, key), saved)
		_, err := b.Save(t.Context(), key, stale)
		is(t, err, session.ErrConflict)
		a, b = b, a
	}
	ok(t, a.Pin(t.Context(), key.Session, session.Digest("x"), "x"))
	text, err := b.Pinned(t.Context(), key.Session, session.Digest("x"))
	equal(t, "pin at the other handle", must(t, text, err), "x")
	agents, err := b.Agents(t.Context(), key.Session)
	equal(t, "agents at the other handle", must(t, agents, err), []string{key.Agent})
}

func handlesUpdate(t *testing.T, open func() session.Store) {
	a, b := open(), open()
	defer closeStore(t, a)
	defer closeStore(t, b)
	countUpdates(t, a, b)
}

func handlesEnd(t *testing.T, open func() session.Store) {
	a, b := open(), open()
	defer closeStore(t, a)
	defer closeStore(t, b)
	v := save(t, a, key, full())
	ok(t, b.End(t.Context(), key.Session))
	equal(t, "value", load(t, a, key), session.Value{})
	_, err := a.Save(t.Context(), key, v)
	is(t, err, session.ErrConflict)
	equal(t, "version of the next save", save(t, a, key, full()).Version, int64(1))
}

// handlesSameVersion checks that a handle does not mistake new bytes for old ones of the same
// version. Another handle ends the session and saves other bytes at a version that the first
// handle has seen.
func handlesSameVersion(t *testing.T, open func() session.Store) {
	a, b := open(), open()
	defer closeStore(t, a)
	defer closeStore(t, b)
	for i := range 4 {
		saved := save(t, a, key, number(2*i))
		equal(t, "value at the other handle", load(t, b, key), saved)
		ok(t, b.End(t.Context(), key.Session))
		saved = save(t, b, key, number(2*i+1))
		equal(t, "version", saved.Version, int64(1))
		equal(t, "value at the first handle", load(t, a, key), saved)
		ok(t, b.End(t.Context(), key.Session))
		a, b = b, a
	}
}
