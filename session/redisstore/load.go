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
	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// Load implements session.Store. If a value exists but cannot be read, the error wraps
// session.ErrDamaged.
func (s *Store) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	if err := ctx.Err(); err != nil {
		return session.Value{}, err
	}
	v, err := s.load(ctx, key)
	if err != nil {
		return session.Value{}, fmt.Errorf("load value of agent %q: %w", key.Agent, err)
	}
	return v, nil
}

func (s *Store) load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	data, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return s.db.HGet(ctx, s.tag(key.Session), agentField+key.Agent).Bytes()
	})
	if errors.Is(err, redis.Nil) {
		return session.Value{}, nil
	}
	if err != nil {
		return session.Value{}, err
	}
	return decodeValue(key, data.([]byte))
}

// decodeValue decodes the stored form of a value, which [saveScript] describes.
func decodeValue(key core.SessionKey, stored []byte) (session.Value, error) {
	version, rest, ok := bytes.Cut(stored, []byte("\n"))
	_, body, ok2 := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseInt(string(version), 10, 64)
	if !ok || !ok2 || err != nil || n < 1 {
		return session.Value{}, fmt.Errorf("%w: it has no version", session.ErrDamaged)
	}
	data, err := packed.Open(body, packed.Records, maxValue, key.Session, key.Agent, string(version))
	if err != nil {
		return session.Value{}, fmt.Errorf("%w: %w", session.ErrDamaged, err)
	}
	return session.Value{Version: n, Data: data}, nil
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
