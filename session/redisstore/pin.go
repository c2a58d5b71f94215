package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// Pin implements session.Store. A text of more than 16 MiB fails with session.ErrTooLarge. All
// sessions share one copy of a text.
func (s *Store) Pin(ctx context.Context, id, digest, text string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if digest != session.Digest(text) {
		return fmt.Errorf("pin %q: digest is not the hex SHA-256 of the text", digest)
	}
	if len(text) > maxText {
		return fmt.Errorf("pin %q of %d bytes, at most %d are stored: %w", digest, len(text), maxText, session.ErrTooLarge)
	}
	if err := s.storePin(ctx, id, digest, text); err != nil {
		return fmt.Errorf("pin %q: %w", digest, err)
	}
	return nil
}

func (s *Store) storePin(ctx context.Context, id, digest, text string) error {
	// Each step waits as a Save does, so that a server that is killed before the Save does not
	// lose the text.
	write := func(key string, script *redis.Script, args ...any) (any, error) {
		return s.attempt(ctx, false, func(ctx context.Context) (any, error) { return s.write(ctx, key, script, args) })
	}
	life := 2 * s.ttl.Milliseconds()
	exists, err := write(s.textKey(digest), keepTextScript, life)
	if err != nil {
		return err
	}
	if exists == int64(0) {
		if _, err := write(s.textKey(digest), textScript, packed.Pack([]byte(text), packed.None, flate.StatelessDeflate), life); err != nil {
			return err
		}
	}
	field, _ := pinFieldOf(digest)
	_, err = write(s.tag(id), pinScript, field, s.millis(id))
	return err
}

// keepTextScript renews the time to live of a text, or returns 0 if there is none. It writes
// even without a time to live, so that a wait also covers the write of another handle.
var keepTextScript = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) else redis.call('APPEND', KEYS[1], '') end
return 1`)

// textScript stores a text.
var textScript = redis.NewScript(`
if ARGV[2] ~= '0' then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) else redis.call('SET', KEYS[1], ARGV[1]) end
return 1`)

// pinScript pins a text and renews the time to live of the session.
var pinScript = redis.NewScript(`
redis.call('HSET', KEYS[1], ARGV[1], '')
if ARGV[2] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`)

// renewTexts renews the time to live of the texts that a value needs. It skips those that this
// handle has renewed within the last quarter of the time to live.
func (s *Store) renewTexts(ctx context.Context, pins []string) error {
	if s.ttl == 0 {
		return nil
	}
	now := time.Now()
	var due []string
	s.mu.Lock()
	for _, digest := range pins {
		if _, ok := pinFieldOf(digest); ok && now.Sub(s.renewedAt[digest]) > s.ttl/4 {
			due = append(due, digest)
		}
	}
	s.mu.Unlock()
	if len(due) == 0 {
		return nil
	}
	_, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return s.db.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, digest := range due {
				p.PExpire(ctx, s.textKey(digest), 2*s.ttl)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.renewedAt) > maxRenewed {
		clear(s.renewedAt)
	}
	for _, digest := range due {
		s.renewedAt[digest] = now
	}
	return nil
}

// Pinned implements session.Store. If the text is missing or damaged, the error wraps
// session.ErrNotPinned; another Pin repairs it.
func (s *Store) Pinned(ctx context.Context, id, digest string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	field, ok := pinFieldOf(digest)
	if !ok {
		return "", notPinnedError(digest)
	}
	exists, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) { return s.db.HExists(ctx, s.tag(id), field).Result() })
	if err != nil {
		return "", fmt.Errorf("read pin %q: %w", digest, err)
	}
	if isPinned, _ := exists.(bool); !isPinned {
		return "", notPinnedError(digest)
	}
	stored, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) { return s.db.Get(ctx, s.textKey(digest)).Bytes() })
	if errors.Is(err, redis.Nil) {
		return "", notPinnedError(digest)
	}
	if err != nil {
		return "", fmt.Errorf("read pin %q: %w", digest, err)
	}
	data, err := packed.Unpack(stored.([]byte), packed.None, maxText)
	if err != nil || session.Digest(string(data)) != digest {
		s.db.Del(ctx, s.textKey(digest)) // otherwise Pin would not store the text again
		return "", fmt.Errorf("%w: %w", notPinnedError(digest), session.ErrDamaged)
	}
	return string(data), nil
}

func notPinnedError(digest string) error {
	return fmt.Errorf("read pin %.80q: %w", digest, session.ErrNotPinned)
}

// unpinScript removes the pins whose fields are not in ARGV.
var unpinScript = redis.NewScript(`
local keep = {}
for i = 1, #ARGV do keep[ARGV[i]] = true end
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
	if string.sub(field, 1, 1) == 'p' and not keep[field] then redis.call('HDEL', KEYS[1], field) end
end
return 1`)

// Unpin implements session.Store. Texts that no session pins any more expire.
func (s *Store) Unpin(ctx context.Context, id string, keep []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fields := []any{}
	for _, digest := range keep {
		if field, ok := pinFieldOf(digest); ok {
			fields = append(fields, field)
		}
	}
	_, err := s.attempt(ctx, false, func(ctx context.Context) (any, error) {
		return unpinScript.Run(ctx, s.db, []string{s.tag(id)}, fields...).Result()
	})
	if err != nil {
		return fmt.Errorf("unpin content of session %q: %w", id, err)
	}
	return nil
}
