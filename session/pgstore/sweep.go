package pgstore

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"
)

// sweeps are the statements that remove expired rows: records before the pins of their session,
// and pins before the texts that they name.
var sweeps = []string{
	`DELETE FROM SCHEMA.record WHERE (session, agent) IN (
		SELECT session, agent FROM SCHEMA.record WHERE day < now() ORDER BY day LIMIT $1) AND day < now()`,
	`DELETE FROM SCHEMA.pin WHERE (session, digest) IN (
		SELECT session, digest FROM SCHEMA.pin WHERE day < now()
		AND NOT EXISTS (SELECT FROM SCHEMA.record WHERE record.session = pin.session) LIMIT $1) AND day < now()`,
	`DELETE FROM SCHEMA.text WHERE digest IN (
		SELECT digest FROM SCHEMA.text WHERE day < now()
		AND NOT EXISTS (SELECT FROM SCHEMA.pin WHERE pin.digest = text.digest) LIMIT $1) AND day < now()`,
	`DELETE FROM SCHEMA.closed WHERE (session, agent) IN (
		SELECT session, agent FROM SCHEMA.closed WHERE day < now() LIMIT $1)`,
}

// Sweep removes sessions that were not saved within the time to live, texts that no session
// pins, and old tombstones. Only one host sweeps at a time; on another one Sweep returns at
// once.
func (s *Store) Sweep(ctx context.Context) error {
	for _, statement := range sweeps {
		for n := int64(sweepRows); n == sweepRows; {
			var err error
			if n, err = s.sweep(ctx, statement); err != nil {
				return fmt.Errorf("sweep: %w", err)
			}
		}
	}
	return nil
}

// sweep removes at most sweepRows rows, and returns how many it removed. It removes none while
// another host sweeps.
func (s *Store) sweep(ctx context.Context, statement string) (n int64, err error) {
	lock := fnv.New64a()
	_, _ = lock.Write([]byte("satchel sweep " + s.name))
	err = pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		isLocked := false
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", pgx.QueryExecModeExec, int64(lock.Sum64())).Scan(&isLocked); err != nil || !isLocked {
			return err
		}
		tag, err := tx.Exec(ctx, s.sql(statement), pgx.QueryExecModeExec, int64(sweepRows))
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// sweepEvery sweeps until ctx ends. After an error the next sweep tries again.
func (s *Store) sweepEvery(ctx context.Context) {
	ticker := time.NewTicker(s.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.Sweep(ctx)
		}
	}
}
