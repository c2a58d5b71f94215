package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/session"
)

// leaseMemory is how long the fence of a lease is remembered after it has
// expired. Later fences are higher because of the server's clock.
const leaseMemory = 24 * time.Hour

// The hash of a lease: h is its holder, f its fence, u when it expires in
// microseconds of the server, w whether another holder wants it.
const leaseNow = `
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local held = redis.call('HMGET', KEYS[1], 'h', 'f', 'u', 'w')
local free = not held[3] or tonumber(held[3]) <= now
`

var acquireScript = redis.NewScript(leaseNow + `
if not free and held[1] ~= ARGV[1] then
	redis.call('HSET', KEYS[1], 'w', '1')
	return {0, held[1]}
end
local fence = now
if held[2] and tonumber(held[2]) >= fence then fence = tonumber(held[2]) + 1 end
fence = string.format('%.0f', fence)
redis.call('HSET', KEYS[1], 'h', ARGV[1], 'f', fence, 'u', string.format('%.0f', now + ARGV[2] * 1000), 'w', '0')
redis.call('PEXPIRE', KEYS[1], ARGV[2] + ARGV[3])
return {1, fence}`)

var renewScript = redis.NewScript(leaseNow + `
if free or held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return {0} end
redis.call('HSET', KEYS[1], 'u', string.format('%.0f', now + ARGV[3] * 1000))
redis.call('PEXPIRE', KEYS[1], ARGV[3] + ARGV[4])
return {1, held[4]}`)

var releaseScript = redis.NewScript(leaseNow + `
if free then return {1} end
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return {0} end
redis.call('HSET', KEYS[1], 'u', '0', 'w', '0')
return {1}`)

func (s *Store) lease(ctx context.Context, id string, script *redis.Script, args ...any) ([]any, error) {
	answer, err := s.attempt(ctx, true, func(ctx context.Context) (any, error) {
		return script.Run(ctx, s.db, []string{s.leaseKey(id)}, args...).Result()
	})
	if err != nil {
		return nil, err
	}
	row, ok := answer.([]any)
	if !ok || len(row) == 0 {
		return nil, fmt.Errorf("answer %v", answer)
	}
	return row, nil
}

// Acquire implements session.Leaser, by the clock of the server.
func (s *Store) Acquire(ctx context.Context, id, holder string, ttl time.Duration) (session.Lease, error) {
	if err := ctx.Err(); err != nil {
		return session.Lease{}, err
	}
	if ttl < time.Millisecond {
		return session.Lease{}, fmt.Errorf("acquire the lease of session %q for %v: %w", id, ttl, session.ErrTTL)
	}
	row, err := s.lease(ctx, id, acquireScript, holder, ttl.Milliseconds(), leaseMemory.Milliseconds())
	if err != nil {
		return session.Lease{}, fmt.Errorf("acquire the lease of session %q: %w", id, err)
	}
	text, _ := row[len(row)-1].(string)
	if row[0] == int64(0) {
		return session.Lease{}, &session.HeldError{Holder: text}
	}
	fence, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return session.Lease{}, fmt.Errorf("acquire the lease of session %q: %w", id, err)
	}
	return session.Lease{Session: id, Holder: holder, Fence: fence, TTL: ttl}, nil
}

// Renew implements session.Leaser.
func (s *Store) Renew(ctx context.Context, l session.Lease) (session.Lease, error) {
	if err := ctx.Err(); err != nil {
		return session.Lease{}, err
	}
	row, err := s.lease(ctx, l.Session, renewScript, l.Holder, l.Fence, l.TTL.Milliseconds(), leaseMemory.Milliseconds())
	if err == nil && row[0] == int64(0) {
		err = session.ErrFenced
	}
	if err != nil {
		return session.Lease{}, fmt.Errorf("renew the lease of session %q: %w", l.Session, err)
	}
	l.Wanted = row[len(row)-1] == "1"
	return l, nil
}

// Release implements session.Leaser.
func (s *Store) Release(ctx context.Context, l session.Lease) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	row, err := s.lease(ctx, l.Session, releaseScript, l.Holder, l.Fence)
	if err == nil && row[0] == int64(0) {
		err = session.ErrFenced
	}
	if err != nil {
		return fmt.Errorf("release the lease of session %q: %w", l.Session, err)
	}
	return nil
}
