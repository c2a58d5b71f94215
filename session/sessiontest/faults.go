package sessiontest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// The writers of RunFaults, and what each of them changes.
const (
	faultHandles    = 3
	faultGoroutines = 2
	faultUpdates    = 300
)

// RunFaults checks that a store on a server makes each acknowledged change
// exactly once even if answers of the server are lost: a Save that is tried again
// must find that it has succeeded. open returns a handle whose connection loses
// some answers; sound returns one that loses none. All handles of a test share
// their content.
func RunFaults(t *testing.T, open, sound func(t *testing.T) session.Store) {
	t.Helper()
	t.Run("no change is lost or made twice", func(t *testing.T) {
		var handles []session.Store
		for range faultHandles {
			handles = append(handles, open(t))
		}
		var acknowledged, unknown atomic.Int64
		parallel(t, faultHandles*faultGoroutines, func(i int) error {
			for range faultUpdates {
				err := increment(t.Context(), handles[i%faultHandles], key)
				if err == nil {
					acknowledged.Add(1)
				} else { // a Save is uncertain, or no attempt to load has had an answer
					unknown.Add(1)
				}
			}
			return nil
		})
		rec := load(t, sound(t), key)
		if applied := int64(rec.Calls); applied < acknowledged.Load() || applied > acknowledged.Load()+unknown.Load() {
			t.Errorf("%d changes were made of %d acknowledged and %d uncertain ones", applied, acknowledged.Load(), unknown.Load())
		}
		if unknown.Load() > faultUpdates {
			t.Errorf("%d changes are uncertain", unknown.Load())
		}
		equal(t, "version", rec.Version, int64(rec.Calls))
	})
	t.Run("reads go on", func(t *testing.T) {
		s := open(t)
		k := core.SessionKey{Session: "read", Agent: "a"}
		save(t, sound(t), full(k))
		ok(t, sound(t).Pin(t.Context(), k.Session, session.Digest("x"), "x"))
		for range 50 {
			equal(t, "record", load(t, s, k).Version, int64(1))
			text, err := s.Pinned(t.Context(), k.Session, session.Digest("x"))
			equal(t, "pin", must(t, text, err), "x")
		}
	})
	t.Run("an uncertain save is not repeated", func(t *testing.T) {
		saves := 0
		s := uncertain{Store: sound(t), saves: &saves}
		is(t, increment(t.Context(), s, key), session.ErrUncertain)
		equal(t, "saves", saves, 1)
	})
}

// uncertain loses the answer of every Save.
type uncertain struct {
	session.Store
	saves *int
}

func (u uncertain) Save(ctx context.Context, rec *session.Record) (*session.Record, error) {
	*u.saves++
	_, err := u.Store.Save(ctx, rec)
	return nil, errors.Join(session.ErrUncertain, err)
}
