package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/packed"
	"github.com/satchel-go/satchel/session"
)

// Load implements session.Store. A record that is there and cannot be read fails with
// session.ErrDamaged.
func (s *Store) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var version int64
	var body []byte
	err := s.row(ctx, false, `SELECT version, body FROM SCHEMA.record WHERE session = $1 AND agent = $2`,
		[]any{hashed(key.Session), hashed(key.Agent)}, &version, &body)
	if errors.Is(err, pgx.ErrNoRows) {
		return &state.Record{Key: key}, nil
	}
	var rec *state.Record
	if err == nil {
		rec, err = decode(version, body)
	}
	if err == nil && rec.Key != key {
		err = fmt.Errorf("%w: it is that of another agent", session.ErrDamaged)
	}
	if err != nil {
		return nil, fmt.Errorf("load record of agent %q: %w", key.Agent, err)
	}
	return rec, nil
}

func decode(version int64, body []byte) (*state.Record, error) {
	data, err := packed.Unpack(body, packed.Records, MaxRecord)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	rec, err := state.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	if rec.Version != version {
		return nil, fmt.Errorf("%w: version %d holds version %d", session.ErrDamaged, version, rec.Version)
	}
	return rec, nil
}

// Agents implements session.Store.
func (s *Store) Agents(ctx context.Context, id string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	agents, err := attempt(ctx, s.db, false, func(ctx context.Context) ([]string, error) {
		rows, err := s.db.Query(ctx, s.sql(`SELECT version, body FROM SCHEMA.record WHERE session = $1`), pgx.QueryExecModeExec, hashed(id))
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			rec, err := scan(row)
			if err != nil {
				return "", err
			}
			return rec.Key.Agent, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list agents of session %q: %w", id, err)
	}
	slices.Sort(agents)
	return agents, nil
}

// scan reads a version and a body.
func scan(row pgx.CollectableRow, more ...any) (*state.Record, error) {
	var version int64
	var body []byte
	if err := row.Scan(append([]any{&version, &body}, more...)...); err != nil {
		return nil, err
	}
	return decode(version, body)
}

// Sessions implements session.Lister. It reads every record, so it is for maintenance.
// When a session changed last is known to within a quarter of the time to live, or a
// day; with WithTTL(0) it is now.
func (s *Store) Sessions(ctx context.Context) ([]session.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := s.db.Query(ctx, s.sql(`SELECT version, body, CASE WHEN isfinite(day) THEN day END FROM SCHEMA.record`), pgx.QueryExecModeExec)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	now := time.Now()
	all := map[string]*session.Info{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var day *time.Time
		rec, err := scan(row, &day)
		if errors.Is(err, session.ErrDamaged) {
			return struct{}{}, nil
		}
		if err != nil || strings.HasPrefix(rec.Key.Session, session.Reserved) {
			return struct{}{}, err
		}
		info := all[rec.Key.Session]
		if info == nil {
			info = &session.Info{ID: rec.Key.Session}
			all[rec.Key.Session] = info
		}
		info.Agents = append(info.Agents, rec.Key.Agent)
		changed := now
		if day != nil && s.ttl > 0 {
			if saved := day.Add(-s.ttl); saved.Before(now) {
				changed = saved
			}
		}
		if changed.After(info.Changed) {
			info.Changed = changed
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	infos := make([]session.Info, 0, len(all))
	for _, info := range all {
		slices.Sort(info.Agents)
		infos = append(infos, *info)
	}
	slices.SortFunc(infos, func(a, b session.Info) int { return strings.Compare(a.ID, b.ID) })
	return infos, nil
}
