package artifactstest

import (
	"io"
	"testing"

	"github.com/satchel-go/satchel/artifacts"
)

// RunDurable runs the tests for stores that keep their content in a directory, in addition to
// [Run]. openAt opens a handle on dir. A test closes a handle that is an io.Closer, and drops
// any other.
func RunDurable(t *testing.T, openAt func(t *testing.T, dir string) artifacts.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, func() artifacts.Store)
	}{
		{"reopen/keeps everything", reopenKeeps},
		{"reopen/remembers the end", reopenEnded},
		{"two handles/see each other", handlesSee},
		{"two handles/consecutive versions", handlesCount},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.run(t, func() artifacts.Store { return openAt(t, dir) })
		})
	}
}

func closeStore(t *testing.T, s artifacts.Store) {
	t.Helper()
	if c, isCloser := s.(io.Closer); isCloser {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func reopenKeeps(t *testing.T, open func() artifacts.Store) {
	var want []artifacts.Info
	for round := range 4 {
		s := open()
		if got := list(t, s, "s"); len(got) != len(want) || round > 0 {
			equal(t, "list", got, want)
		}
		for _, info := range want {
			checkContent(t, s, "s", info.Ref, info, "content")
		}
		want = append(want, save(t, s, "s", "a", "content"))
		equal(t, "version", want[round].Version, round)
		closeStore(t, s)
	}
}

func reopenEnded(t *testing.T, open func() artifacts.Store) {
	s := open()
	save(t, s, "s", "a", "x")
	if err := s.End(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = open()
	checkEmpty(t, s, "s")
	equal(t, "version", save(t, s, "s", "a", "x").Version, 0)
	closeStore(t, s)
}

func handlesSee(t *testing.T, open func() artifacts.Store) {
	a, b := open(), open()
	first := save(t, a, "s", "a", "1")
	checkContent(t, b, "s", first.Ref, first, "1")
	second := save(t, b, "s", "a", "2")
	equal(t, "version", second.Version, 1)
	checkContent(t, a, "s", artifacts.Ref{Name: "a", Version: artifacts.Latest}, second, "2")
	if err := a.End(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, b, "s")
	closeStore(t, a)
	closeStore(t, b)
}

func handlesCount(t *testing.T, open func() artifacts.Store) {
	a, b := open(), open()
	countVersions(t, a, b)
	closeStore(t, a)
	closeStore(t, b)
}
