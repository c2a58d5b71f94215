package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/packed"
	"github.com/satchel-go/satchel/session"
)

// A mark is the 8 bytes of its writer and 8 of a counter. A record keeps the last mark of
// each of its last 8 writers.
const (
	insertRecord = `INSERT INTO SCHEMA.record (session, agent, version, marks, body, day)
		VALUES ($1, $2, 1, $3, $4, coalesce($5::timestamptz, 'infinity')) ON CONFLICT DO NOTHING`

	updateRecord = `UPDATE SCHEMA.record SET version = $4, body = $3, day = coalesce($6::timestamptz, 'infinity'),
		marks = CASE position(substring($5::bytea from 1 for 8) in marks)
			WHEN 0 THEN substring(marks from greatest(length(marks) - 111, 1)) || $5::bytea
			ELSE overlay(marks placing ''::bytea from position(substring($5::bytea from 1 for 8) in marks) for 16) || $5::bytea
		END
		WHERE session = $1 AND agent = $2 AND version = $4::bigint - 1`

	findMark = `SELECT version, position($3::bytea in marks) > 0 FROM SCHEMA.record WHERE session = $1 AND agent = $2`
)

// Save implements session.Store. A record of more than [MaxRecord] bytes fails with
// session.ErrTooLarge. Strings that are not valid UTF-8 are stored with U+FFFD in place
// of the wrong bytes, except the Key.
func (s *Store) Save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if rec == nil {
		return nil, errors.New("save session record: record is nil")
	}
	saved, err := s.save(ctx, rec)
	if err != nil && !errors.Is(err, session.ErrConflict) {
		err = fmt.Errorf("save record of agent %q: %w", rec.Key.Agent, err)
	}
	return saved, err
}

func (s *Store) save(ctx context.Context, rec *state.Record) (*state.Record, error) {
	next, data, err := state.Next(rec, MaxRecord)
	if err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx, rec.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	at, agent, mark := hashed(rec.Key.Session), hashed(rec.Key.Agent), s.mark()
	body, day := packed.Pack(data, packed.Records), s.day(rec.Key.Session, 1)
	stored := int64(0)
	done, err := attempt(ctx, s.db, true, func(ctx context.Context) (bool, error) {
		statement, args := updateRecord, []any{pgx.QueryExecModeExec, at, agent, body, next.Version, mark, day}
		if rec.Version == 0 {
			statement, args = insertRecord, []any{pgx.QueryExecModeExec, at, agent, mark, body, day}
		}
		tag, err := s.db.Exec(ctx, s.sql(statement), args...)
		if err != nil || tag.RowsAffected() == 1 {
			return err == nil, err
		}
		found := false
		err = s.db.QueryRow(ctx, s.sql(findMark), pgx.QueryExecModeExec, at, agent, mark).Scan(&stored, &found)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return found, err
	})
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, fmt.Errorf("save record of agent %q from version %d over version %d: %w", rec.Key.Agent, rec.Version, stored, session.ErrConflict)
	}
	return next, nil
}

// mark is a new one of this handle.
func (s *Store) mark() []byte {
	return binary.BigEndian.AppendUint64(append([]byte(nil), s.writer[:]...), s.counter.Add(1))
}
