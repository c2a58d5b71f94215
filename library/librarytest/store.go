// Package librarytest checks that an implementation of library.Store keeps every
// promise of that interface.
package librarytest

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/library"
)

// Run runs the conformance tests, each with stores of its own. open returns two stores over the same
// empty database. They may be the same one if the store is for one process.
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

// change returns a change that adds version base+1 of a shared skill.
func change(tenant, id, name string, base int, text string) library.Change {
	digest := sum(text)
	return library.Change{
		Tenant: tenant, Base: base,
		Head: &library.Head{
			ID: id, Name: name, NameKey: name, Owner: "ann", Shared: true, State: "active", Version: base + 1, Reviewed: base + 1, Served: base + 1,
			Digest: digest, Editor: "ann", Front: []byte("---\nname: " + name + "\n---\n"), Created: start, Updated: start.Add(time.Duration(base) * time.Second),
		},
		Revision: &library.Revision{
			ID: id, Version: base + 1, Digest: digest, Action: "patch", Reason: "why “so”", Subject: "ann", Agent: "helper", ReviewedBy: "bob", At: start,
			Files: []library.File{{Path: "SKILL.md", Digest: digest, Size: int64(len(text))}, {Path: "scripts/a.sh", Digest: sum("x"), Size: 1, Executable: true}},
		},
		Blobs: map[string][]byte{digest: []byte(text), sum("x"): []byte("x")},
		Entry: library.Entry{At: start, Subject: "ann", Agent: "helper", Session: "s1", Action: "patch", ID: id, From: base, To: base + 1, Outcome: "applied", Detail: "why"},
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

func second[T any](_ T, err error) error { return err }

// writers is how many goroutines write at the same time.
const writers = 16

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
