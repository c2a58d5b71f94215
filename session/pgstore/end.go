package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// End implements session.Store.
func (s *Store) End(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.exec(ctx, `WITH pins AS (DELETE FROM SCHEMA.pin WHERE session = $1) DELETE FROM SCHEMA.record WHERE session = $1`, hashID(id))
	if err != nil {
		return fmt.Errorf("end session %q: %w", id, err)
	}
	return nil
}

// MarkEnded implements session.Tombstones.
func (s *Store) MarkEnded(ctx context.Context, id string, last []session.Tombstone) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	names, calls := [][]byte{}, []int64{}
	for _, c := range last {
		names, calls = append(names, hashID(c.Agent)), append(calls, int64(c.Calls))
	}
	_, err := s.exec(ctx, `WITH pins AS (DELETE FROM SCHEMA.pin WHERE session = $1),
			records AS (DELETE FROM SCHEMA.record WHERE session = $1)
		INSERT INTO SCHEMA.closed (session, agent, calls, day)
		SELECT $1, agent, calls, $4 FROM unnest($2::bytea[], $3::bigint[]) AS noted (agent, calls)
		ON CONFLICT (session, agent) DO UPDATE SET calls = excluded.calls, day = excluded.day`,
		hashID(id), names, calls, time.Now().Add(tombstoneTime))
	if err != nil {
		return fmt.Errorf("end session %q: %w", id, err)
	}
	return nil
}

// Ended implements session.Tombstones.
func (s *Store) Ended(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = s.queryRow(ctx, false, `SELECT calls FROM SCHEMA.closed WHERE session = $1 AND agent = $2`,
		[]any{hashID(key.Session), hashID(key.Agent)}, &calls)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the tombstones of session %q: %w", key.Session, err)
	}
	return calls, nil
}
