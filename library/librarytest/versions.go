package librarytest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/library"
)

func comesBack(t *testing.T, a, b library.Store) {
	c := change("t", "db:1", "pdf", 0, "text \x00 of it")
	c.Head.BaseDigest, c.Revision.BaseDigest = "base", "base"
	made := commit(t, a, c)
	want := *c.Head
	want.Seq = made.Seq
	if made.Seq < 1 || !reflect.DeepEqual(made, want) {
		t.Errorf("commit returns %+v, want %+v", made, want)
	}
	heads, seq, err := b.Heads(t.Context(), "t", 0)
	if err != nil || len(heads) != 1 || seq != made.Seq || !reflect.DeepEqual(heads[0], want) {
		t.Errorf("heads are %+v, %d, %v, want %+v", heads, seq, err, want)
	}
	for _, version := range []int{0, 1} {
		if r, err := b.Load(t.Context(), "t", "db:1", version); err != nil || !reflect.DeepEqual(r, *c.Revision) {
			t.Errorf("version %d is %+v, %v, want %+v", version, r, err, *c.Revision)
		}
	}
	if data, err := b.Blob(t.Context(), "t", c.Revision.Digest); err != nil || string(data) != "text \x00 of it" {
		t.Errorf("blob is %q, %v", data, err)
	}
	for _, err := range []error{
		second(b.Load(t.Context(), "t", "db:1", 2)), second(b.Load(t.Context(), "t", "db:2", 0)), second(b.Blob(t.Context(), "t", sum("other"))),
	} {
		if !errors.Is(err, library.ErrUnknown) {
			t.Errorf("what is not there is %v, want ErrUnknown", err)
		}
	}
}

// oneWinner checks that of two commits with the same base, in two handles of one store, one succeeds.
func oneWinner(t *testing.T, a, b library.Store) {
	commit(t, a, change("t", "db:1", "pdf", 0, "one"))
	errs := together(func(n int) error {
		return second(pick(n, a, b).Commit(context.WithoutCancel(t.Context()), change("t", "db:1", "pdf", 1, fmt.Sprint("text ", n))))
	})
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, library.ErrConflict):
			t.Errorf("the other commit failed with %v, want ErrConflict", err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won, want 1", won)
	}
	if r, err := b.Load(t.Context(), "t", "db:1", 0); err != nil || r.Version != 2 {
		t.Errorf("newest is %d, %v, want 2", r.Version, err)
	}
}

func noGaps(t *testing.T, a, b library.Store) {
	commit(t, a, change("t", "db:1", "pdf", 0, "one"))
	const each = 3
	for _, err := range together(func(n int) error {
		s := pick(n, a, b)
		for done := 0; done < each; {
			r, err := s.Load(context.WithoutCancel(t.Context()), "t", "db:1", 0)
			if err != nil {
				return err
			}
			_, err = s.Commit(context.WithoutCancel(t.Context()), change("t", "db:1", "pdf", r.Version, fmt.Sprint(n, done)))
			if err == nil {
				done++
			} else if !errors.Is(err, library.ErrConflict) {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for v := 1; v <= writers*each+1; v++ {
		if r, err := a.Load(t.Context(), "t", "db:1", v); err != nil || r.Version != v {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if _, err := a.Load(t.Context(), "t", "db:1", writers*each+2); !errors.Is(err, library.ErrUnknown) {
		t.Errorf("a version too many: %v", err)
	}
}

func nothingRefused(t *testing.T, a, b library.Store) {
	commit(t, a, change("t", "db:1", "pdf", 0, "one"))
	if _, err := a.Commit(t.Context(), change("t", "db:1", "pdf", 3, "lost")); !errors.Is(err, library.ErrConflict) {
		t.Fatalf("a wrong base is %v, want ErrConflict", err)
	}
	if _, err := a.Commit(t.Context(), change("t", "db:2", "pdf", 0, "lost")); !errors.Is(err, library.ErrNameTaken) {
		t.Fatalf("a taken name is %v, want ErrNameTaken", err)
	}
	if _, err := b.Blob(t.Context(), "t", sum("lost")); !errors.Is(err, library.ErrUnknown) {
		t.Errorf("a refused commit has left a blob: %v", err)
	}
	if _, err := b.Load(t.Context(), "t", "db:2", 0); !errors.Is(err, library.ErrUnknown) {
		t.Errorf("a refused commit has left a revision: %v", err)
	}
	if entries, err := b.Entries(t.Context(), "t", library.LogQuery{}); err != nil || len(entries) != 1 {
		t.Errorf("the audit has %d entries, %v, want 1", len(entries), err)
	}
	if _, seq, err := b.Heads(t.Context(), "t", 0); err != nil || seq != 1 {
		t.Errorf("seq is %d, %v, want 1", seq, err)
	}
}

func pruning(t *testing.T, a, b library.Store) {
	for v := range 6 {
		c := change("t", "db:1", "pdf", v, fmt.Sprint(v))
		c.Keep, c.Head.Served, c.Head.Reviewed = 2, 1, 1
		commit(t, a, c)
	}
	for v := 1; v <= 6; v++ {
		_, err := b.Load(t.Context(), "t", "db:1", v)
		if kept := v == 1 || v >= 5; kept != (err == nil) {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if entries, err := b.Entries(t.Context(), "t", library.LogQuery{}); err != nil || len(entries) != 6 {
		t.Errorf("pruning has changed the audit: %d entries, %v", len(entries), err)
	}
}

func cancelled(t *testing.T, a, _ library.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, commitErr := a.Commit(ctx, change("t", "db:1", "pdf", 0, "one"))
	_, _, headsErr := a.Heads(ctx, "t", 0)
	for _, err := range []error{
		commitErr, headsErr, second(a.Load(ctx, "t", "db:1", 0)), second(a.Blob(ctx, "t", "x")), second(a.Entries(ctx, "t", library.LogQuery{})), second(a.Grants(ctx, "t", "ann")),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled call returns %v", err)
		}
	}
	if heads, _, err := a.Heads(t.Context(), "t", 0); err != nil || len(heads) != 0 {
		t.Errorf("a cancelled commit is there: %v, %v", heads, err)
	}
}
