package sessiontest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/session"
)

// RunLeases runs the tests for stores that are also a [session.Leaser]. open is that
// of [Run].
func RunLeases(t *testing.T, open func(t *testing.T) session.Leaser) {
	t.Helper()
	tests := []struct {
		name string
		run  func(*testing.T, session.Leaser)
	}{
		{"one holder", leaseOne},
		{"wanted", leaseWanted},
		{"released", leaseReleased},
		{"again by its holder", leaseAgain},
		{"runs out", leaseRunsOut},
		{"fences only rise", leaseFences},
		{"without a time", leaseNoTime},
		{"ids/any string", leaseIDs},
		{"parallel/one of many gets it", leaseParallel},
		{"context/cancelled", leaseCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

// long is a time to live that is longer than any test.
const long = time.Hour

func acquire(t *testing.T, s session.Leaser, holder string, ttl time.Duration) session.Lease {
	t.Helper()
	l, err := s.Acquire(t.Context(), "s", holder, ttl)
	return must(t, l, err)
}

// held checks that holder has the lease.
func held(t *testing.T, s session.Leaser, by, holder string) {
	t.Helper()
	_, err := s.Acquire(t.Context(), "s", by, long)
	var refused *session.HeldError
	if !errors.As(err, &refused) || refused.Holder != holder {
		t.Errorf("%q asks: got %v, want that %q holds it", by, err, holder)
	}
}

func leaseOne(t *testing.T, s session.Leaser) {
	l := acquire(t, s, "a", long)
	if l.Session != "s" || l.Holder != "a" || l.TTL != long || l.Fence < 1 || l.Wanted {
		t.Errorf("lease %+v", l)
	}
	held(t, s, "b", "a")
	held(t, s, "c", "a")
	elsewhere, err := s.Acquire(t.Context(), "other", "b", long)
	equal(t, "holder elsewhere", must(t, elsewhere, err).Holder, "b")
}

func leaseWanted(t *testing.T, s session.Leaser) {
	l := acquire(t, s, "a", long)
	renewed, err := s.Renew(t.Context(), l)
	equal(t, "renewed", must(t, renewed, err), l)
	held(t, s, "b", "a")
	renewed, err = s.Renew(t.Context(), l)
	equal(t, "wanted", must(t, renewed, err).Wanted, true)
	ok(t, s.Release(t.Context(), l))
	equal(t, "wanted of the next", acquire(t, s, "b", long).Wanted, false)
}

func leaseReleased(t *testing.T, s session.Leaser) {
	first := acquire(t, s, "a", long)
	ok(t, s.Release(t.Context(), first))
	ok(t, s.Release(t.Context(), first))
	_, err := s.Renew(t.Context(), first)
	is(t, err, session.ErrFenced)
	acquire(t, s, "b", long)
	is(t, s.Release(t.Context(), first), session.ErrFenced)
	held(t, s, "c", "b")
}

func leaseAgain(t *testing.T, s session.Leaser) {
	first := acquire(t, s, "a", long)
	second := acquire(t, s, "a", long)
	if second.Fence <= first.Fence {
		t.Errorf("fence %d after %d", second.Fence, first.Fence)
	}
	_, err := s.Renew(t.Context(), first)
	is(t, err, session.ErrFenced)
	_, err = s.Renew(t.Context(), second)
	ok(t, err)
	is(t, s.Release(t.Context(), first), session.ErrFenced)
	held(t, s, "b", "a")
}

// leaseRunsOut waits until another holder gets the lease, however long that
// takes.
func leaseRunsOut(t *testing.T, s session.Leaser) {
	first := acquire(t, s, "a", 50*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var second session.Lease
	for {
		var err error
		var refused *session.HeldError
		if second, err = s.Acquire(ctx, "s", "b", long); err == nil {
			break
		}
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
	}
	if second.Fence <= first.Fence {
		t.Errorf("fence %d after %d", second.Fence, first.Fence)
	}
	_, err := s.Renew(t.Context(), first)
	is(t, err, session.ErrFenced)
	is(t, s.Release(t.Context(), first), session.ErrFenced)
	held(t, s, "a", "b")
	_, err = s.Renew(t.Context(), second)
	ok(t, err)
}

func leaseFences(t *testing.T, s session.Leaser) {
	fence := int64(0)
	for range 30 {
		l := acquire(t, s, "a", long)
		if l.Fence <= fence {
			t.Fatalf("fence %d after %d", l.Fence, fence)
		}
		fence = l.Fence
		ok(t, s.Release(t.Context(), l))
	}
}

func leaseNoTime(t *testing.T, s session.Leaser) {
	for _, ttl := range []time.Duration{0, -time.Second, time.Microsecond} {
		_, err := s.Acquire(t.Context(), "s", "a", ttl)
		is(t, err, session.ErrTTL)
	}
	acquire(t, s, "a", time.Second)
}

func leaseIDs(t *testing.T, s session.Leaser) {
	for _, id := range ids() {
		_, err := s.Acquire(t.Context(), id, id, long)
		ok(t, err)
	}
	for _, id := range ids() {
		_, err := s.Acquire(t.Context(), id, id+"!", long)
		var refused *session.HeldError
		if !errors.As(err, &refused) || refused.Holder != id {
			t.Errorf("session %.40q: %v", id, err)
		}
	}
}

func leaseParallel(t *testing.T, s session.Leaser) {
	for range 4 {
		var got atomic.Pointer[session.Lease]
		var many atomic.Int32
		parallel(t, 16, func(i int) error {
			l, err := s.Acquire(t.Context(), "s", string(rune('a'+i)), long)
			var refused *session.HeldError
			if errors.As(err, &refused) {
				return nil
			}
			if err == nil {
				many.Add(1)
				got.Store(&l)
			}
			return err
		})
		if equal(t, "holders", many.Load(), int32(1)); got.Load() != nil {
			ok(t, s.Release(t.Context(), *got.Load()))
		}
	}
}

func leaseCancelled(t *testing.T, s session.Leaser) {
	l := acquire(t, s, "a", long)
	ctx := cancelledContext(t)
	_, err := s.Acquire(ctx, "free", "a", long)
	is(t, err, ctx.Err())
	_, err = s.Renew(ctx, l)
	is(t, err, ctx.Err())
	is(t, s.Release(ctx, l), ctx.Err())
	held(t, s, "b", "a")
}

func cancelledContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
