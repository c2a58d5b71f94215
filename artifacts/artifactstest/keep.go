package artifactstest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/artifacts"
)

// sessionsListed checks Sessions after saves and ends.
func sessionsListed(t *testing.T, s artifacts.Store) {
	sessions := func(want ...artifacts.Session) {
		t.Helper()
		all, err := s.Sessions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Latest.IsZero() {
				t.Errorf("session %.80q has no time", all[i].ID)
			}
			all[i].Latest = time.Time{}
		}
		equal(t, "sessions", all, want)
	}
	sessions()
	long := strings.Repeat("long", 5000)
	save(t, s, "b", "a", "12")
	save(t, s, "b", "a", "345")
	save(t, s, "b", "c", "")
	save(t, s, "\xff/..", "a", "1")
	save(t, s, long, "a", "1")
	first := artifacts.Session{ID: "b", Bytes: 5, Versions: 3}
	sessions(first, artifacts.Session{ID: long, Bytes: 1, Versions: 1}, artifacts.Session{ID: "\xff/..", Bytes: 1, Versions: 1})
	for _, id := range []string{long, "\xff/.."} {
		if err := s.End(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	sessions(first)
}

func removeOne(t *testing.T, s artifacts.Store) {
	for range 3 {
		save(t, s, "s", "a", "x")
	}
	other := save(t, s, "s", "b", "y")
	remove := func(ref artifacts.Ref, left ...int) {
		t.Helper()
		if err := s.Remove(t.Context(), "s", ref); err != nil {
			t.Errorf("%v: %v", ref, err)
		}
		if ref.Version >= 0 {
			_, _, err := s.Open(t.Context(), "s", ref)
			is(t, err, artifacts.ErrNotFound)
		}
		var want []artifacts.Info
		for _, v := range left {
			want = append(want, describe("a", v, "text/plain", "x"))
		}
		equal(t, "left", list(t, s, "s"), append(want, other))
	}
	remove(artifacts.Ref{Name: "a", Version: 1}, 0, 2)
	remove(artifacts.Ref{Name: "a", Version: artifacts.Latest}, 0)
	checkContent(t, s, "s", artifacts.Ref{Name: "a", Version: artifacts.Latest}, describe("a", 0, "text/plain", "x"), "x")
	remove(artifacts.Ref{Name: "a", Version: 0})
	equal(t, "the next version", save(t, s, "s", "a", "x").Version, 3)
	if err := s.End(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	equal(t, "version after the end", save(t, s, "s", "a", "x").Version, 0)
}

func removeNotFound(t *testing.T, s artifacts.Store) {
	save(t, s, "s", "a", "x")
	is(t, s.Remove(t.Context(), "s", artifacts.Ref{Name: "a", Version: 1}), artifacts.ErrNotFound)
	is(t, s.Remove(t.Context(), "s", artifacts.Ref{Name: "b", Version: artifacts.Latest}), artifacts.ErrNotFound)
	is(t, s.Remove(t.Context(), "other", artifacts.Ref{Name: "a", Version: artifacts.Latest}), artifacts.ErrNotFound)
	is(t, s.Remove(t.Context(), "s", artifacts.Ref{Name: "../a"}), artifacts.ErrName)
	equal(t, "left", len(list(t, s, "s")), 1)
}

func removeBefore(t *testing.T, s artifacts.Store) {
	dated := func(session string) time.Time {
		info, err := s.Save(t.Context(), session, "a", "", strings.NewReader("x"), limit)
		if err != nil {
			t.Fatal(err)
		}
		return info.Created
	}
	dated("old")
	first := dated("both")
	for !time.Now().After(first.Add(5 * time.Millisecond)) { // times are in whole milliseconds
		runtime.Gosched()
	}
	second := dated("both")
	for _, tt := range []struct {
		before  time.Time
		removed int
		left    []string
	}{
		{first.Add(-time.Hour), 0, []string{"both", "both", "old"}},
		{second, 2, []string{"both"}},
		{second, 0, []string{"both"}},
		{second.Add(time.Hour), 1, nil},
	} {
		n, err := s.RemoveBefore(t.Context(), tt.before)
		if err != nil || n != tt.removed {
			t.Errorf("removed %d, %v, want %d", n, err, tt.removed)
		}
		var left []string
		for _, id := range []string{"both", "old"} {
			for range list(t, s, id) {
				left = append(left, id)
			}
		}
		equal(t, "left", left, tt.left)
	}
	equal(t, "version after all was removed", save(t, s, "both", "a", "x").Version, 0)
}

// RunQuota runs the tests for stores with a quota. open returns an empty store with a quota of
// 1000 bytes and 10 versions.
func RunQuota(t *testing.T, open func(t *testing.T) artifacts.Store) {
	t.Helper()
	t.Run("bytes", func(t *testing.T) { quotaBytes(t, open(t)) })
	t.Run("versions", func(t *testing.T) { quotaVersions(t, open(t)) })
	t.Run("endless content", func(t *testing.T) { quotaEndless(t, open(t)) })
	t.Run("parallel", func(t *testing.T) { quotaParallel(t, open(t)) })
}

// saveSize saves content of a size.
func saveSize(t *testing.T, s artifacts.Store, session, name string, size int) error {
	t.Helper()
	_, err := s.Save(t.Context(), session, name, "", strings.NewReader(strings.Repeat("x", size)), limit)
	return err
}

func quotaBytes(t *testing.T, s artifacts.Store) {
	for i, size := range []int{600, 400, 0} {
		if err := saveSize(t, s, "s", "a", size); err != nil {
			t.Errorf("save %d: %v", i, err)
		}
	}
	is(t, saveSize(t, s, "s", "b", 1), artifacts.ErrQuota)
	is(t, saveSize(t, s, "t", "a", 1001), artifacts.ErrQuota)
	checkEmpty(t, s, "t")
	if err := saveSize(t, s, "t", "a", 1000); err != nil {
		t.Errorf("another session: %v", err)
	}
	if err := s.Remove(t.Context(), "s", artifacts.Ref{Name: "a", Version: 0}); err != nil {
		t.Fatal(err)
	}
	if err := saveSize(t, s, "s", "b", 600); err != nil {
		t.Errorf("after a removal: %v", err)
	}
	is(t, saveSize(t, s, "s", "b", 1), artifacts.ErrQuota)
	equal(t, "versions", len(list(t, s, "s")), 3)
}

func quotaVersions(t *testing.T, s artifacts.Store) {
	for i := range 10 {
		if err := saveSize(t, s, "s", "a/"+strings.Repeat("n", i%3+1), 0); err != nil {
			t.Error(err)
		}
	}
	is(t, saveSize(t, s, "s", "a", 0), artifacts.ErrQuota)
	equal(t, "versions", len(list(t, s, "s")), 10)
	if err := s.End(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := saveSize(t, s, "s", "a", 1000); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

func quotaEndless(t *testing.T, s artifacts.Store) {
	e := &endless{}
	_, err := s.Save(t.Context(), "s", "a", "", e, 1<<40)
	is(t, err, artifacts.ErrQuota)
	if e.read > 1<<20 {
		t.Errorf("read %d bytes", e.read)
	}
	checkEmpty(t, s, "s")
}

func quotaParallel(t *testing.T, s artifacts.Store) {
	parallel(t, 12, func(int) error {
		_ = saveSize(t, s, "s", "a", 300) // some of these fail
		return nil
	})
	total := int64(0)
	for _, info := range list(t, s, "s") {
		total += info.Size
	}
	if total > 1000 {
		t.Errorf("%d bytes are kept", total)
	}
	if err := saveSize(t, s, "t", "a", 1000); err != nil {
		t.Errorf("another session: %v", err)
	}
}
