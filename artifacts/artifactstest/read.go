package artifactstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/artifacts"
)

// openVersions opens each version of a name, and the latest one.
func openVersions(t *testing.T, s artifacts.Store) {
	const n = 12
	for i := range n {
		save(t, s, "s", "out/a", fmt.Sprint("content ", i))
	}
	for i := range n {
		content := fmt.Sprint("content ", i)
		checkContent(t, s, "s", artifacts.Ref{Name: "out/a", Version: i}, describe("out/a", i, "text/plain", content), content)
	}
	latest := fmt.Sprint("content ", n-1)
	for _, v := range []int{artifacts.Latest, -7} {
		checkContent(t, s, "s", artifacts.Ref{Name: "out/a", Version: v}, describe("out/a", n-1, "text/plain", latest), latest)
	}
}

func openNotFound(t *testing.T, s artifacts.Store) {
	save(t, s, "s", "a/b", "x")
	for _, tt := range []struct {
		session string
		ref     artifacts.Ref
	}{
		{"s", artifacts.Ref{Name: "a/b", Version: 1}},
		{"s", artifacts.Ref{Name: "a/b", Version: int(^uint(0) >> 1)}},
		{"s", artifacts.Ref{Name: "a"}},
		{"s", artifacts.Ref{Name: "a/b/c", Version: artifacts.Latest}},
		{"s", artifacts.Ref{Name: "A/B"}},
		{"other", artifacts.Ref{Name: "a/b"}},
		{"", artifacts.Ref{Name: "a/b", Version: artifacts.Latest}},
	} {
		_, _, err := s.Open(t.Context(), tt.session, tt.ref)
		is(t, err, artifacts.ErrNotFound)
	}
}

func openBadName(t *testing.T, s artifacts.Store) {
	for _, name := range badNames() {
		_, _, err := s.Open(t.Context(), "s", artifacts.Ref{Name: name})
		is(t, err, artifacts.ErrName)
	}
}

func listSorted(t *testing.T, s artifacts.Store) {
	var want []artifacts.Info
	for _, name := range []string{"a", "a/b", "a0", "z"} {
		for v := range 11 {
			want = append(want, describe(name, v, "text/plain", name))
		}
	}
	for range 11 {
		for _, name := range []string{"z", "a0", "a", "a/b"} {
			save(t, s, "s", name, name)
		}
	}
	equal(t, "list", list(t, s, "s"), want)
}

func listNothing(t *testing.T, s artifacts.Store) { checkEmpty(t, s, "never used") }

func endRemoves(t *testing.T, s artifacts.Store) {
	save(t, s, "s1", "a", "1")
	save(t, s, "s1", "a", "2")
	kept := save(t, s, "s2", "a", "3")
	if err := s.End(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, s, "s1")
	_, _, err := s.Open(t.Context(), "s1", artifacts.Ref{Name: "a", Version: artifacts.Latest})
	is(t, err, artifacts.ErrNotFound)
	checkContent(t, s, "s2", kept.Ref, kept, "3")
	equal(t, "version after the end", save(t, s, "s1", "a", "4").Version, 0)
}

func endUnknown(t *testing.T, s artifacts.Store) {
	for range 2 {
		if err := s.End(t.Context(), "unknown"); err != nil {
			t.Error(err)
		}
	}
}

// endDuringSave ends the session while a Save reads its content. In one case the session begins
// again before the Save ends.
func endDuringSave(t *testing.T, s artifacts.Store) {
	for name, again := range map[string]func(){
		"ended":             func() {},
		"ended and resumed": func() { save(t, s, "s", "a", "new") },
	} {
		save(t, s, "s", "a", "old")
		ended := false
		r := readFunc(func(p []byte) (int, error) {
			if ended {
				return 0, io.EOF
			}
			ended = true
			if err := s.End(t.Context(), "s"); err != nil {
				t.Error(err)
			}
			again()
			return copy(p, "late"), nil
		})
		_, err := s.Save(t.Context(), "s", "a", "", r, limit)
		is(t, err, artifacts.ErrEnded)
		if all := list(t, s, "s"); name == "ended" && len(all) > 0 {
			t.Errorf("%s: stored: %+v", name, all)
		} else if name != "ended" {
			equal(t, name, all, []artifacts.Info{describe("a", 0, "text/plain", "new")})
		}
		if err := s.End(t.Context(), "s"); err != nil {
			t.Error(err)
		}
	}
}

func hostileSessions(t *testing.T, s artifacts.Store) {
	ids := []string{
		"", ".", "..", "../x", "/", "a/b", "a\x00b", "\xff", "CON", "a", "A", "ended.x", "new.x", strings.Repeat("long", 5000),
	}
	for _, id := range ids {
		save(t, s, id, "a", id)
	}
	for _, id := range ids {
		checkContent(t, s, id, artifacts.Ref{Name: "a"}, describe("a", 0, "text/plain", id), id)
		equal(t, "list", list(t, s, id), []artifacts.Info{describe("a", 0, "text/plain", id)})
	}
}

func similarNames(t *testing.T, s artifacts.Store) {
	names := []string{
		"a", "A", "a/a", "a.", "a ", " a", "a@1", `a\a`, "a:b", "COM1", "...", "é", "e\u0301", "info.json", "content",
		"new.a", strings.Repeat("n", maxName), strings.Repeat("n/", maxName/2-1) + "n",
	}
	for _, name := range names {
		equal(t, "version of "+name, save(t, s, "s", name, name).Version, 0)
	}
	for _, name := range names {
		checkContent(t, s, "s", artifacts.Ref{Name: name, Version: artifacts.Latest}, describe(name, 0, "text/plain", name), name)
	}
}

func contextCancelled(t *testing.T, s artifacts.Store) {
	kept := save(t, s, "s", "a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, saveErr := s.Save(ctx, "s", "a", "", strings.NewReader("y"), limit)
	_, _, openErr := s.Open(ctx, "s", kept.Ref)
	_, listErr := s.List(ctx, "s")
	for what, err := range map[string]error{"save": saveErr, "open": openErr, "list": listErr, "end": s.End(ctx, "s")} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	equal(t, "list", list(t, s, "s"), []artifacts.Info{kept})
}
