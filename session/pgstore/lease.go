package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/session"
)

// A lease that another holds is marked as wanted, and its holder returned.
const acquireLease = `INSERT INTO SCHEMA.lease AS l (session, holder, fence, until, wanted)
	VALUES ($1, $2, nextval('SCHEMA.fence'), clock_timestamp() + $3::bigint * interval '1 microsecond', false)
	ON CONFLICT (session) DO UPDATE SET
		holder = CASE WHEN l.holder = $2 OR l.until <= clock_timestamp() THEN excluded.holder ELSE l.holder END,
		fence = CASE WHEN l.holder = $2 OR l.until <= clock_timestamp() THEN excluded.fence ELSE l.fence END,
		until = CASE WHEN l.holder = $2 OR l.until <= clock_timestamp() THEN excluded.until ELSE l.until END,
		wanted = NOT (l.holder = $2 OR l.until <= clock_timestamp())
	RETURNING holder, fence`

// Acquire implements session.Leaser, by the clock of the server.
func (s *Store) Acquire(ctx context.Context, id, holder string, ttl time.Duration) (session.Lease, error) {
	if err := ctx.Err(); err != nil {
		return session.Lease{}, err
	}
	if ttl < time.Millisecond {
		return session.Lease{}, fmt.Errorf("acquire the lease of session %q for %v: %w", id, ttl, session.ErrTTL)
	}
	var by []byte
	var fence int64
	err := s.row(ctx, true, acquireLease, []any{hashed(id), []byte(holder), ttl.Microseconds()}, &by, &fence)
	if err != nil {
		return session.Lease{}, fmt.Errorf("acquire the lease of session %q: %w", id, err)
	}
	if string(by) != holder {
		return session.Lease{}, &session.HeldError{Holder: string(by)}
	}
	return session.Lease{Session: id, Holder: holder, Fence: fence, TTL: ttl}, nil
}

// Renew implements session.Leaser.
func (s *Store) Renew(ctx context.Context, l session.Lease) (session.Lease, error) {
	if err := ctx.Err(); err != nil {
		return session.Lease{}, err
	}
	err := s.row(ctx, true, `UPDATE SCHEMA.lease SET until = clock_timestamp() + $4::bigint * interval '1 microsecond'
		WHERE session = $1 AND holder = $2 AND fence = $3 AND until > clock_timestamp() RETURNING wanted`,
		[]any{hashed(l.Session), []byte(l.Holder), l.Fence, l.TTL.Microseconds()}, &l.Wanted)
	if errors.Is(err, pgx.ErrNoRows) {
		err = session.ErrFenced
	}
	if err != nil {
		return session.Lease{}, fmt.Errorf("renew the lease of session %q: %w", l.Session, err)
	}
	return l, nil
}

// Release implements session.Leaser.
func (s *Store) Release(ctx context.Context, l session.Lease) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var held bool
	err := s.row(ctx, true, `WITH freed AS (
			UPDATE SCHEMA.lease SET until = '-infinity', wanted = false WHERE session = $1 AND holder = $2 AND fence = $3
		)
		SELECT EXISTS (SELECT FROM SCHEMA.lease
			WHERE session = $1 AND NOT (holder = $2 AND fence = $3) AND until > clock_timestamp())`,
		[]any{hashed(l.Session), []byte(l.Holder), l.Fence}, &held)
	if err == nil && held {
		err = session.ErrFenced
	}
	if err != nil {
		return fmt.Errorf("release the lease of session %q: %w", l.Session, err)
	}
	return nil
}
