package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/internal/librarychattest"
	"github.com/satchel-go/satchel/library/librarytest"
	"github.com/satchel-go/satchel/library/sqlstore/internal/sqlstore"
	"github.com/satchel-go/satchel/library/sqlstore/internal/storetest"
	"github.com/satchel-go/satchel/library/sqlstore/sqlite"
)

func openStore(ctx context.Context, file string) (library.Store, error) {
	return sqlite.Open(ctx, file)
}

func TestMain(m *testing.M) {
	storetest.Writer(openStore)
	os.Exit(m.Run())
}

func open(t testing.TB, file string) library.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), file)
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

func TestConformance(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		librarytest.Run(t, func(t *testing.T) (a, b library.Store) {
			file := filepath.Join(t.TempDir(), "library.db")
			return open(t, file), open(t, file)
		})
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		librarytest.Run(t, func(t *testing.T) (a, b library.Store) {
			s := open(t, ":memory:")
			return s, s
		})
	})
}

func TestConversations(t *testing.T) {
	t.Parallel()
	librarychattest.Run(t, func(t *testing.T) library.Store { return open(t, filepath.Join(t.TempDir(), "library.db")) })
}

func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.Killed(t, filepath.Join(t.TempDir(), "library.db"), func(ctx context.Context, place string) (library.Store, error) {
		return open(t, place), nil
	})
}

// connector is a driver.Connector for one database.
type connector struct {
	driver driver.Driver
	name   string
}

func (p connector) Connect(context.Context) (driver.Conn, error) { return p.driver.Open(p.name) }
func (p connector) Driver() driver.Driver                        { return p.driver }

func TestAborted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "library.db")
	other := open(t, file)
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := connector{db.Driver(), "file:" + file + "?_txlock=immediate&_pragma=foreign_keys(1)"}
	storetest.Aborted(t, at, other, func(db *sql.DB) library.Store { return sqlstore.New(db, db, sqlite.Dialect) })
}

// TestChangedByAnother checks that a process notices the changes of another one.
func TestChangedByAnother(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "library.db")
	a, b := open(t, file), open(t, file)
	told := make(chan struct{}, 100)
	defer b.(source.Notifier).Notify(func() { told <- struct{}{} })()
	l, err := library.New(a)
	if err != nil {
		t.Fatal(err)
	}
	who := library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}
	for n := 0; ; n++ { // repeats, because the watch may begin after the first change
		name := fmt.Sprint("s", n)
		if _, err := l.Import(t.Context(), who, name, map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\n")}, false, ""); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
			return
		case <-time.After(time.Second):
			if n == 60 {
				t.Fatal("nothing was told")
			}
		}
	}
}

// TestWatch checks that only a store that watches calls its listeners.
func TestWatch(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "library.db")
	l, err := library.New(open(t, file))
	if err != nil {
		t.Fatal(err)
	}
	told := map[time.Duration]chan struct{}{}
	for _, every := range []time.Duration{0, time.Second} {
		s, err := sqlite.Open(t.Context(), file, sqlite.WithWatch(every))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		here := make(chan struct{}, 1000)
		told[every] = here
		defer s.Notify(func() { here <- struct{}{} })()
	}
	who := library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}
	for n := 0; len(told[time.Second]) == 0; n++ { // repeats, because the watch may begin after the first change
		if n == 60 {
			t.Fatal("nothing was told")
		}
		name := fmt.Sprint("s", n)
		if _, err := l.Import(t.Context(), who, name, map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\n")}, false, ""); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told[0]:
			t.Fatal("a store that never looks was told")
		case <-told[time.Second]:
			return
		case <-time.After(2 * time.Second):
		}
	}
}

// unwatchedConn is a connection that fails to return its data_version.
type unwatchedConn struct{ driver.Conn }

func (c unwatchedConn) Prepare(query string) (driver.Stmt, error) {
	if strings.Contains(query, "data_version") {
		return nil, errors.New("the disk is gone")
	}
	return c.Conn.Prepare(query)
}

// unwatchedConnector is a place with unwatched connections.
type unwatchedConnector struct{ connector }

func (p unwatchedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := p.connector.Connect(ctx)
	return unwatchedConn{c}, err
}

// TestWatchingFails checks that an error of watching is logged.
func TestWatchingFails(t *testing.T) {
	t.Parallel()
	file := "file:" + filepath.Join(t.TempDir(), "library.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := connector{db.Driver(), file}
	log := make(storetest.Logged, 1)
	s, err := sqlite.OpenOver(t.Context(), sql.OpenDB(unwatchedConnector{at}), sql.OpenDB(at), sqlite.WithLogger(slog.New(slog.NewTextHandler(log, nil))), sqlite.WithWatch(time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	select {
	case text := <-log:
		if !strings.Contains(text, "the skill library cannot be watched") || !strings.Contains(text, "the disk is gone") {
			t.Errorf("logged %q", text)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing was logged")
	}
}

func TestFileIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "library.db")
	open(t, file)
	info, err := os.Stat(file)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

func TestNewerSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "library.db")
	s, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE library_schema SET version = 99`); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), file); !errors.Is(err, library.ErrSchema) || !strings.Contains(err.Error(), "schema is at 99, this version knows 1") {
		t.Errorf("a newer schema gives %v", err)
	}
}

// TestRowsAreKept checks that no statement can change immutable rows.
func TestRowsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "library.db")
	l, err := library.New(open(t, file))
	if err != nil {
		t.Fatal(err)
	}
	who := library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{"maintainer"}}
	if _, err := l.Import(t.Context(), who, "x", map[string][]byte{"SKILL.md": []byte("---\nname: x\ndescription: X.\n---\n")}, false, ""); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{
		`UPDATE revisions SET reason = 'x'`, `DELETE FROM revisions`, `UPDATE revision_files SET size = 0`, `DELETE FROM revision_files`,
		`UPDATE blobs SET bytes = 'x'`, `DELETE FROM blobs`, `UPDATE audit SET detail = 'x'`, `DELETE FROM audit`,
	} {
		if _, err := db.Exec(query); err == nil || !strings.Contains(err.Error(), "are never changed") {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	l, err := library.New(store)
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := library.Actor{Tenant: "acme", Subject: "ann", Roles: []library.Role{"author"}}
	about := "Write release notes."
	made, err := l.Edit(ctx, ann, library.Edit{Action: "create", Name: "notes", Description: &about, Content: "List what users see.\n"})
	fmt.Println(made.Status, made.Name, made.VersionRef[:3], err)
	// Output: applied notes v1- <nil>
}

func BenchmarkHeads(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "library.db"))
	for n := range 10_000 {
		name := fmt.Sprint("s", n)
		c := library.Change{Tenant: "t", Head: &library.Head{ID: "db:" + name, Name: name, NameKey: name, Shared: true, State: "active", Version: 1, Served: 1, Front: []byte("---\nname: " + name + "\ndescription: Does something useful with files of a kind.\n---\n")}, Revision: &library.Revision{ID: "db:" + name, Version: 1}}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if heads, _, err := s.Heads(b.Context(), "t", 0); err != nil || len(heads) != 10_000 {
				b.Fatal(len(heads), err)
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			if heads, _, err := s.Heads(b.Context(), "t", 10_000); err != nil || len(heads) != 0 {
				b.Fatal(len(heads), err)
			}
		}
	})
}

func BenchmarkLibrary(b *testing.B) {
	storetest.Bench(b, open(b, filepath.Join(b.TempDir(), "library.db")))
}
