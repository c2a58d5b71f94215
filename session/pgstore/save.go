package pgstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/flate"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// A mark identifies a Save: 8 bytes of its writer and 8 of a counter. A row has the last mark
// of each of its last 8 writers. So a repeated Save finds out that the first attempt has
// succeeded.
const (
	insertRecord = `INSERT INTO SCHEMA.record (session, agent, version, marks, body, day, id, name)
		VALUES ($1, $2, 1, $3, $4, coalesce($5::timestamptz, 'infinity'), $6, $7) ON CONFLICT DO NOTHING`

	updateRecord = `UPDATE SCHEMA.record SET version = $4, body = $3, day = coalesce($6::timestamptz, 'infinity'),
		marks = CASE position(substring($5::bytea from 1 for 8) in marks)
			WHEN 0 THEN substring(marks from greatest(length(marks) - 111, 1)) || $5::bytea
			ELSE overlay(marks placing ''::bytea from position(substring($5::bytea from 1 for 8) in marks) for 16) || $5::bytea
		END
		WHERE session = $1 AND agent = $2 AND version = $4::bigint - 1`

	findMark = `SELECT version, position($3::bytea in marks) > 0 FROM SCHEMA.record WHERE session = $1 AND agent = $2`
)

// Save implements session.Store. Data of more than [maxValue] bytes fails with
// session.ErrTooLarge.
func (s *Store) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	if err := ctx.Err(); err != nil {
		return session.Value{}, err
	}
	next, err := s.save(ctx, key, v)
	if err != nil && !errors.Is(err, session.ErrConflict) {
		err = fmt.Errorf("save value of agent %q: %w", key.Agent, err)
	}
	return next, err
}

// save stores a value. It ignores v.Pins: a pin stays while its session has a value.
func (s *Store) save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	if len(v.Data) > maxValue {
		return session.Value{}, fmt.Errorf("%d bytes, at most %d are stored: %w", len(v.Data), maxValue, session.ErrTooLarge)
	}
	if v.Version == math.MaxInt64 {
		return session.Value{}, errors.New("no version left")
	}
	next := session.Value{Version: v.Version + 1, Data: bytes.Clone(v.Data)}
	leave, err := s.waitForSave(ctx, key)
	if err != nil {
		return session.Value{}, err
	}
	defer leave()
	sessionID, agent, mark := hashID(key.Session), hashID(key.Agent), s.newMark()
	body, day := seal(key, next), s.expiry(key.Session, 1)
	stored := int64(0)
	isSaved, err := attempt(ctx, s.db, true, func(ctx context.Context) (bool, error) {
		statement, args := updateRecord, []any{pgx.QueryExecModeExec, sessionID, agent, body, next.Version, mark, day}
		if v.Version == 0 {
			statement, args = insertRecord, []any{pgx.QueryExecModeExec, sessionID, agent, mark, body, day, []byte(key.Session), []byte(key.Agent)}
		}
		tag, err := s.db.Exec(ctx, s.sql(statement), args...)
		if err != nil || tag.RowsAffected() == 1 {
			return err == nil, err
		}
		found := false
		err = s.db.QueryRow(ctx, s.sql(findMark), pgx.QueryExecModeExec, sessionID, agent, mark).Scan(&stored, &found)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return found, err
	})
	if err != nil {
		return session.Value{}, err
	}
	if !isSaved {
		return session.Value{}, fmt.Errorf("save value of agent %q from version %d over version %d: %w", key.Agent, v.Version, stored, session.ErrConflict)
	}
	return next, nil
}

// seal compresses a value for its row.
func seal(key core.SessionKey, v session.Value) []byte {
	return packed.Seal(v.Data, packed.Records, flate.StatelessDeflate, key.Session, key.Agent, strconv.FormatInt(v.Version, 10))
}

// newMark returns a new mark of this handle.
func (s *Store) newMark() []byte {
	return binary.BigEndian.AppendUint64(append([]byte(nil), s.writer[:]...), s.counter.Add(1))
}
