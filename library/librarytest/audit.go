package librarytest

import (
	"fmt"
	"testing"

	"github.com/satchel-go/satchel/library"
)

func audit(t *testing.T, a, b library.Store) {
	c := change("t", "db:1", "pdf", 0, "one")
	commit(t, a, c)
	for n := range 4 {
		commit(t, a, library.Change{Tenant: "t", Entry: library.Entry{At: start, Subject: "bob", Action: "patch", ID: fmt.Sprint("db:", n), Outcome: "refused", Detail: "no"}})
	}
	all, err := b.Entries(t.Context(), "t", library.LogQuery{})
	if err != nil || len(all) != 5 {
		t.Fatalf("%d entries, %v, want 5", len(all), err)
	}
	want := c.Entry
	want.N = 1
	if all[0] != want {
		t.Errorf("the first is %+v, want %+v", all[0], want)
	}
	for i, e := range all {
		if e.N != int64(i+1) {
			t.Errorf("entry %d has the number %d", i, e.N)
		}
	}
	if one, err := b.Entries(t.Context(), "t", library.LogQuery{ID: "db:1"}); err != nil || len(one) != 2 {
		t.Errorf("%d entries of one skill, %v, want 2", len(one), err)
	}
	if page, err := b.Entries(t.Context(), "t", library.LogQuery{After: 2, Limit: 2}); err != nil || len(page) != 2 || page[0].N != 3 {
		t.Errorf("a page is %+v, %v", page, err)
	}
}

func grants(t *testing.T, a, b library.Store) {
	for _, role := range []library.Role{"editor", "maintainer", "viewer"} {
		commit(t, a, library.Change{Tenant: "t", Grants: map[string]library.Role{"ann": role}, Entry: library.Entry{At: start, Action: "grant"}})
		if roles, err := b.Grants(t.Context(), "t", "ann"); err != nil || len(roles) != 1 || roles[0] != role {
			t.Errorf("roles are %v, %v, want %s", roles, err, role)
		}
	}
}
