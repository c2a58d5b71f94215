// Package pgstore keeps the values of sessions in PostgreSQL, 14 or later. Any number of hosts
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

// Store is a session.Store in PostgreSQL. It is safe for concurrent use. Close it to end
// its sweeps; the pool stays its owner's.
//
// A Save is one statement, so it is atomic, and repeatable: when the answer of the server
// is lost, the store tries again and finds that it has succeeded. Only after three
// attempts of two seconds the error wraps session.ErrUncertain.
//
// The data of a value has at most 1 MiB before it is packed, and a pinned text 16 MiB.
type Store struct {
	config
	db     *pgxpool.Pool
	schema string        // as it stands in a statement
	unit   time.Duration // to which days are rounded up
	report session.Report

	writer  [8]byte // of this handle, in marks
	counter atomic.Uint64
	inLine  [lanes]chan struct{} // by hash of the key: one Save at a time

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
	name  string // of the schema
	ttl   time.Duration
	every time.Duration
	fixed bool // no migration
}

var isSchema = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

// WithSchema sets the schema that has the tables: 1 to 63 letters, digits, "_" and "-".
// The default is "satchel".
func WithSchema(name string) Option {
	return func(c *config) error {
		if !isSchema.MatchString(name) {
			return fmt.Errorf("schema %q: want 1 to 63 letters, digits, _ or -", name)
		}
		c.name = name
		return nil
	}
}

// WithTTL sets how long a session is kept after its last Save, at least. 0 keeps it until
// it ends. The default is 30 days.
func WithTTL(ttl time.Duration) Option {
	return func(c *config) error {
		if ttl < 0 || ttl > 0 && ttl < time.Millisecond {
			return fmt.Errorf("time to live of %v: want 0, or a millisecond or more", ttl)
		}
		c.ttl = ttl
		return nil
	}
}

// WithSweep sets how often the store removes what is over; 0 leaves that to calls of
// [Store.Sweep]. The default is 10 minutes.
func WithSweep(every time.Duration) Option {
	return func(c *config) error {
		if every < 0 {
			return fmt.Errorf("sweep every %v: want 0 or more", every)
		}
		c.every = every
		return nil
	}
}

// WithoutMigration lets Open fail where the schema is not the one of this release, in
// place of changing it. [Migrate] changes it then.
func WithoutMigration() Option {
	return func(c *config) error { c.fixed = true; return nil }
}

// Open returns a store over db. It creates the tables, or migrates those of an earlier release
// so that hosts of the release before can still use them. A schema of a later release is an
// error.
func Open(ctx context.Context, db *pgxpool.Pool, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("open postgres store: pool is nil")
	}
	s := &Store{db: db, config: config{name: "satchel", ttl: defaultTTL, every: defaultSweep}}
	for _, o := range opts {
		if err := o(&s.config); err != nil {
			return nil, fmt.Errorf("open postgres store: %w", err)
		}
	}
	s.schema = pgx.Identifier{s.name}.Sanitize()
	s.unit = max(min(maxRounding, s.ttl/4), time.Millisecond)
	_, _ = rand.Read(s.writer[:]) // never fails
	for i := range s.inLine {
		s.inLine[i] = make(chan struct{}, 1)
	}
	err := s.examine(ctx)
	if err == nil {
		err = s.migrate(ctx, !s.fixed)
	}
	if err != nil {
		return nil, fmt.Errorf("open postgres store: %w", err)
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	if s.every > 0 {
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

// examine looks at the settings of the server.
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

// hashed is how a session or an agent is called in the tables.
func hashed(id string) []byte {
	sum := sha256.Sum256([]byte(id))
	return sum[:16]
}

// day is when what is saved now is over, after so many times to live: rounded up, so that
// most saves do not change it. Nil is never.
func (s *Store) day(id string, times int) *time.Time {
	if s.ttl == 0 || strings.HasPrefix(id, session.Reserved) {
		return nil
	}
	at := time.Now().Add(time.Duration(times) * s.ttl).UTC()
	if rounded := at.Truncate(s.unit); rounded.Before(at) {
		at = rounded.Add(s.unit)
	}
	return &at
}

// sql puts the schema into a statement.
func (s *Store) sql(statement string) string {
	return strings.ReplaceAll(statement, "SCHEMA.", s.schema+".")
}

// enter waits for the Save of the same value that is under way in this handle: a row
// keeps one mark of a writer.
func (s *Store) enter(ctx context.Context, key core.SessionKey) (leave func(), err error) {
	place := s.inLine[crc32.ChecksumIEEE([]byte(key.Session+"\x00"+key.Agent))%uint32(len(s.inLine))]
	select {
	case place <- struct{}{}:
		return func() { <-place }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
