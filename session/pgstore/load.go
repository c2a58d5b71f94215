package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// Load implements session.Store. If a value exists but cannot be read, the error wraps
// session.ErrDamaged.
func (s *Store) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	if err := ctx.Err(); err != nil {
		return session.Value{}, err
	}
	var row row
	err := s.queryRow(ctx, false, `SELECT version, body, id, name FROM SCHEMA.record WHERE session = $1 AND agent = $2`,
		[]any{hashID(key.Session), hashID(key.Agent)}, row.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return session.Value{}, nil
	}
	var v session.Value
	if err == nil {
		v, err = row.decode(key)
	}
	if err != nil {
		return session.Value{}, fmt.Errorf("load value of agent %q: %w", key.Agent, err)
	}
	return v, nil
}

// row holds the columns of a record.
type row struct {
	version        int64
	body, id, name []byte
}

// columns returns the destinations for Scan.
func (r *row) columns() []any { return []any{&r.version, &r.body, &r.id, &r.name} }

// decode returns the value of the row. It fails if the row belongs to another key.
func (r *row) decode(key core.SessionKey) (session.Value, error) {
	if string(r.id) != key.Session || string(r.name) != key.Agent {
		return session.Value{}, fmt.Errorf("%w: it is that of another agent", session.ErrDamaged)
	}
	data, err := packed.Open(r.body, packed.Records, maxValue, key.Session, key.Agent, strconv.FormatInt(r.version, 10))
	if err != nil {
		return session.Value{}, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	return session.Value{Version: r.version, Data: data}, nil
}

// Agents implements session.Store.
func (s *Store) Agents(ctx context.Context, id string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	agents, err := attempt(ctx, s.db, false, func(ctx context.Context) ([]string, error) {
		rows, err := s.db.Query(ctx, s.sql(`SELECT name FROM SCHEMA.record WHERE session = $1`), pgx.QueryExecModeExec, hashID(id))
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			var name []byte
			err := row.Scan(&name)
			return string(name), err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list agents of session %q: %w", id, err)
	}
	slices.Sort(agents)
	return agents, nil
}

// Sessions implements session.Lister. It reads every row, so it is for maintenance. It computes
// Changed from the expiry of a session. Changed is exact to a quarter of the time to live, or
// to a day if that is less; with WithTTL(0) it is now.
func (s *Store) Sessions(ctx context.Context) ([]session.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, err := s.db.Query(ctx, s.sql(`SELECT id, name, CASE WHEN isfinite(day) THEN day END FROM SCHEMA.record`), pgx.QueryExecModeExec)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	now := time.Now()
	all := map[string]*session.Info{}
	_, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (struct{}, error) {
		var day *time.Time
		var id, name []byte
		if err := row.Scan(&id, &name, &day); err != nil || strings.HasPrefix(string(id), session.ReservedPrefix) {
			return struct{}{}, err
		}
		info := all[string(id)]
		if info == nil {
			info = &session.Info{ID: string(id)}
			all[info.ID] = info
		}
		info.Agents = append(info.Agents, string(name))
		if changed := s.savedAt(day, now); changed.After(info.Changed) {
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

// savedAt computes when a row was last saved from its expiry, which is nil if it never expires.
func (s *Store) savedAt(expiry *time.Time, now time.Time) time.Time {
	if expiry == nil || s.ttl == 0 {
		return now
	}
	if saved := expiry.Add(-s.ttl); saved.Before(now) {
		return saved
	}
	return now
}
