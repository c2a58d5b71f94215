// Package sqlite keeps a skill library in a SQLite file. SQLite need not be installed. Several
// processes may share the file.
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

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/internal/sqlstore"
)

// Store is a library.Store in a SQLite file. Close it after use.
type Store interface {
	library.Store
	source.Notifier
	// Close closes the connections.
	Close() error
}

// Option configures [Open].
type Option func(*config) error

type config struct {
	logger *slog.Logger
	watch  time.Duration
}

func configure(opts []Option) (config, error) {
	c := config{watch: defaultWatch, logger: slog.Default()}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return c, fmt.Errorf("open SQLite library: %w", err)
		}
	}
	return c, nil
}

// WithLogger sets the logger for errors of checking for changes. The default is slog.Default.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error { c.logger = logger; return nil }
}

// WithWatch sets how often the store checks for changes of other processes. The default is 250 ms;
// 0 means never.
func WithWatch(every time.Duration) Option {
	return func(c *config) error {
		if every < 0 {
			return fmt.Errorf("watch every %v: want 0 or more", every)
		}
		c.watch = every
		return nil
	}
}

var memories atomic.Int64

// Open opens the file and updates its schema. A missing file is created with mode 0600. ":memory:"
// opens a new database in memory. If the schema is newer than this version, Open returns
// library.ErrSchema.
func Open(ctx context.Context, file string, opts ...Option) (Store, error) {
	c, err := configure(opts)
	if err != nil {
		return nil, err
	}
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
	pragmas := "&_pragma=busy_timeout(" + strconv.FormatInt(busyTime.Milliseconds(), 10) + ")&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
	write, err := sql.Open("sqlite", name+pragmas+"&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	write.SetConnMaxIdleTime(0)
	// A database in memory ends with its last connection; this one keeps it if the other breaks.
	read, err := sql.Open("sqlite", name+pragmas+"&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return open(ctx, file, read, write, c)
}

func open(ctx context.Context, file string, read, write *sql.DB, c config) (Store, error) {
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	s := sqlstore.New(read, write, dialect)
	if err := s.Migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", file, err), s.Close())
	}
	if c.watch > 0 {
		watch(s, read, c)
	}
	return s, nil
}

// private creates the file with mode 0600, because SQLite would create it with another mode.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("library: %w", err)
	}
	return f.Close()
}

var dialect = sqlstore.Dialect{
	Name: "sqlite",
	IsTaken: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE && strings.Contains(e.Error(), "name_key")
	},
	IsPassing: func(err error) bool {
		var e *sqlite.Error
		return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_BUSY || e.Code()&0xff == sqlite3.SQLITE_LOCKED)
	},
}

// watch reads the data_version of one connection again and again. The version changes when another
// process commits.
func watch(s *sqlstore.Store, db *sql.DB, c config) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.OnClose(func() error { cancel(); <-done; return nil })
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
				s.NotifyAll()
			}
			last = version
		}
	}()
}
