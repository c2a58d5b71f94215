package librarytest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/library"
)

func names(t *testing.T, a, _ library.Store) {
	private := func(id, owner string) library.Change {
		c := change("t", id, "pdf", 0, id)
		c.Head.Shared, c.Head.Owner = false, owner
		return c
	}
	commit(t, a, change("t", "db:1", "pdf", 0, "1"))
	commit(t, a, private("db:2", "ann"))
	commit(t, a, private("db:3", "bob"))
	if _, err := a.Commit(t.Context(), private("db:4", "bob")); !errors.Is(err, library.ErrNameTaken) {
		t.Errorf("a second private one of an owner: %v, want ErrNameTaken", err)
	}
	plugin := change("t", "plugin:x:pdf", "pdf", 0, "p")
	plugin.Head.Plugin = "x"
	commit(t, a, plugin)
	gone := change("t", "db:1", "pdf", 1, "1")
	gone.Head.State = "archived"
	commit(t, a, gone)
	commit(t, a, change("t", "db:5", "pdf", 0, "5")) // the name is free
	back := change("t", "db:1", "pdf", 2, "1")
	if _, err := a.Commit(t.Context(), back); !errors.Is(err, library.ErrNameTaken) {
		t.Errorf("an archived one comes back under a taken name: %v, want ErrNameTaken", err)
	}
}

func nameRace(t *testing.T, a, b library.Store) {
	won := 0
	for _, err := range together(func(n int) error {
		return second(pick(n, a, b).Commit(context.WithoutCancel(t.Context()), change("t", fmt.Sprint("db:", n), "pdf", 0, fmt.Sprint(n))))
	}) {
		if err == nil {
			won++
		} else if !errors.Is(err, library.ErrNameTaken) {
			t.Errorf("a loser is told %v, want ErrNameTaken", err)
		}
	}
	if won != 1 {
		t.Errorf("%d skills have the name, want 1", won)
	}
}
