package sessiontest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Two agents of one session, for all tests.
var (
	key   = core.SessionKey{Session: "s", Agent: "main"}
	other = core.SessionKey{Session: "s", Agent: "sub"}
)

func loadNeverSaved(t *testing.T, s session.Store) {
	equal(t, "value", load(t, s, key), session.Value{})
	agents, err := s.Agents(t.Context(), key.Session)
	equal(t, "agents after a load", len(must(t, agents, err)), 0)
}

func saveReturnsStored(t *testing.T, s session.Store) {
	want := session.Value{Version: 1, Data: full().Data}
	equal(t, "saved", save(t, s, key, full()), want)
	equal(t, "loaded", load(t, s, key), want)
}

func saveKeepsCopy(t *testing.T, s session.Store) {
	v := full()
	saved := save(t, s, key, v)
	for i := range v.Data {
		v.Data[i] = 'x'
	}
	v.Pins[0] = "changed"
	want := session.Value{Version: 1, Data: full().Data}
	equal(t, "saved", saved, want)
	equal(t, "loaded", load(t, s, key), want)
}

func saveCounts(t *testing.T, s session.Store) {
	v := load(t, s, key)
	for n := int64(1); n <= 20; n++ {
		v.Data = full().Data
		v = save(t, s, key, v)
		equal(t, "version saved", v.Version, n)
		equal(t, "version loaded", load(t, s, key).Version, n)
	}
}

func saveConflicts(t *testing.T, s session.Store) {
	first := save(t, s, key, number(1))
	second := save(t, s, key, first)
	for i := range 8 { // as far back as no store is likely to remember
		second = save(t, s, key, second)
		for _, from := range []int64{0, first.Version} {
			stale := number(9)
			stale.Version = from
			got, err := s.Save(t.Context(), key, stale)
			is(t, err, session.ErrConflict)
			equal(t, "value with the conflict", got, session.Value{})
		}
		now := load(t, s, key)
		equal(t, "version", now.Version, int64(3+i))
		equal(t, "data", string(now.Data), "1")
	}
}

func saveFuture(t *testing.T, s session.Store) {
	for _, v := range []int64{1, 2, 1 << 40, -1} {
		_, err := s.Save(t.Context(), key, session.Value{Version: v, Data: []byte("x")})
		is(t, err, session.ErrConflict)
	}
	save(t, s, key, full())
	_, err := s.Save(t.Context(), key, session.Value{Version: 2, Data: []byte("x")})
	is(t, err, session.ErrConflict)
	equal(t, "version", load(t, s, key).Version, int64(1))
}

func saveLeavesLoaded(t *testing.T, s session.Store) {
	save(t, s, key, full())
	before := load(t, s, key)
	for i := range 6 {
		next := number(i)
		next.Version = load(t, s, key).Version
		save(t, s, key, next)
	}
	equal(t, "value loaded before", before, session.Value{Version: 1, Data: full().Data})
}

func saveAnyBytes(t *testing.T, s session.Store) {
	var each []byte
	for i := range 256 {
		each = append(each, byte(i))
	}
	long := bytes.Repeat([]byte("0123456789abcde\n"), 1<<15) // 512 KiB
	v := session.Value{}
	for _, data := range [][]byte{nil, {0}, []byte("\n"), []byte("\n\n1\n"), []byte("torn \xe4\xb8 rune, \ufffd"), each, bytes.Repeat([]byte{0xff}, 5000), long} {
		v.Data = data
		v = save(t, s, key, v)
		loaded := load(t, s, key)
		if !bytes.Equal(v.Data, data) || !bytes.Equal(loaded.Data, data) || loaded.Version != v.Version {
			t.Errorf("%.40q: saved %.40q, loaded %.40q at version %d", data, v.Data, loaded.Data, loaded.Version)
		}
	}
}

func saveReturnsNoPins(t *testing.T, s session.Store) {
	for _, pins := range [][]string{{session.Digest("never pinned"), ""}, nil, {"no digest", strings.Repeat("a", 10_000)}} {
		v := load(t, s, key)
		v.Data, v.Pins = []byte("x"), pins
		equal(t, "pins saved", len(save(t, s, key, v).Pins), 0)
		equal(t, "pins loaded", len(load(t, s, key).Pins), 0)
	}
}

func agentsSeparate(t *testing.T, s session.Store) {
	save(t, s, key, full())
	equal(t, "other agent", load(t, s, other), session.Value{})
	equal(t, "other session", load(t, s, core.SessionKey{Session: "s2", Agent: key.Agent}), session.Value{})
}

func agentsSorted(t *testing.T, s session.Store) {
	for _, a := range []string{"b", "", "a/b", "B", "a", "ä"} {
		save(t, s, core.SessionKey{Session: "s", Agent: a}, full())
	}
	save(t, s, core.SessionKey{Session: "t", Agent: "else"}, full())
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

// cancelledContext returns a context that has ended.
func cancelledContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func contextCancelled(t *testing.T, s session.Store) {
	v := save(t, s, key, full())
	digest := session.Digest("x")
	ok(t, s.Pin(t.Context(), "s", digest, "x"))
	ctx := cancelledContext(t)

	_, err := s.Load(ctx, key)
	is(t, err, context.Canceled)
	_, err = s.Save(ctx, key, v)
	is(t, err, context.Canceled)
	_, err = s.Agents(ctx, "s")
	is(t, err, context.Canceled)
	is(t, s.Pin(ctx, "s", session.Digest("y"), "y"), context.Canceled)
	_, err = s.Pinned(ctx, "s", digest)
	is(t, err, context.Canceled)
	is(t, s.Unpin(ctx, "s", nil), context.Canceled)
	is(t, s.End(ctx, "s"), context.Canceled)

	equal(t, "version", load(t, s, key).Version, int64(1))
	text, err := s.Pinned(t.Context(), "s", digest)
	equal(t, "pin", must(t, text, err), "x")
	_, err = s.Pinned(t.Context(), "s", session.Digest("y"))
	is(t, err, session.ErrNotPinned)
}

// endSameVersion checks that a store compares more than versions. They start again when a
// session ends, so an equal version does not mean an equal value.
func endSameVersion(t *testing.T, s session.Store) {
	for round := range 4 {
		text := fmt.Sprint("round ", round)
		ok(t, s.End(t.Context(), key.Session))
		equal(t, "saved", save(t, s, key, session.Value{Data: []byte(text)}), session.Value{Version: 1, Data: []byte(text)})
		equal(t, "loaded", load(t, s, key), session.Value{Version: 1, Data: []byte(text)})
	}
}
