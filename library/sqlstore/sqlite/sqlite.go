// Package sqlite keeps a skill library in a SQLite file. It needs nothing installed,
// and several processes may share the file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/satchel-go/satchel/library/sqlstore"
)

// Option configures [Open].
type Option func(*config)

type config struct {
	logger *slog.Logger
	watch  time.Duration
}

func configure(opts []Option) config {
	c := config{watch: 250 * time.Millisecond, logger: slog.Default()}
	for _, o := range opts {
		o(&c)
	}
	return c
}

// WithLogger sets where failures of the watching are logged. The default is
// slog.Default.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// WithWatch sets how often it is looked for what other processes have changed. The
// default is 250 ms; 0 never looks.
func WithWatch(every time.Duration) Option { return func(c *config) { c.watch = every } }

const busy = 5 * time.Second

var memories atomic.Int64

// Open opens the file, which is made with mode 0600 if it is not there, and brings its
// schema up to date. ":memory:" is a database of its own in memory. A file whose
// schema is newer is library.ErrSchema.
func Open(ctx context.Context, file string, opts ...Option) (*sqlstore.Store, error) {
	c := configure(opts)
	memory := file == ":memory:"
	name := ""
	if memory {
		c.watch = 0
		name = "file:/satchel-library-" + strconv.FormatInt(memories.Add(1), 10) + "?vfs=memdb"
	} else {
		if err := private(file); err != nil {
			return nil, err
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		name = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs)}).String() + "?mode=rw"
	}
	pragmas := "&_pragma=busy_timeout(" + strconv.FormatInt(busy.Milliseconds(), 10) + ")&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	write, err := sql.Open("sqlite", name+pragmas+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	write.SetConnMaxIdleTime(0)
	// In memory the reading connection keeps the database, should the other one break.
	read, err := sql.Open("sqlite", name+pragmas+"&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return open(ctx, file, read, write, c)
}

func open(ctx context.Context, file string, read, write *sql.DB, c config) (*sqlstore.Store, error) {
	read.SetMaxOpenConns(4)
	read.SetMaxIdleConns(4)
	s := sqlstore.New(read, write, dialect)
	if err := s.Migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", file, err), s.Close())
	}
	if c.watch > 0 {
		watch(s, read, c)
	}
	return s, nil
}

// private creates the file readable by its owner only, before SQLite would create it with its
// own mode.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("library: %w", err)
	}
	return f.Close()
}

var dialect = sqlstore.Dialect{
	Name: "sqlite",
	Taken: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE && strings.Contains(e.Error(), "name_key")
	},
	Again: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
	},
}

// watch asks one connection for the version of the data, which changes when another
// process commits.
func watch(s *sqlstore.Store, db *sql.DB, c config) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.Closing(func() error { cancel(); <-done; return nil })
	go func() {
		defer close(done)
		tick := time.NewTicker(c.watch)
		defer tick.Stop()
		var conn *sql.Conn
		defer func() {
			if conn != nil {
				_ = conn.Close()
			}
		}()
		last := int64(-1)
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if conn == nil {
				var err error
				if conn, err = db.Conn(ctx); err != nil {
					continue
				}
				last = -1
			}
			var version int64
			if err := conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
				_ = conn.Close()
				conn = nil
				if c.logger != nil && ctx.Err() == nil {
					c.logger.Warn("the skill library cannot be watched", "error", err)
				}
				continue
			}
			if last >= 0 && version != last {
				s.Changed()
			}
			last = version
		}
	}()
}
