package artifactstest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/satchel-go/satchel/artifacts"
)

// saveCounts checks that each name of each session has versions of its own.
func saveCounts(t *testing.T, s artifacts.Store) {
	for want := range 12 {
		for _, session := range []string{"s1", "s2"} {
			for _, name := range []string{"out/a.txt", "out/b.txt"} {
				equal(t, "version", save(t, s, session, name, "x").Version, want)
			}
		}
	}
}

func saveDescribes(t *testing.T, s artifacts.Store) {
	for name, tt := range map[string]struct{ mime, want, content string }{
		"plain":   {"text/csv", "text/csv", "a,b\n"},
		"no mime": {"", defaultMIME, "\x00\xff"},
		"empty":   {"text/plain; charset=utf-8", "text/plain; charset=utf-8", ""},
	} {
		info, err := s.Save(t.Context(), "s", name, tt.mime, iotest.OneByteReader(strings.NewReader(tt.content)), limit)
		if err != nil {
			t.Fatal(err)
		}
		want := describe(name, 0, tt.want, tt.content)
		equal(t, name, withoutTime(info), want)
		checkContent(t, s, "s", info.Ref, want, tt.content)
	}
}

func saveAtLimit(t *testing.T, s artifacts.Store) {
	for _, content := range []string{"", "1234567890"} {
		for name, r := range map[string]io.Reader{
			"plain":     strings.NewReader(content),
			"slow":      iotest.HalfReader(strings.NewReader(content)),
			"data, EOF": iotest.DataErrReader(strings.NewReader(content)),
		} {
			info, err := s.Save(t.Context(), "s", name, "", r, int64(len(content)))
			if err != nil {
				t.Fatalf("%d bytes, %s: %v", len(content), name, err)
			}
			checkContent(t, s, "s", info.Ref, describe(name, info.Version, defaultMIME, content), content)
		}
	}
}

func saveBeyondLimit(t *testing.T, s artifacts.Store) {
	for _, r := range []io.Reader{strings.NewReader("12345"), iotest.OneByteReader(strings.NewReader("12345"))} {
		_, err := s.Save(t.Context(), "s", "a", "", r, 4)
		is(t, err, artifacts.ErrTooLarge)
	}
	_, err := s.Save(t.Context(), "s", "a", "", strings.NewReader("1"), 0)
	is(t, err, artifacts.ErrTooLarge)
	checkEmpty(t, s, "s")
	_, _, err = s.Open(t.Context(), "s", artifacts.Ref{Name: "a", Version: artifacts.Latest})
	is(t, err, artifacts.ErrNotFound)
	equal(t, "version after the failures", save(t, s, "s", "a", "x").Version, 0)
}

// endless is a reader without an end that counts the bytes read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func saveStopsReading(t *testing.T, s artifacts.Store) {
	e := &endless{}
	_, err := s.Save(t.Context(), "s", "a", "", e, 1<<20)
	is(t, err, artifacts.ErrTooLarge)
	if e.read > 2<<20 {
		t.Errorf("read %d bytes with a limit of %d", e.read, 1<<20)
	}
	checkEmpty(t, s, "s")
}

func saveReaderFails(t *testing.T, s artifacts.Store) {
	broken := errors.New("broken")
	want := save(t, s, "s", "a", "first")
	for _, before := range []string{"", "some content", strings.Repeat("x", 1<<20)} {
		r := io.MultiReader(strings.NewReader(before), iotest.ErrReader(broken))
		_, err := s.Save(t.Context(), "s", "a", "", r, limit)
		is(t, err, broken)
	}
	equal(t, "list", list(t, s, "s"), []artifacts.Info{want})
	checkContent(t, s, "s", artifacts.Ref{Name: "a", Version: artifacts.Latest}, want, "first")
	equal(t, "version after the failures", save(t, s, "s", "a", "x").Version, 1)
}

// readFunc is a function as a reader.
type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func saveCancelled(t *testing.T, s artifacts.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	r := readFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "more"), nil
	})
	_, err := s.Save(ctx, "s", "a", "", r, limit)
	is(t, err, context.Canceled)
	checkEmpty(t, s, "s")
}

func saveStuckReader(t *testing.T, s artifacts.Store) {
	_, err := s.Save(t.Context(), "s", "a", "", readFunc(func([]byte) (int, error) { return 0, nil }), limit)
	is(t, err, io.ErrNoProgress)
	checkEmpty(t, s, "s")
}

func saveBadArguments(t *testing.T, s artifacts.Store) {
	for _, name := range badNames() {
		_, err := s.Save(t.Context(), "s", name, "", strings.NewReader("x"), limit)
		is(t, err, artifacts.ErrName)
	}
	for _, mime := range []string{"text/plain\nx", "a\x00b", "\xff", strings.Repeat("m", 4096)} {
		if _, err := s.Save(t.Context(), "s", "a", mime, strings.NewReader("x"), limit); err == nil {
			t.Errorf("the MIME type %.20q is taken", mime)
		}
	}
	if _, err := s.Save(t.Context(), "s", "a", "", nil, limit); err == nil {
		t.Error("no content: no error")
	}
	if _, err := s.Save(t.Context(), "s", "a", "", strings.NewReader(""), -1); err == nil {
		t.Error("negative limit: no error")
	}
	checkEmpty(t, s, "s")
}

func badNames() []string {
	return []string{
		"", "/", "/etc/passwd", ".", "..", "../a", "a/../b", "a/..", "a/./b", "a//b", "a/", "//", "a\x00b",
		"a\nb", "\x7f", "\u0085", "a\xffb", strings.Repeat("a", maxName+1),
	}
}

func saveLarge(t *testing.T, s artifacts.Store) {
	content := strings.Repeat("0123456789abcde\n", 5<<20/16)
	info := save(t, s, "s", "big", content)
	checkContent(t, s, "s", info.Ref, describe("big", 0, "text/plain", content), content)
}
