// Package sessiontest has the conformance tests for implementations of session.Store.
package sessiontest

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Run runs the conformance tests, each on a store of its own. open returns an empty store and
// registers its Close with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) session.Store) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, session.Store)
	}{
		{"load/never saved", loadNeverSaved},
		{"save/returns the value as stored", saveReturnsStored},
		{"save/keeps a copy", saveKeepsCopy},
		{"save/counts versions", saveCounts},
		{"save/stale version conflicts and stores nothing", saveConflicts},
		{"save/future version conflicts", saveFuture},
		{"save/leaves values that were loaded alone", saveLeavesLoaded},
		{"save/any bytes", saveAnyBytes},
		{"save/returns no pins", saveReturnsNoPins},
		{"save/agents are separate", agentsSeparate},
		{"agents/sorted", agentsSorted},
		{"agents/pins alone make none", agentsOfPins},
		{"pin/read back", pinReadBack},
		{"pin/again changes nothing", pinAgain},
		{"pin/belongs to the session", pinBelongs},
		{"pin/wrong digest is refused", pinWrongDigest},
		{"pin/unknown digest", pinUnknown},
		{"unpin/removes what is not kept of the session only", unpinKeeps},
		{"unpin/unknown session", unpinUnknown},
		{"end/removes everything of the session only", endRemoves},
		{"end/unknown session", endUnknown},
		{"end/late save does not revive", endLateSave},
		{"end/session starts again", endStartsAgain},
		{"end/same version with other bytes", endSameVersion},
		{"ids/any string is an id", hostileIDs},
		{"ids/any string is an agent", hostileAgents},
		{"context/cancelled", contextCancelled},
		{"parallel/no update is lost", parallelUpdates},
		{"parallel/one of many saves of a version wins", parallelFirstSave},
		{"parallel/many sessions", parallelSessions},
		{"parallel/end against save and pin", parallelEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// ok stops the test at an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns v and stops the test at an error.
func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	ok(t, err)
	return v
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func is(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("got error %v, want one that wraps %q", err, target)
	}
}

func load(t *testing.T, s session.Store, key core.SessionKey) session.Value {
	t.Helper()
	v, err := s.Load(t.Context(), key)
	return must(t, v, err)
}

func save(t *testing.T, s session.Store, key core.SessionKey, v session.Value) session.Value {
	t.Helper()
	saved, err := s.Save(t.Context(), key, v)
	return must(t, saved, err)
}

// full returns a value that was never saved, with the data of a real record.
func full() session.Value {
	return session.Value{Data: []byte(`{"record":2,"turn":2,"active":[{"skill":"pdf","digest":"` + session.Digest("body") + `"}]}`), Pins: []string{session.Digest("body")}}
}

// number returns a value whose data is a number.
func number(n int) session.Value { return session.Value{Data: strconv.AppendInt(nil, int64(n), 10)} }

// numberOf returns the number of a value, or 0 for one that was never saved.
func numberOf(v session.Value) (n int, err error) {
	if v.Version == 0 {
		return 0, nil
	}
	return strconv.Atoi(string(v.Data))
}

// increment adds one to a number, so that tests find lost updates by its value. After a
// conflict it tries again.
func increment(ctx context.Context, s session.Store, key core.SessionKey) error {
	for limit := time.Millisecond; ; limit = min(2*limit, 32*time.Millisecond) {
		v, err := s.Load(ctx, key)
		if err != nil {
			return err
		}
		n, err := numberOf(v)
		if err != nil {
			return err
		}
		next := number(n + 1)
		next.Version = v.Version
		if _, err = s.Save(ctx, key, next); !errors.Is(err, session.ErrConflict) || errors.Is(err, session.ErrUncertain) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(rand.N(limit)): // a random pause, because writers in step would conflict again and again
		}
	}
}
