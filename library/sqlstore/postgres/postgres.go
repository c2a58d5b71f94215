// Package postgres keeps a skill library in PostgreSQL 13 or later.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/internal/sqlstore"
)

// Store is a library.Store in PostgreSQL. Close it after use.
type Store interface {
	library.Store
	source.Notifier
	// Close closes the connections.
	Close() error
}

// Option configures [Open].
type Option func(*config) error

type config struct {
	logger  *slog.Logger
	migrate bool
	conns   int
}

// WithLogger sets the logger for errors of the connection that listens for changes. The default is
// slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error { c.logger = logger; return nil }
}

// WithMigrate makes Open update the schema. By default Open only checks it.
func WithMigrate() Option { return func(c *config) error { c.migrate = true; return nil } }

// WithConns sets the largest number of connections, not counting the one that listens. The default
// is 8.
func WithConns(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("%d connections: want 1 or more", n)
		}
		c.conns = n
		return nil
	}
}

// Open connects to a database. dsn is "postgres://user@host/name" or any other text that libpq
// understands. If the schema is not that of this version, Open returns library.ErrSchema; the text
// of the error says what to do.
func Open(ctx context.Context, dsn string, opts ...Option) (Store, error) {
	c := config{conns: defaultConns, logger: slog.Default()}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, fmt.Errorf("open PostgreSQL library: %w", err)
		}
	}
	parsed, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("library: the address of the PostgreSQL database cannot be read")
	}
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = connectTime
	}
	db := stdlib.OpenDB(*parsed)
	db.SetMaxOpenConns(c.conns)
	db.SetMaxIdleConns(c.conns)
	db.SetConnMaxIdleTime(idleTime)
	s := sqlstore.New(db, db, dialect)
	check := s.Check
	if c.migrate {
		check = s.Migrate
	}
	if err := check(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	listen(s, parsed, c)
	return s, nil
}

// Migrate updates the schema of a database to this version.
func Migrate(ctx context.Context, dsn string) error {
	parsed, err := pgx.ParseConfig(dsn)
	if err != nil {
		return errors.New("library: the address of the PostgreSQL database cannot be read")
	}
	db := stdlib.OpenDB(*parsed)
	s := sqlstore.New(db, db, dialect)
	return errors.Join(s.Migrate(ctx), s.Close())
}

// migrating is the number of the advisory lock of migrations.
const migrating = 0x5a7c4e1

var dialect = sqlstore.Dialect{
	Name:          "postgres",
	RowLock:       " FOR UPDATE",
	IsNumbered:    true,
	MigrationLock: fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", migrating),
	AfterCommit:   `SELECT pg_notify('satchel_library', md5(?::text))`,
	IsTaken: func(err error) bool {
		var e *pgconn.PgError
		return errors.As(err, &e) && e.Code == "23505" && (e.ConstraintName == "skills_shared_name" || e.ConstraintName == "skills_private_name")
	},
	IsPassing: func(err error) bool {
		var e *pgconn.PgError
		return errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001")
	},
}

// listen calls NotifyAll after changes of other processes. It also does after a lost connection,
// because it may have missed changes.
func listen(s *sqlstore.Store, cfg *pgx.ConnConfig, c config) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.OnClose(func() error { cancel(); <-done; return nil })
	go func() {
		defer close(done)
		for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, maxPause) {
			if err := listenOnce(ctx, s, cfg, func() { wait = firstPause }); err != nil && ctx.Err() == nil && c.logger != nil {
				c.logger.Warn("the skill library cannot be watched", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(wait):
			}
		}
	}()
}

func listenOnce(ctx context.Context, s *sqlstore.Store, cfg *pgx.ConnConfig, connected func()) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, `LISTEN satchel_library`); err != nil {
		return err
	}
	connected()
	s.NotifyAll()
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
		s.NotifyAll()
	}
}
