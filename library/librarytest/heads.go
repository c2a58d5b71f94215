package librarytest

import (
	"context"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/library"
)

func headsInOrder(t *testing.T, a, b library.Store) {
	var last int64
	for n := range 5 {
		last = commit(t, a, change("t", fmt.Sprint("db:", n), fmt.Sprint("s", n), 0, "x")).Seq
	}
	again := commit(t, a, change("t", "db:1", "s1", 1, "y"))
	if again.Seq <= last {
		t.Errorf("seq %d comes after %d", again.Seq, last)
	}
	heads, seq, err := b.Heads(t.Context(), "t", last)
	if err != nil || seq != again.Seq || len(heads) != 1 || heads[0].ID != "db:1" || heads[0].Version != 2 {
		t.Errorf("after %d: %+v, %d, %v", last, heads, seq, err)
	}
	if heads, seq, err = b.Heads(t.Context(), "t", seq); err != nil || len(heads) != 0 || seq != again.Seq {
		t.Errorf("nothing has changed: %+v, %d, %v", heads, seq, err)
	}
	if heads, _, err = b.Heads(t.Context(), "t", 0); err != nil || len(heads) != 5 || heads[4].ID != "db:1" {
		t.Errorf("all heads: %+v, %v", heads, err)
	}
}

// seqOrder reads heads while other goroutines write. No head may appear later with a seq below one
// that was already returned.
func seqOrder(t *testing.T, a, b library.Store) {
	done := make(chan []error)
	go func() {
		done <- together(func(n int) error {
			for v := range 4 {
				if _, err := pick(n, a, b).Commit(context.WithoutCancel(t.Context()), change("t", fmt.Sprint("db:", n), fmt.Sprint("s", n), v, fmt.Sprint(v))); err != nil {
					return err
				}
			}
			return nil
		})
	}()
	versions := map[string]int{}
	var after int64
	read := func() {
		heads, seq, err := b.Heads(t.Context(), "t", after)
		if err != nil {
			t.Error(err)
		}
		for _, h := range heads {
			if h.Seq <= after || h.Seq > seq {
				t.Errorf("seq %d of a head is not between %d and %d", h.Seq, after, seq)
			}
			versions[h.ID] = h.Version
		}
		after = seq
	}
	for {
		select {
		case errs := <-done:
			for _, err := range errs {
				if err != nil {
					t.Error(err)
				}
			}
			read()
			for n := range writers {
				if v := versions[fmt.Sprint("db:", n)]; v != 4 {
					t.Errorf("the reader has seen version %d of skill %d, want 4", v, n)
				}
			}
			return
		default:
			read()
		}
	}
}
