package sessiontest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// The numbers of handles, of goroutines for each handle, and of updates by each goroutine.
const (
	faultHandles    = 3
	faultGoroutines = 2
	faultUpdates    = 300
)

// RunFaults checks that a store on a server makes each acknowledged change exactly once, even
// if answers of the server are lost. A repeated Save must find that it has succeeded. open
// returns a handle whose connection loses some answers, but never two answers to one request.
// sound returns a handle that loses none. All handles of a test share their content.
func RunFaults(t *testing.T, open, sound func(t *testing.T) session.Store) {
	t.Helper()
	t.Run("no change is lost or made twice", func(t *testing.T) {
		var handles []session.Store
		for range faultHandles {
			handles = append(handles, open(t))
		}
		var acknowledged, uncertain atomic.Int64
		parallel(t, faultHandles*faultGoroutines, func(i int) error {
			for range faultUpdates {
				switch err := incrementDespiteFaults(t.Context(), handles[i%faultHandles]); {
				case errors.Is(err, session.ErrUncertain):
					uncertain.Add(1)
				case err != nil:
					return err
				default:
					acknowledged.Add(1)
				}
			}
			return nil
		})
		v := load(t, sound(t), key)
		n, err := numberOf(v)
		applied, most := int64(must(t, n, err)), acknowledged.Load()+uncertain.Load()
		if applied < acknowledged.Load() || applied > most {
			t.Errorf("%d changes were made of %d that were acknowledged and %d that are uncertain", applied, acknowledged.Load(), uncertain.Load())
		}
		// The second attempt always gets its answer. So a change is uncertain only if the
		// server does not answer for seconds.
		if uncertain.Load() > faultHandles*faultGoroutines {
			t.Errorf("%d of %d changes are uncertain", uncertain.Load(), most)
		}
		equal(t, "version", v.Version, applied)
	})
	t.Run("reads go on", func(t *testing.T) {
		s := open(t)
		k := core.SessionKey{Session: "read", Agent: "a"}
		save(t, sound(t), k, full())
		ok(t, sound(t).Pin(t.Context(), k.Session, session.Digest("x"), "x"))
		for range 50 {
			equal(t, "value", load(t, s, k).Version, int64(1))
			text, err := s.Pinned(t.Context(), k.Session, session.Digest("x"))
			equal(t, "pin", must(t, text, err), "x")
		}
	})
}

// incrementDespiteFaults increments the number. It tries again if a Load got no answer,
// because nothing was changed then.
func incrementDespiteFaults(ctx context.Context, s session.Store) (err error) {
	for range 20 {
		if err = increment(ctx, s, key); err == nil || errors.Is(err, session.ErrUncertain) {
			return err
		}
	}
	return err
}
