package redisstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/packed"
	"github.com/satchel-go/satchel/session"
)

// saveScript stores a value if the stored version is ARGV[2]. If it finds the mark ARGV[4], an
// earlier attempt has succeeded already. It then writes the stored value again, so that WAIT
// waits for it. ARGV[7] is the id of the session. The script returns {1} or {0, the stored
// version}.
//
// The stored form of a value is its version, a line with the last marks of its last 8 writers,
// and the body. A mark identifies a Save: 11 characters of its writer and 11 of a counter.
var saveScript = redis.NewScript(`
local stored = redis.call('HGET', KEYS[1], ARGV[1])
local version, marks = '0', ''
if stored then version, marks = string.match(stored, '^(%d+)\n([^\n]*)\n') end
local kept = ''
for i = 1, #marks, 22 do
	local mark = string.sub(marks, i, i + 21)
	if mark == ARGV[4] then
		redis.call('HSET', KEYS[1], ARGV[1], stored)
		return {1}
	end
	if string.sub(mark, 1, 11) ~= string.sub(ARGV[4], 1, 11) then kept = kept .. mark end
end
if version ~= ARGV[2] then return {0, version} end
kept = string.sub(kept, -154) .. ARGV[4]
redis.call('HSET', KEYS[1], 's', ARGV[7], ARGV[1], ARGV[3] .. '\n' .. kept .. '\n' .. ARGV[5])
local ttl = tonumber(ARGV[6])
if ttl > 0 and redis.call('PTTL', KEYS[1]) < ttl - ttl / 1000 then redis.call('PEXPIRE', KEYS[1], ARGV[6]) end
return {1}`)

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

func (s *Store) save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	if len(v.Data) > maxValue {
		return session.Value{}, fmt.Errorf("%d bytes, at most %d are stored: %w", len(v.Data), maxValue, session.ErrTooLarge)
	}
	if v.Version == math.MaxInt64 {
		return session.Value{}, errors.New("no version left")
	}
	next := session.Value{Version: v.Version + 1, Data: bytes.Clone(v.Data)}
	if err := s.renewTexts(ctx, v.Pins); err != nil {
		return session.Value{}, err
	}
	leave, err := s.waitForSave(ctx, key)
	if err != nil {
		return session.Value{}, err
	}
	defer leave()
	tag, version := s.tag(key.Session), strconv.FormatInt(next.Version, 10)
	body := packed.Seal(next.Data, packed.Records, flate.StatelessDeflate, key.Session, key.Agent, version)
	args := []any{
		agentField + key.Agent, strconv.FormatInt(v.Version, 10), version, s.newMark(), body, s.millis(key.Session), key.Session,
	}
	answer, err := s.attempt(ctx, true, func(ctx context.Context) (any, error) { return s.write(ctx, tag, saveScript, args) })
	if err != nil {
		return session.Value{}, err
	}
	if row, ok := answer.([]any); ok && len(row) == 2 {
		return session.Value{}, fmt.Errorf("save value of agent %q from version %d over version %v: %w", key.Agent, v.Version, row[1], session.ErrConflict)
	}
	return next, nil
}

// waitForSave waits until no other Save of the same value runs in this handle, because a value
// has only one mark of each writer. The caller calls leave after its Save.
func (s *Store) waitForSave(ctx context.Context, key core.SessionKey) (leave func(), err error) {
	place := s.saveSlots[crc32.ChecksumIEEE([]byte(key.Session+"\x00"+key.Agent))%uint32(len(s.saveSlots))]
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newMark returns a new mark of this handle.
func (s *Store) newMark() string {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], s.counter.Add(1))
	return s.writer + base64.RawURLEncoding.EncodeToString(n[:])
}

// write runs a script that writes, and then waits for the disk and the replicas as the options
// require.
func (s *Store) write(ctx context.Context, key string, script *redis.Script, args []any) (any, error) {
	if s.replicas == 0 && s.syncWait == 0 {
		return script.Run(ctx, s.db, []string{key}, args...).Result()
	}
	conn, err := s.conn(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	answer, err := script.Run(ctx, conn, []string{key}, args...).Result()
	if err != nil {
		return nil, err
	}
	if row, ok := answer.([]any); ok && len(row) == 2 {
		return answer, nil // nothing was written
	}
	if s.syncWait > 0 {
		count, err := conn.WaitAOF(ctx, 1, 0, s.syncWait).Result()
		if isReply(err) {
			err = fmt.Errorf("%w: %w", session.ErrUncertain, err)
		}
		if err != nil {
			return nil, err
		}
		if len(count) == 0 || count[0] < 1 {
			return nil, fmt.Errorf("%w: it is not on the disk of the server after %v", session.ErrUncertain, s.syncWait)
		}
	}
	if s.replicas > 0 {
		have, err := conn.Wait(ctx, s.replicas, s.wait).Result()
		if err != nil {
			return nil, err
		}
		if have < int64(s.replicas) {
			return nil, fmt.Errorf("%w: %d of %d replicas have it", session.ErrUncertain, have, s.replicas)
		}
	}
	return answer, nil
}

// conn returns a connection to the primary of a key. WAIT and WAITAOF wait only for writes on
// the same connection.
func (s *Store) conn(ctx context.Context, key string) (*redis.Conn, error) {
	switch db := s.db.(type) {
	case *redis.ClusterClient:
		master, err := db.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return master.Conn(), nil
	case *redis.Client:
		return db.Conn(), nil
	}
	return nil, fmt.Errorf("a client of type %T has no connections to wait on", s.db)
}

// attempt calls do up to three times while it fails because of the connection to the server.
// Each call may take two seconds, and longer if it waits for replicas and the disk. If a write
// may have happened, the error wraps session.ErrUncertain.
func (s *Store) attempt(ctx context.Context, writes bool, do func(context.Context) (any, error)) (any, error) {
	var err error
	sent := false
	for try := range attempts {
		if try > 0 {
			if waitErr := pause(ctx, time.Duration(try*try)*firstPause); waitErr != nil {
				err = waitErr
				break
			}
		}
		var answer any
		limited, cancel := context.WithTimeout(ctx, attemptTime+s.wait+s.syncWait)
		answer, err = do(limited)
		cancel()
		if err == nil || errors.Is(err, redis.Nil) {
			return answer, err
		}
		if errors.Is(err, session.ErrUncertain) {
			return nil, err
		}
		if !canRetry(err) {
			break
		}
		sent = sent || !isReply(err)
		if ctx.Err() != nil {
			err = ctx.Err()
			break
		}
	}
	if sent && writes {
		return nil, fmt.Errorf("%w: %w", session.ErrUncertain, err)
	}
	return nil, err
}

// isReply reports whether an error is a reply of the server itself.
func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

// canRetry reports whether another attempt may succeed after an error.
func canRetry(err error) bool {
	if !isReply(err) {
		return !errors.Is(err, redis.ErrClosed)
	}
	for _, prefix := range []string{"LOADING ", "READONLY ", "CLUSTERDOWN ", "MASTERDOWN ", "TRYAGAIN ", "BUSY ", "MOVED ", "ASK "} {
		if redis.HasErrorPrefix(err, prefix) {
			return true
		}
	}
	return false
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
