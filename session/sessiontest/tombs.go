package sessiontest

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// TombStore is a store that records which sessions have ended.
type TombStore interface {
	session.Store
	session.Tombs
}

// RunTombs runs the tests for stores that are also [session.Tombs]. open is that of
// [Run]. Run it in addition to Run.
func RunTombs(t *testing.T, open func(t *testing.T) TombStore) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, TombStore)
	}{
		{"unknown session", buriedUnknown},
		{"bury ends the session", buryEnds},
		{"late save does not revive", buryLateSave},
		{"each agent, the last end", buryAgents},
		{"many sessions of one place", buryMany},
		{"through a cache of pins", buryCached},
		{"ids/any string", buryIDs},
		{"parallel", buryParallel},
		{"context/cancelled", buryCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

func buried(t *testing.T, s session.Tombs, k core.SessionKey, want int) {
	t.Helper()
	calls, err := s.Buried(t.Context(), k)
	if err != nil || calls != want {
		t.Errorf("%.40q of %.40q: call %d, %v; want %d", k.Agent, k.Session, calls, err, want)
	}
}

// last are the notes of an agent that has made so many calls.
func last(k core.SessionKey, calls int) []state.Closed {
	return []state.Closed{session.NewClosed(k, calls)}
}

func buriedUnknown(t *testing.T, s TombStore) {
	buried(t, s, key, 0)
	save(t, s, full(key))
	buried(t, s, key, 0)
	ok(t, s.Bury(t.Context(), "never", nil))
	buried(t, s, core.SessionKey{Session: "never"}, 0)
}

func buryEnds(t *testing.T, s TombStore) {
	for _, id := range []string{"s", "s2"} {
		save(t, s, full(core.SessionKey{Session: id, Agent: "main"}))
		ok(t, s.Pin(t.Context(), id, session.Digest("x"), "x"))
	}
	ok(t, s.Bury(t.Context(), "s", last(key, 9)))
	equal(t, "record", load(t, s, key), &state.Record{Key: key})
	_, err := s.Pinned(t.Context(), "s", session.Digest("x"))
	is(t, err, session.ErrNotPinned)
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", len(must(t, agents, err)), 0)
	buried(t, s, key, 9)
	equal(t, "other session", load(t, s, core.SessionKey{Session: "s2", Agent: "main"}).Version, int64(1))
	text, err := s.Pinned(t.Context(), "s2", session.Digest("x"))
	equal(t, "pin of the other session", must(t, text, err), "x")
}

func buryLateSave(t *testing.T, s TombStore) {
	rec := save(t, s, save(t, s, full(key)))
	ok(t, s.Bury(t.Context(), key.Session, last(key, 9)))
	_, err := s.Save(t.Context(), rec)
	is(t, err, session.ErrConflict)
	equal(t, "version of the next save", save(t, s, load(t, s, key)).Version, int64(1))
	buried(t, s, key, 9)
}

func buryAgents(t *testing.T, s TombStore) {
	ok(t, s.Bury(t.Context(), key.Session, append(last(key, 3), last(other, 5)...)))
	buried(t, s, key, 3)
	buried(t, s, other, 5)
	buried(t, s, core.SessionKey{Session: key.Session, Agent: "third"}, 0)
	ok(t, s.Bury(t.Context(), key.Session, last(key, 8)))
	buried(t, s, key, 8)
	buried(t, s, other, 5)
}

// buryMany ends sessions whose names begin with the same digits, because a store
// may keep the notes of such sessions together.
func buryMany(t *testing.T, s TombStore) {
	var all []core.SessionKey
	for i := 0; len(all) < 100; i++ {
		if id := fmt.Sprint("chat-", i); session.Digest(id)[:2] == "00" {
			all = append(all, core.SessionKey{Session: id, Agent: "a"})
		}
	}
	for i, k := range all {
		ok(t, s.Bury(t.Context(), k.Session, last(k, i+1)))
	}
	for i, k := range all {
		buried(t, s, k, i+1)
	}
}

func buryCached(t *testing.T, s TombStore) {
	cache := session.NewPinCache(s, 0)
	save(t, cache, full(key))
	ok(t, cache.Pin(t.Context(), key.Session, session.Digest("x"), "x"))
	ok(t, session.Bury(t.Context(), cache, key.Session))
	calls, err := session.Buried(t.Context(), cache, key)
	equal(t, "calls", must(t, calls, err), 9)
	buried(t, s, key, 9)
	equal(t, "record", load(t, cache, key).Version, int64(0))
	_, err = cache.Pinned(t.Context(), key.Session, session.Digest("x"))
	is(t, err, session.ErrNotPinned)
}

func buryIDs(t *testing.T, s TombStore) {
	for i, id := range ids() {
		k := core.SessionKey{Session: id, Agent: ids()[len(ids())-1-i]}
		ok(t, s.Bury(t.Context(), id, last(k, i+1)))
	}
	for i, id := range ids() {
		buried(t, s, core.SessionKey{Session: id, Agent: ids()[len(ids())-1-i]}, i+1)
	}
}

func buryParallel(t *testing.T, s TombStore) {
	const n = 64
	parallel(t, n, func(i int) error {
		k := core.SessionKey{Session: fmt.Sprint(i), Agent: "a"}
		if err := increment(t.Context(), s, k); err != nil {
			return err
		}
		return s.Bury(t.Context(), k.Session, last(k, i+1))
	})
	for i := range n {
		k := core.SessionKey{Session: fmt.Sprint(i), Agent: "a"}
		buried(t, s, k, i+1)
		equal(t, "version", load(t, s, k).Version, int64(0))
	}
}

func buryCancelled(t *testing.T, s TombStore) {
	save(t, s, full(key))
	ctx := cancelledContext(t)
	is(t, s.Bury(ctx, key.Session, last(key, 9)), ctx.Err())
	_, err := s.Buried(ctx, key)
	is(t, err, ctx.Err())
	buried(t, s, key, 0)
	equal(t, "version", load(t, s, key).Version, int64(1))
}
