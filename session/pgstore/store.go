// Package pgstore stores the values of sessions in PostgreSQL, 14 or later. Any number of hosts
// may use one database at the same time, also through a pooler of connections.
package pgstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// Store is a session.Store in PostgreSQL. It is safe for concurrent use. Close ends its sweeps;
// the caller still has to close the pool.
//
// A Save is one statement, so it is atomic. It can also be repeated: if the answer of the
// server is lost, the store tries again and finds that it has succeeded. Only after three
// attempts of two seconds the error wraps session.ErrUncertain.
//
// The data of a value may have at most 1 MiB before compression, and a pinned text 16 MiB.
type Store struct {
	config
	db     *pgxpool.Pool
	schema string        // quoted for statements
	unit   time.Duration // to a multiple of which expiries are rounded up
	report session.Report

	writer    [8]byte // identifies this handle in marks
	counter   atomic.Uint64
	saveSlots [parallelSaves]chan struct{} // by hash of the key; each holds the token of one Save

	stop context.CancelFunc
	done sync.WaitGroup
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
	name        string // of the schema
	ttl         time.Duration
	interval    time.Duration
	noMigration bool // no migration
}

var schemaName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// WithSchema sets the schema of the tables: 1 to 63 letters, digits, "_" and "-". The default
// is "satchel".
func WithSchema(name string) Option {
	return func(c *config) error {
		if !schemaName.MatchString(name) {
			return fmt.Errorf("schema %q: want 1 to 63 letters, digits, _ or -", name)
		}
		c.name = name
		return nil
	}
}

// WithTTL sets how long a session stays after its last Save, at least. With 0 it stays until it
// ends. The default is 30 days.
func WithTTL(ttl time.Duration) Option {
	return func(c *config) error {
		if ttl < 0 || ttl > 0 && ttl < time.Millisecond {
			return fmt.Errorf("time to live of %v: want 0, or a millisecond or more", ttl)
		}
		c.ttl = ttl
		return nil
	}
}

// WithSweep sets how often the store removes expired rows. With 0 only [Store.Sweep] does so.
// The default is 10 minutes.
func WithSweep(every time.Duration) Option {
	return func(c *config) error {
		if every < 0 {
			return fmt.Errorf("sweep every %v: want 0 or more", every)
		}
		c.interval = every
		return nil
	}
}

// WithoutMigration makes Open fail if the tables are not those of this release, instead of
// migrating them. [Migrate] migrates them then.
func WithoutMigration() Option {
	return func(c *config) error { c.noMigration = true; return nil }
}

// Open returns a store over db. It creates the tables, or migrates those of an earlier release.
// Hosts of the release before can still use the migrated tables. Tables of a later release are
// an error.
func Open(ctx context.Context, db *pgxpool.Pool, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("open postgres store: pool is nil")
	}
	s := &Store{db: db, config: config{name: "satchel", ttl: defaultTTL, interval: defaultSweep}}
	for _, o := range opts {
		if err := o(&s.config); err != nil {
			return nil, fmt.Errorf("open postgres store: %w", err)
		}
	}
	s.schema = pgx.Identifier{s.name}.Sanitize()
	s.unit = max(min(maxRounding, s.ttl/4), time.Millisecond)
	_, _ = rand.Read(s.writer[:]) // never fails
	for i := range s.saveSlots {
		s.saveSlots[i] = make(chan struct{}, 1)
	}
	err := s.examine(ctx)
	if err == nil {
		err = s.migrate(ctx, !s.noMigration)
	}
	if err != nil {
		return nil, fmt.Errorf("open postgres store: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if s.interval > 0 {
		s.done.Go(func() { s.sweepEvery(background) })
	}
	return s, nil
}

// Close ends the sweeps. It closes no connection.
func (s *Store) Close() error {
	s.stop()
	s.done.Wait()
	return nil
}

// Report implements session.Reporter.
func (s *Store) Report() session.Report { return s.report }

// examine checks the version of the server, and fills the report from its settings.
func (s *Store) examine(ctx context.Context) error {
	var version int
	var text, fsync, commit, standbys string
	err := s.db.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_version'),
		current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')`,
		pgx.QueryExecModeExec).Scan(&version, &text, &fsync, &commit, &standbys)
	if err != nil {
		return err
	}
	if version < 140000 {
		return fmt.Errorf("postgres %s is too old: want 14 or later", text)
	}
	s.report = session.Report{Engine: "postgres", Version: text}
	if fsync == "off" {
		s.report.Loses = append(s.report.Loses, "everything when the machine stops (fsync off)")
	}
	if commit == "off" {
		s.report.Loses = append(s.report.Loses, "the latest records when the server ends (synchronous_commit off)")
	}
	if standbys == "" || commit == "off" || commit == "local" {
		s.report.Loses = append(s.report.Loses, "at a failover, what the standby lacks (no synchronous standby)")
	}
	return nil
}

// hashID returns the id of a session or an agent in the tables.
func hashID(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:16]
}

// expiry returns when a row of a session expires, after so many times to live. It is rounded
// up, so that most saves do not change it. Nil means never.
func (s *Store) expiry(id string, times int) *time.Time {
	if s.ttl == 0 || strings.HasPrefix(id, session.ReservedPrefix) {
		return nil
	}
	at := time.Now().Add(time.Duration(times) * s.ttl).UTC()
	if rounded := at.Truncate(s.unit); rounded.Before(at) {
		at = rounded.Add(s.unit)
	}
	return &at
}

// sql inserts the schema into a statement.
func (s *Store) sql(statement string) string {
	return strings.ReplaceAll(statement, "SCHEMA.", s.schema+".")
}

// waitForSave waits until no other Save of the same value runs in this handle, because a row
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
