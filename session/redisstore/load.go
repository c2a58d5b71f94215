package redisstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/packed"
	"github.com/satchel-go/satchel/session"
)

// Load implements session.Store. If a record exists but cannot be read, the error
// wraps session.ErrDamaged.
func (s *Store) Load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rec, err := s.load(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("load record of agent %q: %w", key.Agent, err)
	}
	return rec, nil
}

func (s *Store) load(ctx context.Context, key core.SessionKey) (*state.Record, error) {
	data, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return s.db.HGet(ctx, s.tag(key.Session), agentField+key.Agent).Bytes()
	})
	if errors.Is(err, redis.Nil) {
		return &state.Record{Key: key}, nil
	}
	if err != nil {
		return nil, err
	}
	rec, err := decode(data.([]byte))
	if err != nil {
		return nil, err
	}
	if rec.Key != key {
		return nil, fmt.Errorf("%w: it is that of another agent", session.ErrDamaged)
	}
	return rec, nil
}

// decode reads a stored record.
func decode(stored []byte) (*state.Record, error) {
	version, rest, ok := bytes.Cut(stored, []byte("\n"))
	_, body, ok2 := bytes.Cut(rest, []byte("\n"))
	if !ok || !ok2 {
		return nil, fmt.Errorf("%w: it has no version", session.ErrDamaged)
	}
	data, err := packed.Unpack(body, packed.Records, MaxRecord)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	rec, err := state.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	if strconv.FormatInt(rec.Version, 10) != string(version) {
		return nil, fmt.Errorf("%w: version %.40s holds version %d", session.ErrDamaged, version, rec.Version)
	}
	return rec, nil
}

// Agents implements session.Store.
func (s *Store) Agents(ctx context.Context, id string) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fields, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) { return s.db.HKeys(ctx, s.tag(id)).Result() })
	if err != nil {
		return nil, fmt.Errorf("list agents of session %q: %w", id, err)
	}
	var agents []string
	for _, f := range fields.([]string) {
		if agent, ok := strings.CutPrefix(f, agentField); ok {
			agents = append(agents, agent)
		}
	}
	slices.Sort(agents)
	return agents, nil
}
