//go:build unix

package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/internal/librarychattest"
	"github.com/satchel-go/satchel/library/librarytest"
	"github.com/satchel-go/satchel/library/sqlstore/internal/sqlstore"
	"github.com/satchel-go/satchel/library/sqlstore/internal/storetest"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
)

func openStore(ctx context.Context, dsn string) (library.Store, error) {
	return postgres.Open(ctx, dsn, postgres.WithMigrate())
}

func TestMain(m *testing.M) {
	storetest.Writer(openStore)
	servertest.Main(m)
}

var databases atomic.Int64

// database creates an empty database on a server and returns its address.
func database(t testing.TB, s *servertest.Server) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	name := fmt.Sprintf("satchel_library_%d_%d", os.Getpid(), databases.Add(1))
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	return at.String()
}

func open(t testing.TB, dsn string) library.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, postgres.WithMigrate())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var ann = library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}

func skill(name string) map[string][]byte {
	return map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\n\nBody.\n")}
}

func TestPostgres(t *testing.T) {
	s := servertest.Shared(t, "postgres")
	t.Run("conformance", func(t *testing.T) {
		librarytest.Run(t, func(t *testing.T) (a, b library.Store) {
			dsn := database(t, s)
			return open(t, dsn), open(t, dsn)
		})
	})
	t.Run("killed", func(t *testing.T) {
		storetest.Killed(t, database(t, s), func(_ context.Context, dsn string) (library.Store, error) { return open(t, dsn), nil })
	})
	t.Run("aborted", func(t *testing.T) {
		dsn := database(t, s)
		parsed, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		storetest.Aborted(t, stdlib.GetConnector(*parsed), open(t, dsn), func(db *sql.DB) library.Store { return sqlstore.New(db, db, postgres.Dialect) })
	})
	t.Run("schema", func(t *testing.T) {
		dsn := database(t, s)
		_, err := postgres.Open(t.Context(), dsn)
		if want := `library: schema is at 0, this version needs 1: run "satchel library migrate"`; !errors.Is(err, library.ErrSchema) || !strings.Contains(err.Error(), want) {
			t.Errorf("an empty database gives %v", err)
		}
		if err := postgres.Migrate(t.Context(), dsn); err != nil {
			t.Fatal(err)
		}
		st, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("told", func(t *testing.T) {
		dsn := database(t, s)
		l, err := library.New(open(t, dsn))
		if err != nil {
			t.Fatal(err)
		}
		other := open(t, dsn)
		told := make(chan struct{}, 1000)
		defer other.(source.Notifier).Notify(func() { told <- struct{}{} })()
		<-told // the store is listening
		if _, err := l.Import(t.Context(), ann, "x", skill("x"), false, ""); err != nil {
			t.Fatal(err)
		}
		<-told
	})
	t.Run("rows are kept", func(t *testing.T) {
		dsn := database(t, s)
		l, err := library.New(open(t, dsn))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Import(t.Context(), ann, "x", skill("x"), false, ""); err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		for _, table := range []string{"revisions", "revision_files", "blobs", "audit"} {
			for _, query := range []string{"DELETE FROM " + table, "UPDATE " + table + " SET tenant = 'x'"} {
				if _, err := conn.Exec(t.Context(), query); err == nil || !strings.Contains(err.Error(), "are never changed") {
					t.Errorf("%s: %v", query, err)
				}
			}
		}
	})
	t.Run("conversations", func(t *testing.T) {
		librarychattest.Run(t, func(t *testing.T) library.Store { return open(t, database(t, s)) })
	})
}

// TestOptions checks that there are no more connections than the option allows, and that the loss
// of the one that listens is logged.
func TestOptions(t *testing.T) {
	log := make(storetest.Logged, 1)
	dsn := database(t, servertest.Shared(t, "postgres"))
	s, err := postgres.Open(t.Context(), dsn, postgres.WithMigrate(), postgres.WithConns(2), postgres.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := library.New(s)
	if err != nil {
		t.Fatal(err)
	}
	who := library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprint("s", i)
			if _, err := l.Import(t.Context(), who, name, map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\n")}, false, ""); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait() // idle connections stay open afterwards
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	const others = `FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`
	var open int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) `+others).Scan(&open); err != nil || open < 1 || open > 3 { // two of the pool, and the one that listens
		t.Errorf("%d connections, %v", open, err)
	}
	for n := 0; ; n++ { // repeats, because the store may begin to listen only after the first attempt
		if _, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) `+others+` AND query LIKE 'LISTEN%'`); err != nil {
			t.Fatal(err)
		}
		select {
		case text := <-log:
			if !strings.Contains(text, "the skill library cannot be watched") {
				t.Errorf("logged %q", text)
			}
			return
		case <-time.After(time.Second):
			if n == 60 {
				t.Fatal("nothing was logged")
			}
		}
	}
}

// TestGoneAndBack kills the server under an agent and starts it again.
func TestGoneAndBack(t *testing.T) {
	s := servertest.Own(t, "postgres")
	do := func(f func() error) func() {
		return func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
	}
	librarychattest.Outage(t, open(t, database(t, s)), do(s.Kill), do(s.Start))
}

func BenchmarkLibrary(b *testing.B) {
	s := servertest.Shared(b, "postgres")
	storetest.Bench(b, open(b, database(b, s)))
}
