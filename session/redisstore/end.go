package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// End implements session.Store.
func (s *Store) End(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) { return s.db.Unlink(ctx, s.tag(id)).Result() })
	if err != nil {
		return fmt.Errorf("end session %q: %w", id, err)
	}
	return nil
}

// markScript removes a session and writes its tombstones.
var markScript = redis.NewScript(`
redis.call('UNLINK', KEYS[1])
if #ARGV > 1 then
	for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
	redis.call('PEXPIRE', KEYS[2], ARGV[1])
end
return 1`)

// MarkEnded implements session.Tombstones.
func (s *Store) MarkEnded(ctx context.Context, id string, last []session.Tombstone) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	args := []any{tombstoneTime.Milliseconds()}
	for _, c := range last {
		args = append(args, c.Agent, c.Calls)
	}
	_, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return markScript.Run(ctx, s.db, []string{s.tag(id), s.tombstoneKey(id)}, args...).Result()
	})
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
	text, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return s.db.HGet(ctx, s.tombstoneKey(key.Session), key.Agent).Result()
	})
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err == nil {
		calls, err = strconv.Atoi(text.(string))
	}
	if err != nil {
		return 0, fmt.Errorf("read the tombstones of session %q: %w", key.Session, err)
	}
	return calls, nil
}
