package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

var (
	key   = core.SessionKey{Session: "s", Agent: "main"}
	other = core.SessionKey{Session: "s", Agent: "sub"}
)

func loadNeverSaved(t *testing.T, s session.Store) {
	equal(t, "record", load(t, s, key), &state.Record{Key: key})
	agents, err := s.Agents(t.Context(), key.Session)
	equal(t, "agents after a load", len(must(t, agents, err)), 0)
}

func saveReturnsStored(t *testing.T, s session.Store) {
	want := full(key)
	got := save(t, s, want)
	want.Version = 1
	equal(t, "saved", got, want)
	equal(t, "loaded", load(t, s, key), want)
}

func saveLeavesArgument(t *testing.T, s session.Store) {
	rec := full(key)
	saved := save(t, s, rec)
	equal(t, "argument", rec, full(key))
	if saved == rec {
		t.Error("the argument itself was returned")
	}
	rec.Active[0].Docs[0] = "changed"
	rec.Deliveries[0].Docs[0].Name = "changed"
	rec.Deliveries[0].Anchor.Hash = "changed"
	rec.Pending[0].Answer = "changed"
	rec.Notes[0].Text = "changed"
	rec.Closed[0].Agent = "changed"
	rec.Held.Holder[0] = 'c'
	rec.Unnumbered[0].ID = "changed"
	rec.Lists[0].Tools[0] = "changed"
	rec.Grants[0].Skills["pdf"] = "changed"
	want := full(key)
	want.Version = 1
	equal(t, "saved", saved, want)
	equal(t, "loaded", load(t, s, key), want)
}

func saveCounts(t *testing.T, s session.Store) {
	rec := load(t, s, key)
	for v := int64(1); v <= 20; v++ {
		rec = save(t, s, rec)
		equal(t, "version saved", rec.Version, v)
		equal(t, "version loaded", load(t, s, key).Version, v)
	}
}

func saveConflicts(t *testing.T, s session.Store) {
	first := save(t, s, &state.Record{Key: key, Turn: 1})
	second := save(t, s, first)
	for i := range 8 { // as far back as no store is likely to remember
		second = save(t, s, second)
		for _, stale := range []*state.Record{{Key: key, Turn: 9}, first} {
			stale = stale.Clone()
			stale.Turn = 9
			got, err := s.Save(t.Context(), stale)
			is(t, err, session.ErrConflict)
			equal(t, "record with the conflict", got, (*state.Record)(nil))
		}
		now := load(t, s, key)
		equal(t, "version", now.Version, int64(3+i))
		equal(t, "turn", now.Turn, 1)
	}
}

func saveFuture(t *testing.T, s session.Store) {
	for _, v := range []int64{1, 2, 1 << 40, -1} {
		_, err := s.Save(t.Context(), &state.Record{Key: key, Version: v})
		is(t, err, session.ErrConflict)
	}
	save(t, s, &state.Record{Key: key})
	_, err := s.Save(t.Context(), &state.Record{Key: key, Version: 2})
	is(t, err, session.ErrConflict)
	equal(t, "version", load(t, s, key).Version, int64(1))
}

func saveNil(t *testing.T, s session.Store) {
	if _, err := s.Save(t.Context(), nil); err == nil {
		t.Error("got no error")
	}
}

func saveLeavesLoaded(t *testing.T, s session.Store) {
	save(t, s, full(key))
	before := load(t, s, key)
	copied := before.Clone()
	for i := range 6 {
		next := load(t, s, key).Clone()
		next.Turn = 100 + i
		next.Active[0].Docs[0] = fmt.Sprint("doc ", i)
		next.Active = next.Active[:1]
		save(t, s, next)
	}
	equal(t, "record loaded before", before, copied)
}

func saveKeepsFields(t *testing.T, s session.Store) {
	want := full(key)
	for range 6 {
		saved := save(t, s, want)
		want.Version++
		equal(t, "saved", saved, want)
		equal(t, "loaded", load(t, s, key), want)
	}
}

func saveInvalidText(t *testing.T, s session.Store) {
	rec := full(core.SessionKey{Session: "s", Agent: "a\xff"})
	rec.Pending[0].Answer = "torn \xe4\xb8 rune, real \ufffd, written \\ufffd"
	saved := save(t, s, rec)
	loaded := load(t, s, rec.Key)
	equal(t, "loaded", loaded, saved)
	equal(t, "key", loaded.Key, rec.Key)
}

func agentsSeparate(t *testing.T, s session.Store) {
	save(t, s, full(key))
	equal(t, "other agent", load(t, s, other), &state.Record{Key: other})
	elsewhere := core.SessionKey{Session: "s2", Agent: key.Agent}
	equal(t, "other session", load(t, s, elsewhere), &state.Record{Key: elsewhere})
}

func agentsSorted(t *testing.T, s session.Store) {
	for _, a := range []string{"b", "", "a/b", "B", "a", "ä"} {
		save(t, s, &state.Record{Key: core.SessionKey{Session: "s", Agent: a}})
	}
	save(t, s, &state.Record{Key: core.SessionKey{Session: "t", Agent: "else"}})
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", must(t, agents, err), []string{"", "B", "a", "a/b", "b", "ä"})
	agents, err = s.Agents(t.Context(), "unknown")
	equal(t, "agents of an unknown session", len(must(t, agents, err)), 0)
}

func agentsOfPins(t *testing.T, s session.Store) {
	ok(t, s.Pin(t.Context(), "s", session.Digest("x"), "x"))
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", len(must(t, agents, err)), 0)
}

func updateUnchanged(t *testing.T, s session.Store) {
	save(t, s, full(key))
	for _, change := range []func(*state.Record) (*state.Record, error){
		func(*state.Record) (*state.Record, error) { return nil, nil },
		func(r *state.Record) (*state.Record, error) { return r, nil },
	} {
		got, err := session.Update(t.Context(), s, key, change)
		equal(t, "version returned", must(t, got, err).Version, int64(1))
		equal(t, "version stored", load(t, s, key).Version, int64(1))
	}
}

func updateError(t *testing.T, s session.Store) {
	boom := errors.New("boom")
	_, err := session.Update(t.Context(), s, key, func(*state.Record) (*state.Record, error) { return nil, boom })
	is(t, err, boom)
	equal(t, "version stored", load(t, s, key).Version, int64(0))
}

func cancelled(t *testing.T, s session.Store) {
	save(t, s, full(key))
	digest := session.Digest("x")
	ok(t, s.Pin(t.Context(), "s", digest, "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := s.Load(ctx, key)
	is(t, err, context.Canceled)
	_, err = s.Save(ctx, load(t, s, key))
	is(t, err, context.Canceled)
	_, err = s.Agents(ctx, "s")
	is(t, err, context.Canceled)
	is(t, s.Pin(ctx, "s", session.Digest("y"), "y"), context.Canceled)
	_, err = s.Pinned(ctx, "s", digest)
	is(t, err, context.Canceled)
	is(t, s.Unpin(ctx, "s", nil), context.Canceled)
	is(t, s.End(ctx, "s"), context.Canceled)
	is(t, increment(ctx, s, key), context.Canceled)

	equal(t, "version", load(t, s, key).Version, int64(1))
	text, err := s.Pinned(t.Context(), "s", digest)
	equal(t, "pin", must(t, text, err), "x")
	_, err = s.Pinned(t.Context(), "s", session.Digest("y"))
	is(t, err, session.ErrNotPinned)
}
