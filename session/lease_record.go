package session

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// leaseSession begins the id of the session under which a store keeps the lease
// of another session as a record. Compare-and-swap ensures that only one holder
// gets it.
const leaseSession = Reserved + "lease:"

func leaseKey(session string) core.SessionKey {
	return core.SessionKey{Session: leaseSession + session}
}

func isFree(h state.Held, now int64) bool { return h.Until <= now }

func isOf(h state.Held, l Lease) bool { return string(h.Holder) == l.Holder && h.Fence == l.Fence }

func acquire(ctx context.Context, s Store, session, holder string, ttl time.Duration) (Lease, error) {
	if ttl < time.Millisecond {
		return Lease{}, fmt.Errorf("acquire the lease of session %q for %v: %w", session, ttl, ErrTTL)
	}
	var refused *HeldError
	rec, err := Update(ctx, s, leaseKey(session), func(rec *state.Record) (*state.Record, error) {
		now, next := time.Now().UnixMicro(), rec.Clone()
		if refused = nil; string(rec.Held.Holder) != holder && !isFree(rec.Held, now) {
			refused = &HeldError{Holder: string(rec.Held.Holder)}
			if rec.Held.Wanted {
				return nil, nil
			}
			next.Held.Wanted = true
			return next, nil
		}
		next.Held = state.Held{Holder: []byte(holder), Fence: max(rec.Held.Fence+1, now), Until: now + ttl.Microseconds()}
		return next, nil
	})
	if err != nil {
		return Lease{}, err
	}
	if refused != nil {
		return Lease{}, refused
	}
	return Lease{Session: session, Holder: holder, Fence: rec.Held.Fence, TTL: ttl}, nil
}

func renew(ctx context.Context, s Store, l Lease) (Lease, error) {
	rec, err := Update(ctx, s, leaseKey(l.Session), func(rec *state.Record) (*state.Record, error) {
		now := time.Now().UnixMicro()
		if !isOf(rec.Held, l) || isFree(rec.Held, now) {
			return nil, fmt.Errorf("renew: %w", ErrFenced)
		}
		next := rec.Clone()
		next.Held.Until = now + l.TTL.Microseconds()
		return next, nil
	})
	if err != nil {
		return Lease{}, err
	}
	l.Wanted = rec.Held.Wanted
	return l, nil
}

func release(ctx context.Context, s Store, l Lease) error {
	_, err := Update(ctx, s, leaseKey(l.Session), func(rec *state.Record) (*state.Record, error) {
		if isFree(rec.Held, time.Now().UnixMicro()) {
			return nil, nil
		}
		if !isOf(rec.Held, l) {
			return nil, fmt.Errorf("release: %w", ErrFenced)
		}
		next := rec.Clone()
		next.Held.Until, next.Held.Wanted = 0, false
		return next, nil
	})
	return err
}

var (
	_ Leaser = (*Memory)(nil)
	_ Leaser = (*Directory)(nil)
)

// Acquire implements [Leaser].
func (m *Memory) Acquire(ctx context.Context, session, holder string, ttl time.Duration) (Lease, error) {
	return acquire(ctx, m, session, holder, ttl)
}

// Renew implements [Leaser].
func (m *Memory) Renew(ctx context.Context, l Lease) (Lease, error) { return renew(ctx, m, l) }

// Release implements [Leaser].
func (m *Memory) Release(ctx context.Context, l Lease) error { return release(ctx, m, l) }

// Acquire implements [Leaser]. All processes that share the directory share the
// clock of the machine; if that is set back, a lease lasts longer.
func (d *Directory) Acquire(ctx context.Context, session, holder string, ttl time.Duration) (Lease, error) {
	return acquire(ctx, d, session, holder, ttl)
}

// Renew implements [Leaser].
func (d *Directory) Renew(ctx context.Context, l Lease) (Lease, error) { return renew(ctx, d, l) }

// Release implements [Leaser].
func (d *Directory) Release(ctx context.Context, l Lease) error { return release(ctx, d, l) }
