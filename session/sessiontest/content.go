package sessiontest

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// pinReadBack pins texts of all kinds and reads them back.
func pinReadBack(t *testing.T, s session.Store) {
	for _, text := range []string{"", "x", "a\r\nb\n", "\x00\xff not text", strings.Repeat("long ", 1<<18)} {
		ok(t, s.Pin(t.Context(), "s", session.Digest(text), text))
	}
	for _, text := range []string{"", "x", "a\r\nb\n", "\x00\xff not text", strings.Repeat("long ", 1<<18)} {
		got, err := s.Pinned(t.Context(), "s", session.Digest(text))
		if must(t, got, err) != text {
			t.Errorf("a text of %d bytes came back as %d bytes", len(text), len(got))
		}
	}
}

func pinAgain(t *testing.T, s session.Store) {
	for range 3 {
		ok(t, s.Pin(t.Context(), "s", session.Digest("x"), "x"))
		text, err := s.Pinned(t.Context(), "s", session.Digest("x"))
		equal(t, "text", must(t, text, err), "x")
	}
}

func pinBelongs(t *testing.T, s session.Store) {
	ok(t, s.Pin(t.Context(), "s", session.Digest("x"), "x"))
	_, err := s.Pinned(t.Context(), "s2", session.Digest("x"))
	is(t, err, session.ErrNotPinned)
}

func pinWrongDigest(t *testing.T, s session.Store) {
	for _, digest := range []string{session.Digest("y"), "", "../x", strings.ToUpper(session.Digest("x")), session.Digest("x") + "0"} {
		if s.Pin(t.Context(), "s", digest, "x") == nil {
			t.Errorf("a text was pinned under the digest %q", digest)
		}
		_, err := s.Pinned(t.Context(), "s", digest)
		is(t, err, session.ErrNotPinned)
	}
}

func pinUnknown(t *testing.T, s session.Store) {
	for _, digest := range []string{session.Digest("x"), "", "../x", "\x00", strings.Repeat("a", 10_000)} {
		_, err := s.Pinned(t.Context(), "s", digest)
		is(t, err, session.ErrNotPinned)
	}
}

func unpinKeeps(t *testing.T, s session.Store) {
	for _, id := range []string{"s", "s2"} {
		save(t, s, core.SessionKey{Session: id, Agent: "a"}, full())
		for _, text := range []string{"x", "y", "z"} {
			ok(t, s.Pin(t.Context(), id, session.Digest(text), text))
		}
	}
	for range 2 {
		ok(t, s.Unpin(t.Context(), "s", []string{session.Digest("y"), "../x", ""}))
		for _, text := range []string{"x", "z"} {
			_, err := s.Pinned(t.Context(), "s", session.Digest(text))
			is(t, err, session.ErrNotPinned)
			kept, err := s.Pinned(t.Context(), "s2", session.Digest(text))
			equal(t, "pin of the other session", must(t, kept, err), text)
		}
		text, err := s.Pinned(t.Context(), "s", session.Digest("y"))
		equal(t, "kept pin", must(t, text, err), "y")
		equal(t, "record", load(t, s, core.SessionKey{Session: "s", Agent: "a"}).Version, int64(1))
	}
	ok(t, s.Pin(t.Context(), "s", session.Digest("x"), "x"))
	text, err := s.Pinned(t.Context(), "s", session.Digest("x"))
	equal(t, "pinned again", must(t, text, err), "x")
	ok(t, s.Unpin(t.Context(), "s", nil))
	_, err = s.Pinned(t.Context(), "s", session.Digest("y"))
	is(t, err, session.ErrNotPinned)
}

func unpinUnknown(t *testing.T, s session.Store) {
	ok(t, s.Unpin(t.Context(), "never", nil))
	save(t, s, key, full())
	ok(t, s.Unpin(t.Context(), key.Session, []string{session.Digest("x")}))
	equal(t, "record", load(t, s, key).Version, int64(1))
}

func endRemoves(t *testing.T, s session.Store) {
	for _, id := range []string{"s", "s2"} {
		save(t, s, core.SessionKey{Session: id, Agent: "a"}, full())
		save(t, s, core.SessionKey{Session: id, Agent: "b"}, full())
		ok(t, s.Pin(t.Context(), id, session.Digest("x"), "x"))
	}
	ok(t, s.End(t.Context(), "s"))
	equal(t, "record", load(t, s, core.SessionKey{Session: "s", Agent: "a"}).Version, int64(0))
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", len(must(t, agents, err)), 0)
	_, err = s.Pinned(t.Context(), "s", session.Digest("x"))
	is(t, err, session.ErrNotPinned)

	agents, err = s.Agents(t.Context(), "s2")
	equal(t, "agents of the other session", must(t, agents, err), []string{"a", "b"})
	text, err := s.Pinned(t.Context(), "s2", session.Digest("x"))
	equal(t, "pin of the other session", must(t, text, err), "x")
}

func endUnknown(t *testing.T, s session.Store) {
	ok(t, s.End(t.Context(), "never"))
	save(t, s, key, full())
	ok(t, s.End(t.Context(), key.Session))
	ok(t, s.End(t.Context(), key.Session))
}

func endLateSave(t *testing.T, s session.Store) {
	v := save(t, s, key, full())
	for range 6 {
		v = save(t, s, key, v)
	}
	ok(t, s.End(t.Context(), key.Session))
	_, err := s.Save(t.Context(), key, v)
	is(t, err, session.ErrConflict)
	equal(t, "value", load(t, s, key), session.Value{})
	agents, err := s.Agents(t.Context(), key.Session)
	equal(t, "agents", len(must(t, agents, err)), 0)
}

func endStartsAgain(t *testing.T, s session.Store) {
	save(t, s, key, save(t, s, key, full()))
	ok(t, s.End(t.Context(), key.Session))
	v := save(t, s, key, full())
	equal(t, "version", v.Version, int64(1))
	equal(t, "loaded", load(t, s, key), v)
}

// ids are strings that cause trouble as file names, in JSON or as map keys.
func ids() []string {
	return []string{
		"", ".", "..", "../x", "/etc/passwd", `..\x`, "a/b", "a", "A", "a ", "a.", "ä", "a\u0308",
		"NUL", "COM1", "x\x00y", "x\ny", "x\r", "*?<>|:\"", "%2F", "\xff", "\xfe", "\xff\xfe", "\ufffd",
		strings.Repeat("n", 10_000), strings.Repeat("n", 10_000) + "!", "tmp.x", "pin.x", "new.x", "ended.x",
	}
}

func hostileIDs(t *testing.T, s session.Store) {
	for i, id := range ids() {
		save(t, s, core.SessionKey{Session: id}, number(i+1))
		ok(t, s.Pin(t.Context(), id, session.Digest(id), id))
	}
	for i, id := range ids() {
		n, err := numberOf(load(t, s, core.SessionKey{Session: id}))
		if must(t, n, err) != i+1 {
			t.Errorf("session %.40q: got the value of another session, %d, want %d", id, n, i+1)
		}
		text, err := s.Pinned(t.Context(), id, session.Digest(id))
		if must(t, text, err) != id {
			t.Errorf("session %.40q: got pin %.40q", id, text)
		}
	}
	for i, id := range ids() {
		ok(t, s.End(t.Context(), id))
		for j, still := range ids() {
			if got := load(t, s, core.SessionKey{Session: still}).Version == 0; got != (j <= i) {
				t.Fatalf("after the end of %.40q: session %.40q ended is %t", id, still, got)
			}
		}
	}
}

func hostileAgents(t *testing.T, s session.Store) {
	for i, id := range ids() {
		save(t, s, core.SessionKey{Session: "s", Agent: id}, number(i+1))
	}
	for i, id := range ids() {
		n, err := numberOf(load(t, s, core.SessionKey{Session: "s", Agent: id}))
		if must(t, n, err) != i+1 {
			t.Errorf("agent %.40q: got the value of another agent, %d, want %d", id, n, i+1)
		}
	}
	agents, err := s.Agents(t.Context(), "s")
	equal(t, "agents", must(t, agents, err), slices.Sorted(slices.Values(ids())))
}
