// Package redisstore keeps the values of sessions in Redis, 6.2 or later, or Valkey: alone,
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
// A Save is a single script, so it is atomic and repeatable: if the server's
// answer is lost, the store tries again and finds that the Save has succeeded.
// Only after three attempts of two seconds, and of the wait for replicas and the disk, the
// error wraps session.ErrUncertain.
// [Store.Report] says what the server itself can lose.
//
// The data of a value has at most 1 MiB before it is packed, and a pinned text 16 MiB.
type Store struct {
	config
	db     redis.UniversalClient
	report session.Report

	writer  string // of this handle, in marks
	counter atomic.Uint64
	inLine  [lanes]chan struct{} // by hash of the key: one Save at a time

	mu      sync.Mutex
	renewed map[string]time.Time // when the time to live of a text was last set
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
	synced   time.Duration // 0: a Save does not wait for the disk
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

// WithTTL sets how long a session is kept after its last Save or Pin, less a thousandth,
// because not every Save renews it. With 0 it is kept until it ends. The default is 30 days.
func WithTTL(ttl time.Duration) Option {
	return func(c *config) error {
		if ttl < 0 || ttl > 0 && ttl < time.Millisecond {
			return fmt.Errorf("time to live of %v: want 0, or a millisecond or more", ttl)
		}
		c.ttl = ttl
		return nil
	}
}

// WithReplicas makes a Save or a Pin succeed only when n replicas have it too, for which
// it waits that long. If they do not, the error wraps session.ErrUncertain. The
// default is 0.
func WithReplicas(n int, wait time.Duration) Option {
	return func(c *config) error {
		if n < 0 || n > 0 && wait < time.Millisecond {
			return fmt.Errorf("%d replicas within %v: want 0 or more, within a millisecond or more", n, wait)
		}
		c.replicas, c.wait = n, wait
		return nil
	}
}

// WithSynced makes a Save or a Pin succeed only when the server reports by WAITAOF that its
// append-only file has it. wait is how long the store waits for that. Without the report the
// error wraps session.ErrUncertain. With appendfsync everysec and a slow disk, a killed server
// then loses hardly any acknowledged save. With appendfsync always it loses none; with
// appendfsync no every save fails. It needs Redis 7.2 or later, or Valkey. The default is not
// to wait.
func WithSynced(wait time.Duration) Option {
	return func(c *config) error {
		if wait < time.Millisecond {
			return fmt.Errorf("synced within %v: want a millisecond or more", wait)
		}
		c.synced = wait
		return nil
	}
}

// WithLossy accepts a server that can lose what it has acknowledged: one without an
// append-only file, or one that evicts keys.
func WithLossy() Option {
	return func(c *config) error { c.lossy = true; return nil }
}

// Open checks the server's settings and returns a store over db. It fails if the server can
// lose acknowledged values, unless [WithLossy] accepts that. The caller still has to close db.
// Set db's MaxRetries to -1, because the store itself repeats attempts. Set
// ContextTimeoutEnabled too. Without it an attempt at a server that does not answer takes all
// of the timeouts of db.
func Open(ctx context.Context, db redis.UniversalClient, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("open redis store: client is nil")
	}
	s := &Store{db: db, config: config{prefix: "satchel:", ttl: defaultTTL}, renewed: map[string]time.Time{}}
	for _, o := range opts {
		if err := o(&s.config); err != nil {
			return nil, fmt.Errorf("open redis store: %w", err)
		}
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	s.writer = base64.RawURLEncoding.EncodeToString(id[:])
	for i := range s.inLine {
		s.inLine[i] = make(chan struct{}, 1)
	}
	if err := s.examine(ctx); err != nil {
		return nil, fmt.Errorf("open redis store: %w", err)
	}
	return s, nil
}

// Report implements session.Reporter.
func (s *Store) Report() session.Report { return s.report }

// tag is the part that all keys of a session share, so that they are in one slot.
func (s *Store) tag(id string) string {
	sum := sha256.Sum256([]byte(id))
	return s.prefix + "{" + base64.RawURLEncoding.EncodeToString(sum[:16]) + "}"
}

func (s *Store) closedKey(id string) string { return s.tag(id) + "c" }

// textKey is the key of the text with a digest; it may be in any slot.
func (s *Store) textKey(digest string) string { return s.prefix + "x{" + digest + "}" }

// Fields in the hash of a session.
const (
	agentField = "a" // and the agent's exact name: its value
	idField    = "s" // the exact id of the session
	pinField   = "p" // and the bytes of a digest
)

// pinOf returns the field of a pin; false if the text is not a digest.
func pinOf(digest string) (string, bool) {
	raw, err := hex.DecodeString(digest)
	if err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != digest {
		return "", false
	}
	return pinField + string(raw), true
}

// millis returns the time to live of a session in milliseconds, 0 for none.
// Sessions with reserved ids stay until they are ended.
func (s *Store) millis(id string) int64 {
	if strings.HasPrefix(id, session.Reserved) {
		return 0
	}
	return s.ttl.Milliseconds()
}
