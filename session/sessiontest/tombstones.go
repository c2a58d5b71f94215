package sessiontest

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// TombstoneStore is a store that remembers which sessions have ended.
type TombstoneStore interface {
	session.Store
	session.Tombstones
}

// RunTombstones runs the tests for stores that are also [session.Tombstones], in addition to
// [Run]. open is the same as that of Run.
func RunTombstones(t *testing.T, open func(t *testing.T) TombstoneStore) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, TombstoneStore)
	}{
		{"unknown session", endedUnknown},
		{"mark ends the session", markEnds},
		{"late save does not revive", markLateSave},
		{"each agent, the last end", markAgents},
		{"many sessions of one place", markMany},
		{"ids/any string", markIDs},
		{"parallel", markParallel},
		{"context/cancelled", markCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

func checkEnded(t *testing.T, s session.Tombstones, k core.SessionKey, want int) {
	t.Helper()
	calls, err := s.Ended(t.Context(), k)
	if err != nil || calls != want {
		t.Errorf("%.40q of %.40q: call %d, %v; want %d", k.Agent, k.Session, calls, err, want)
	}
}

// tombstones returns a list with the tombstone of an agent that made so many calls.
func tombstones(k core.SessionKey, calls int) []session.Tombstone {
	return []session.Tombstone{{Agent: k.Agent, Calls: calls}}
}

func endedUnknown(t *testing.T, s TombstoneStore) {
	checkEnded(t, s, key, 0)
	save(t, s, key, full())
	checkEnded(t, s, key, 0)
	ok(t, s.MarkEnded(t.Context(), "never", nil))
	checkEnded(t, s, core.SessionKey{Session: "never"}, 0)
}

func markEnds(t *testing.T, s TombstoneStore) {
	for _, id := range []string{"s", "s2"} {
		save(t, s, core.SessionKey{Session: id, Agent: "main"}, full())
		ok(t, s.Pin(t.Context(), id, session.Digest("x"), "x"))
	}
	ok(t, s.MarkEnded(t.Context(), "s", tombstones(key, 9)))
	equal(t, "value", load(t, s, key), session.Value{})
	_, err := s.Pinned(t.Context(), "s", session.Digest("x"))
	is(t, err, session.ErrNotPinned)
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", len(must(t, agents, err)), 0)
	checkEnded(t, s, key, 9)
	equal(t, "other session", load(t, s, core.SessionKey{Session: "s2", Agent: "main"}).Version, int64(1))
	text, err := s.Pinned(t.Context(), "s2", session.Digest("x"))
	equal(t, "pin of the other session", must(t, text, err), "x")
}

func markLateSave(t *testing.T, s TombstoneStore) {
	v := save(t, s, key, save(t, s, key, full()))
	ok(t, s.MarkEnded(t.Context(), key.Session, tombstones(key, 9)))
	_, err := s.Save(t.Context(), key, v)
	is(t, err, session.ErrConflict)
	equal(t, "version of the next save", save(t, s, key, full()).Version, int64(1))
	checkEnded(t, s, key, 9)
}

func markAgents(t *testing.T, s TombstoneStore) {
	ok(t, s.MarkEnded(t.Context(), key.Session, append(tombstones(key, 3), tombstones(other, 5)...)))
	checkEnded(t, s, key, 3)
	checkEnded(t, s, other, 5)
	checkEnded(t, s, core.SessionKey{Session: key.Session, Agent: "third"}, 0)
	ok(t, s.MarkEnded(t.Context(), key.Session, tombstones(key, 8)))
	checkEnded(t, s, key, 8)
	checkEnded(t, s, other, 5)
}

// markMany ends sessions whose names begin with the same digits, because a store
// may keep the tombstones of such sessions together.
func markMany(t *testing.T, s TombstoneStore) {
	var all []core.SessionKey
	for i := 0; len(all) < 100; i++ {
		if id := fmt.Sprint("chat-", i); session.Digest(id)[:2] == "00" {
			all = append(all, core.SessionKey{Session: id, Agent: "a"})
		}
	}
	for i, k := range all {
		ok(t, s.MarkEnded(t.Context(), k.Session, tombstones(k, i+1)))
	}
	for i, k := range all {
		checkEnded(t, s, k, i+1)
	}
}

func markIDs(t *testing.T, s TombstoneStore) {
	for i, id := range ids() {
		k := core.SessionKey{Session: id, Agent: ids()[len(ids())-1-i]}
		ok(t, s.MarkEnded(t.Context(), id, tombstones(k, i+1)))
	}
	for i, id := range ids() {
		checkEnded(t, s, core.SessionKey{Session: id, Agent: ids()[len(ids())-1-i]}, i+1)
	}
}

func markParallel(t *testing.T, s TombstoneStore) {
	const n = 64
	parallel(t, n, func(i int) error {
		k := core.SessionKey{Session: fmt.Sprint(i), Agent: "a"}
		if err := increment(t.Context(), s, k); err != nil {
			return err
		}
		return s.MarkEnded(t.Context(), k.Session, tombstones(k, i+1))
	})
	for i := range n {
		k := core.SessionKey{Session: fmt.Sprint(i), Agent: "a"}
		checkEnded(t, s, k, i+1)
		equal(t, "version", load(t, s, k).Version, int64(0))
	}
}

func markCancelled(t *testing.T, s TombstoneStore) {
	save(t, s, key, full())
	ctx := cancelledContext(t)
	is(t, s.MarkEnded(ctx, key.Session, tombstones(key, 9)), ctx.Err())
	_, err := s.Ended(ctx, key)
	is(t, err, ctx.Err())
	checkEnded(t, s, key, 0)
	equal(t, "version", load(t, s, key).Version, int64(1))
}
