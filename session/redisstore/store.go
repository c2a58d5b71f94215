// Package redisstore stores the values of sessions in Redis, 6.2 or later, or Valkey: alone,
// with replicas, or in a cluster. Any number of hosts may use one at the same time.
package redisstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/session"
)

// Store is a session.Store in Redis. It is safe for concurrent use.
//
// A Save is a single script, so it is atomic. It can also be repeated: if the answer of the
// server is lost, the store tries again and finds that the Save has succeeded. Only after three
// attempts the error wraps session.ErrUncertain. Each takes two seconds, and the time of
// waiting for replicas and the disk. [Store.Report] says what the server itself can lose.
//
// The data of a value may have at most 1 MiB before compression, and a pinned text 16 MiB.
type Store struct {
	config
	db     redis.UniversalClient
	report session.Report

	writer    string // identifies this handle in marks
	counter   atomic.Uint64
	saveSlots [parallelSaves]chan struct{} // by hash of the key; each holds the token of one Save

	mu        sync.Mutex
	renewedAt map[string]time.Time // when the time to live of a text was last set
}

var (
	_ session.Store      = (*Store)(nil)
	_ session.Tombstones = (*Store)(nil)
	_ session.Lister     = (*Store)(nil)
	_ session.Reporter   = (*Store)(nil)
)

// Option configures [Open].
type Option func(*config) error

type config struct {
	prefix   string
	ttl      time.Duration
	replicas int
	wait     time.Duration
	syncWait time.Duration // how long a Save waits for the disk; 0 not at all
	lossy    bool
}

// WithPrefix sets the prefix of all keys. The default is "satchel:".
func WithPrefix(prefix string) Option {
	return func(c *config) error {
		if strings.ContainsAny(prefix, "{}") {
			return fmt.Errorf("prefix %q: braces choose the slot of a key", prefix)
		}
		c.prefix = prefix
		return nil
	}
}

// WithTTL sets how long a session stays after its last Save or Pin, less a thousandth, because
// not every Save renews it. With 0 it stays until it ends. The default is 30 days.
func WithTTL(ttl time.Duration) Option {
	return func(c *config) error {
		if ttl < 0 || ttl > 0 && ttl < time.Millisecond {
			return fmt.Errorf("time to live of %v: want 0, or a millisecond or more", ttl)
		}
		c.ttl = ttl
		return nil
	}
}

// WithReplicas makes a Save or a Pin wait until n replicas have it too. If they do not have it
// after wait, the error wraps session.ErrUncertain. The default is 0 replicas.
func WithReplicas(n int, wait time.Duration) Option {
	return func(c *config) error {
		if n < 0 || n > 0 && wait < time.Millisecond {
			return fmt.Errorf("%d replicas within %v: want 0 or more, within a millisecond or more", n, wait)
		}
		c.replicas, c.wait = n, wait
		return nil
	}
}

// WithSynced makes a Save or a Pin wait until the server reports by WAITAOF that it is in the
// append-only file. If the server does not report that after wait, the error wraps
// session.ErrUncertain. With appendfsync everysec and a slow disk, a killed server then loses
// hardly any acknowledged save. With appendfsync always it loses none; with appendfsync no
// every save fails. The option needs Redis 7.2 or later, or Valkey. By default a Save does not
// wait.
func WithSynced(wait time.Duration) Option {
	return func(c *config) error {
		if wait < time.Millisecond {
			return fmt.Errorf("synced within %v: want a millisecond or more", wait)
		}
		c.syncWait = wait
		return nil
	}
}

// WithLossy accepts a server that can lose acknowledged changes: one without an append-only
// file, or one that evicts keys.
func WithLossy() Option {
	return func(c *config) error { c.lossy = true; return nil }
}

// Open checks the server's settings and returns a store over db. It fails if the server can
// lose acknowledged values, unless [WithLossy] accepts that. The caller still has to close db.
//
// db should have MaxRetries at -1, because the store itself repeats attempts. It should have
// ContextTimeoutEnabled set. Without that, an attempt at a server that does not answer takes
// the timeouts of db.
func Open(ctx context.Context, db redis.UniversalClient, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("open redis store: client is nil")
	}
	s := &Store{db: db, config: config{prefix: "satchel:", ttl: defaultTTL}, renewedAt: map[string]time.Time{}}
	for _, o := range opts {
		if err := o(&s.config); err != nil {
			return nil, fmt.Errorf("open redis store: %w", err)
		}
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	s.writer = base64.RawURLEncoding.EncodeToString(id[:])
	for i := range s.saveSlots {
		s.saveSlots[i] = make(chan struct{}, 1)
	}
	if err := s.examine(ctx); err != nil {
		return nil, fmt.Errorf("open redis store: %w", err)
	}
	return s, nil
}

// Report implements session.Reporter.
func (s *Store) Report() session.Report { return s.report }

// tag returns the key of a session. It also begins the other keys of the session, so that all
// are in one slot.
func (s *Store) tag(id string) string {
	sum := sha256.Sum256([]byte(id))
	return s.prefix + "{" + base64.RawURLEncoding.EncodeToString(sum[:16]) + "}"
}

// tombstoneKey returns the key of the tombstones of a session.
func (s *Store) tombstoneKey(id string) string { return s.tag(id) + "c" }

// textKey returns the key of the text with a digest. It may be in another slot than the
// session.
func (s *Store) textKey(digest string) string { return s.prefix + "x{" + digest + "}" }

// Fields in the hash of a session.
const (
	agentField = "a" // followed by the agent's exact name; holds its value
	idField    = "s" // holds the exact id of the session
	pinField   = "p" // followed by the bytes of a digest; empty
)

// pinFieldOf returns the field of a pin, or false if digest is none.
func pinFieldOf(digest string) (string, bool) {
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != digest {
		return "", false
	}
	return pinField + string(raw), true
}

// millis returns the time to live of a session in milliseconds, 0 for none.
// Sessions with reserved ids stay until they are ended.
func (s *Store) millis(id string) int64 {
	if strings.HasPrefix(id, session.ReservedPrefix) {
		return 0
	}
	return s.ttl.Milliseconds()
}
