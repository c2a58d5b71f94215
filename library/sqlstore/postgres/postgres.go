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

	"github.com/satchel-go/satchel/library/sqlstore"
)

// Option configures [Open].
type Option func(*config)

type config struct {
	logger  *slog.Logger
	migrate bool
	conns   int
}

// WithLogger sets where failures of listening are logged. The default is slog.Default.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// WithMigrate brings the schema up to date when the store is opened. The default only
// looks at it.
func WithMigrate() Option { return func(c *config) { c.migrate = true } }

// WithConns sets how many connections are used at most, beside the one that listens.
// The default is 8.
func WithConns(n int) Option { return func(c *config) { c.conns = n } }

// Open connects to a database: "postgres://user@host/name" or any other text that
// libpq understands. A schema that is not the one that is needed is
// library.ErrSchema; the text says what to do.
func Open(ctx context.Context, dsn string, opts ...Option) (*sqlstore.Store, error) {
	c := config{conns: 8, logger: slog.Default()}
	for _, o := range opts {
		o(&c)
	}
	parsed, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("library: the address of the PostgreSQL database cannot be read")
	}
	if parsed.ConnectTimeout == 0 {
		parsed.ConnectTimeout = 10 * time.Second
	}
	db := stdlib.OpenDB(*parsed)
	db.SetMaxOpenConns(max(1, c.conns))
	db.SetMaxIdleConns(max(1, c.conns))
	db.SetConnMaxIdleTime(time.Minute)
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

// Migrate brings the schema of a database up to date.
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
	Name:        "postgres",
	Lock:        " FOR UPDATE",
	Numbered:    true,
	Migrating:   fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", migrating),
	AfterCommit: `SELECT pg_notify('satchel_library', md5(?::text))`,
	Taken: func(err error) bool {
		var e *pgconn.PgError
		return errors.As(err, &e) && e.Code == "23505" && (e.ConstraintName == "skills_shared_name" || e.ConstraintName == "skills_private_name")
	},
	Again: func(err error) bool {
		var e *pgconn.PgError
		return errors.As(err, &e) && (e.Code == "40P01" || e.Code == "40001")
	},
}

// listen tells of the changes of others. After a lost connection it tells once more,
// because changes may have been missed.
func listen(s *sqlstore.Store, cfg *pgx.ConnConfig, c config) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.Closing(func() error { cancel(); <-done; return nil })
	go func() {
		defer close(done)
		for wait := 100 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
			if err := listenOnce(ctx, s, cfg, func() { wait = 100 * time.Millisecond }); err != nil && ctx.Err() == nil && c.logger != nil {
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
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, `LISTEN satchel_library`); err != nil {
		return err
	}
	connected()
	s.Changed()
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
		s.Changed()
	}
}
