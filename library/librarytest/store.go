// Package librarytest checks that an implementation of library.Store keeps every
// promise of that interface.
package librarytest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/library"
)

// Run runs the conformance tests, each on stores of its own. open returns two stores
// over the same empty place: for a store of one process they may be the same one.
func Run(t *testing.T, open func(t *testing.T) (a, b library.Store)) {
	t.Helper()
	for _, tt := range []struct {
		name string
		run  func(*testing.T, library.Store, library.Store)
	}{
		{"commit/comes back whole", comesBack},
		{"commit/one winner for each base", oneWinner},
		{"commit/versions without gaps", noGaps},
		{"commit/nothing of a refused one", nothingRefused},
		{"names/taken", names},
		{"names/one winner", nameRace},
		{"heads/in order, and only what changed", headsInOrder},
		{"heads/a seq hides no smaller one", seqOrder},
		{"tenants/are apart", tenants},
		{"audit/complete", audit},
		{"grants/replace each other", grants},
		{"pruning/keeps what is served", pruning},
		{"context/cancelled", cancelled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := open(t)
			tt.run(t, a, b)
		})
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// change makes version base+1 of a shared skill.
func change(tenant, id, name string, base int, text string) library.Change {
	digest := sum(text)
	return library.Change{
		Tenant: tenant, Base: base,
		Head: &library.Head{
			ID: id, Name: name, NameKey: name, Owner: "ann", Shared: true, State: library.Active, Version: base + 1, Reviewed: base + 1, Served: base + 1,
			Digest: digest, Editor: "ann", Front: []byte("---\nname: " + name + "\n---\n"), Created: start, Updated: start.Add(time.Duration(base) * time.Second),
		},
		Revision: &library.Revision{
			ID: id, Version: base + 1, Digest: digest, Action: library.Patch, Reason: "why “so”", Subject: "ann", Agent: "helper", ReviewedBy: "bob", At: start,
			Files: []library.File{{Path: "SKILL.md", Digest: digest, Size: int64(len(text))}, {Path: "scripts/a.sh", Digest: sum("x"), Size: 1, Executable: true}},
		},
		Blobs: map[string][]byte{digest: []byte(text), sum("x"): []byte("x")},
		Entry: library.Entry{At: start, Subject: "ann", Agent: "helper", Session: "s1", Action: library.Patch, ID: id, From: base, To: base + 1, Outcome: "applied", Detail: "why"},
	}
}

func commit(t *testing.T, s library.Store, c library.Change) library.Head {
	t.Helper()
	h, err := s.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return h
}

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

func second[T any](_ T, err error) error { return err }

// writers is how many write at once.
const writers = 16

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
			t.Errorf("a loser is told %v, want ErrConflict", err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won, want 1", won)
	}
	if r, err := b.Load(t.Context(), "t", "db:1", 0); err != nil || r.Version != 2 {
		t.Errorf("newest is %d, %v, want 2", r.Version, err)
	}
}

func pick(n int, a, b library.Store) library.Store {
	if n%2 == 0 {
		return a
	}
	return b
}

func together(f func(n int) error) []error {
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for n := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[n] = f(n)
		}()
	}
	wg.Wait()
	return errs
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
	gone.Head.State = library.Archived
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

// seqOrder reads while others write: what was read once is all that there is up to its
// seq.
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

func tenants(t *testing.T, a, b library.Store) {
	c := change("one", "db:1", "pdf", 0, "secret")
	c.Grant = &library.Grant{Subject: "ann", Role: library.Maintainer}
	commit(t, a, c)
	ctx := t.Context()
	for _, tenant := range []string{"", "two", "ONE", "one ", "one%"} {
		heads, seq, err := b.Heads(ctx, tenant, 0)
		if err != nil || len(heads) != 0 || seq != 0 {
			t.Errorf("tenant %q sees %+v, %d, %v", tenant, heads, seq, err)
		}
		_, loaded := b.Load(ctx, tenant, "db:1", 0)
		_, blob := b.Blob(ctx, tenant, sum("secret"))
		if !errors.Is(loaded, library.ErrUnknown) || !errors.Is(blob, library.ErrUnknown) {
			t.Errorf("tenant %q loads %v, %v", tenant, loaded, blob)
		}
		entries, err := b.Entries(ctx, tenant, library.LogQuery{})
		roles, grantErr := b.Grants(ctx, tenant, "ann")
		if len(entries) != 0 || len(roles) != 0 || err != nil || grantErr != nil {
			t.Errorf("tenant %q has %v, %v, %v, %v", tenant, entries, roles, err, grantErr)
		}
	}
	commit(t, a, change("two", "db:1", "pdf", 0, "other"))
	if r, err := b.Load(ctx, "one", "db:1", 0); err != nil || r.Digest != sum("secret") {
		t.Errorf("another tenant's skill of the same id has changed this one: %+v, %v", r, err)
	}
}

func audit(t *testing.T, a, b library.Store) {
	c := change("t", "db:1", "pdf", 0, "one")
	commit(t, a, c)
	for n := range 4 {
		commit(t, a, library.Change{Tenant: "t", Entry: library.Entry{At: start, Subject: "bob", Action: library.Patch, ID: fmt.Sprint("db:", n), Outcome: "refused", Detail: "no"}})
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
	for _, role := range []library.Role{library.Editor, library.Maintainer, library.Viewer} {
		commit(t, a, library.Change{Tenant: "t", Grant: &library.Grant{Subject: "ann", Role: role}, Entry: library.Entry{At: start, Action: library.Granting}})
		if roles, err := b.Grants(t.Context(), "t", "ann"); err != nil || len(roles) != 1 || roles[0] != role {
			t.Errorf("roles are %v, %v, want %s", roles, err, role)
		}
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
