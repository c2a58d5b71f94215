//go:build unix

package pgstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/session/pgstore"
	"github.com/satchel-go/satchel/session/sessiontest"
)

// serverVar is where a child finds the server; its directory is the schema.
const serverVar = "PGSTORE_TEST_SERVER"

func TestMain(m *testing.M) {
	if crashtest.IsChild() {
		crashtest.Main(m, map[string]func(schema string) error{"migrate": func(schema string) error {
			db, err := pgxpool.New(context.Background(), os.Getenv(serverVar))
			if err != nil {
				return err
			}
			defer db.Close()
			return pgstore.Migrate(context.Background(), db, schema)
		}})
	}
	servertest.Main(m)
}

func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	db, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func shared(t testing.TB) *pgxpool.Pool { return pool(t, servertest.Shared(t, "postgres").URL) }

func open(t testing.TB, db *pgxpool.Pool, opts ...pgstore.Option) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(t.Context(), db, append([]pgstore.Option{pgstore.WithSweep(0)}, opts...)...)
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

// schema returns a schema that no other test uses.
func schema() pgstore.Option { return pgstore.WithSchema("s" + rand.Text()) }

// emptyingStore empties the tables before each test, because creating tables takes most of a second.
type emptyingStore struct {
	db     *pgxpool.Pool
	schema string
}

func (e *emptyingStore) open(t *testing.T) *pgstore.Store {
	t.Helper()
	s := open(t, e.db, pgstore.WithSchema(e.schema))
	for _, table := range []string{"record", "pin", "text", "closed"} {
		if _, err := e.db.Exec(t.Context(), `DELETE FROM "`+e.schema+`".`+table); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestConformance(t *testing.T) {
	e := &emptyingStore{shared(t), "s" + rand.Text()}
	sessiontest.Run(t, func(t *testing.T) session.Store { return e.open(t) })
	dirs := map[string]bool{}
	sessiontest.RunDurable(t, func(t *testing.T, dir string) session.Store {
		if !dirs[dir] {
			dirs[dir] = true
			return e.open(t)
		}
		return open(t, e.db, pgstore.WithSchema(e.schema))
	})
	t.Run("tombstones", func(t *testing.T) {
		sessiontest.RunTombstones(t, func(t *testing.T) sessiontest.TombstoneStore { return e.open(t) })
	})
}

// Three hosts of whose answers many are lost make each acknowledged change once.
func TestFaults(t *testing.T) {
	server := servertest.Shared(t, "postgres")
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	proxy := servertest.NewProxy(t, "unix", filepath.Join(at.Query().Get("host"), ".s.PGSQL.5432"), dir, ".s.PGSQL.5432")
	e := &emptyingStore{shared(t), "s" + rand.Text()}
	e.open(t)
	sessiontest.RunFaults(t,
		func(t *testing.T) session.Store {
			proxy.Lose(0)
			s := open(t, pool(t, "postgres://satchel@/postgres?pool_max_conns=4&host="+dir), pgstore.WithSchema(e.schema))
			proxy.Lose(faultEvery)
			return s
		},
		func(t *testing.T) session.Store { return open(t, e.db, pgstore.WithSchema(e.schema)) },
	)
	if proxy.Lost() < 100 {
		t.Errorf("%d answers were lost", proxy.Lost())
	}
}

// Without marks a change whose answer was lost would be made twice.
func TestMarks(t *testing.T) {
	at, err := url.Parse(servertest.Shared(t, "postgres").URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, marks := range []bool{true, false} {
		db, name := shared(t), "s"+rand.Text()
		open(t, db, pgstore.WithSchema(name))
		if !marks {
			for _, statement := range []string{
				`CREATE FUNCTION "` + name + `".forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.marks := ''; RETURN NEW; END $$`,
				`CREATE TRIGGER forget BEFORE INSERT OR UPDATE ON "` + name + `".record FOR EACH ROW EXECUTE FUNCTION "` + name + `".forget()`,
			} {
				if _, err := db.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
		}
		dir := t.TempDir()
		proxy := servertest.NewProxy(t, "unix", filepath.Join(at.Query().Get("host"), ".s.PGSQL.5432"), dir, ".s.PGSQL.5432")
		s := open(t, pool(t, "postgres://satchel@/postgres?pool_max_conns=1&host="+dir), pgstore.WithSchema(name))
		proxy.Lose(faultEvery)
		made, key := 0, core.SessionKey{Session: "s"}
		for range 100 {
			_, err := state.NewRecords(s).Update(t.Context(), key, func(rec *state.Record) (*state.Record, error) {
				next := rec.Clone()
				next.Calls++
				return next, nil
			})
			if err == nil || errors.Is(err, session.ErrUncertain) {
				made++
			}
		}
		rec, err := state.NewRecords(open(t, db, pgstore.WithSchema(name))).Load(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if twice := rec.Calls > made; twice == marks || proxy.Lost() == 0 {
			t.Errorf("marks %v: %d changes of %d, %d answers were lost", marks, rec.Calls, made, proxy.Lost())
		}
	}
}

// faultEvery is which of the server's answers are lost.
const faultEvery = 23

// A server that is killed while hosts save has all that it acknowledged when it is back.
func TestKilledServer(t *testing.T) {
	server := servertest.Own(t, "postgres")
	db := pool(t, server.URL)
	s := open(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const writers = 4
	last := make([]session.Value, writers)
	key := func(i int) core.SessionKey { return core.SessionKey{Session: fmt.Sprint("s", i)} }
	saved := make(chan struct{}, 10_000)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for ctx.Err() == nil {
				v, err := s.Save(ctx, key(i), last[i])
				if err != nil {
					return
				}
				last[i] = v
				saved <- struct{}{}
			}
		})
	}
	for range 100 {
		<-saved
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	cancel()
	wg.Wait()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for i, want := range last {
		v, err := s.Load(t.Context(), key(i))
		if err != nil || v.Version < want.Version {
			t.Errorf("%s: version %d was acknowledged, %v is stored, %v", key(i).Session, want.Version, v, err)
		}
	}
}

// Connections that the server has ended take no attempt, however many the pool holds.
func TestLostConnections(t *testing.T) {
	at := servertest.Shared(t, "postgres").URL
	config, err := pgxpool.ParseConfig(at)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 12
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // no ping, as for a connection that was used within the last second
	db, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	s := open(t, db)
	var held []*pgxpool.Conn
	var backends []uint32
	for range config.MaxConns {
		c, err := db.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held, backends = append(held, c), append(backends, c.Conn().PgConn().PID())
	}
	for _, c := range held {
		c.Release()
	}
	other := pool(t, at)
	if _, err := other.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 60000) FROM unnest($1::int[]) AS pid`, backends); err != nil {
		t.Fatal(err)
	}
	key := core.SessionKey{Session: rand.Text()}
	if _, err := s.Load(t.Context(), key); err != nil {
		t.Error(err)
	}
	if _, err := s.Save(t.Context(), key, session.Value{}); err != nil {
		t.Error(err)
	}
}

// Processes that begin at the same time migrate once, and a later schema is refused.
func TestMigration(t *testing.T) {
	db := shared(t)
	name := "s" + rand.Text()
	if _, err := pgstore.Open(t.Context(), db, pgstore.WithSchema(name), pgstore.WithoutMigration()); !errors.Is(err, pgstore.ErrSchema) {
		t.Errorf("without tables: %v", err)
	}
	var all []*crashtest.Child
	for range 4 {
		all = append(all, crashtest.Start(t, "migrate", name, serverVar+"="+servertest.Shared(t, "postgres").URL))
	}
	for _, c := range all {
		for c.Lines.Scan() { // wait until the child has ended
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	var versions int
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM "`+name+`".schema`).Scan(&versions); err != nil || versions != 2 {
		t.Errorf("%d migrations, %v", versions, err)
	}
	open(t, db, pgstore.WithSchema(name), pgstore.WithoutMigration())
	if _, err := db.Exec(t.Context(), `INSERT INTO "`+name+`".schema VALUES (99)`); err != nil {
		t.Fatal(err)
	}
	if _, err := pgstore.Open(t.Context(), db, pgstore.WithSchema(name)); !errors.Is(err, pgstore.ErrSchema) || !strings.Contains(err.Error(), "later release") {
		t.Errorf("a later schema: %v", err)
	}
	for _, opt := range []pgstore.Option{
		pgstore.WithSchema(""), pgstore.WithSchema(`a"b`), pgstore.WithTTL(-1), pgstore.WithTTL(1), pgstore.WithSweep(-1),
	} {
		if _, err := pgstore.Open(t.Context(), db, opt); err == nil {
			t.Error("a bad option is taken")
		}
	}
	if _, err := pgstore.Open(t.Context(), nil); err == nil {
		t.Error("no pool is taken")
	}
}

func count(t *testing.T, db *pgxpool.Pool, name, table string) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `SELECT count(*) FROM "`+name+`".`+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// All sessions share one copy of a text. A sweep removes sessions that were not saved in time,
// and no texts of the others.
func TestSweep(t *testing.T) {
	db := shared(t)
	name := "s" + rand.Text()
	s := open(t, db, pgstore.WithSchema(name), pgstore.WithTTL(400*time.Millisecond))
	kept := open(t, db, pgstore.WithSchema(name), pgstore.WithTTL(0))
	digest, both := session.Digest("x"), session.Digest("y")
	for i := range 50 {
		id := fmt.Sprint("s", i)
		for _, text := range []string{"x", "y"} {
			if err := s.Pin(t.Context(), id, session.Digest(text), text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Save(t.Context(), core.SessionKey{Session: id}, session.Value{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, db, name, "text"); n != 2 {
		t.Errorf("%d texts", n)
	}
	if _, err := s.Pinned(t.Context(), "s1", session.Digest("nobody's")); !errors.Is(err, session.ErrNotPinned) {
		t.Errorf("a foreign digest: %v", err)
	}
	if err := kept.Pin(t.Context(), "kept", both, "y"); err != nil {
		t.Fatal(err)
	}
	if err := state.NewRecords(s).PinListing(t.Context(), session.Digest("l"), "l", time.Now()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); count(t, db, name, "record")+count(t, db, name, "text")-2+count(t, db, name, "pin")-2 > 0; {
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d records, %d texts, %d pins stay", count(t, db, name, "record"), count(t, db, name, "text"), count(t, db, name, "pin"))
		}
		time.Sleep(20 * time.Millisecond)
	}
	if text, err := kept.Pinned(t.Context(), "kept", both); err != nil || text != "y" {
		t.Errorf("Pinned: got %q, error %v, want %q", text, err, "y")
	}
	if _, err := s.Pinned(t.Context(), "s1", digest); !errors.Is(err, session.ErrNotPinned) {
		t.Errorf("after the sweep: %v", err)
	}
}

// updatesOf waits until the statistics of a schema show made updates of records, and returns
// the updates. hot is how many of them changed no index.
func updatesOf(t *testing.T, db *pgxpool.Pool, name string, made int) (updates, hot int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		// A connection reports its counts only when it is idle for a while, or ends.
		db.Reset()
		if err := db.QueryRow(t.Context(), `SELECT sum(n_tup_upd)::int, sum(n_tup_hot_upd)::int FROM pg_stat_user_tables
			WHERE schemaname = $1 AND relname LIKE 'record%'`, name).Scan(&updates, &hot); err != nil {
			t.Fatal(err)
		}
		if updates >= made {
			return updates, hot
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d updates are counted of %d", updates, made)
		}
	}
}

func TestDamageAndLimits(t *testing.T) {
	db := shared(t)
	name := "s" + rand.Text()
	s := open(t, db, pgstore.WithSchema(name))
	key := core.SessionKey{Session: "s", Agent: "a"}
	if _, err := s.Save(t.Context(), key, session.Value{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Save(t.Context(), core.SessionKey{Session: "r\xff"}, session.Value{}); err != nil {
		t.Fatal(err)
	}
	all, err := s.Sessions(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != "r\xff" || all[1].ID != "s" || time.Since(all[1].Changed) > 25*time.Hour {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.Pin(t.Context(), "s", session.Digest("x"), "x"); err != nil {
		t.Fatal(err)
	}
	for column, foreign := range map[string]string{"name": "b", "id": "other"} {
		was := map[string]string{"name": key.Agent, "id": key.Session}[column]
		set := func(from, to string) {
			t.Helper()
			if tag, err := db.Exec(t.Context(), `UPDATE "`+name+`".record SET `+column+` = $2 WHERE `+column+` = $1`, []byte(from), []byte(to)); err != nil || tag.RowsAffected() != 1 {
				t.Fatalf("%v, %v", tag, err)
			}
		}
		set(was, foreign)
		if v, err := s.Load(t.Context(), key); !errors.Is(err, session.ErrDamaged) {
			t.Errorf("under a foreign %s: %+v, %v", column, v, err)
		}
		set(foreign, was)
		if v, err := s.Load(t.Context(), key); err != nil || v.Version != 1 {
			t.Errorf("under its %s again: %+v, %v", column, v, err)
		}
	}
	for _, table := range []string{"record", "text"} {
		if _, err := db.Exec(t.Context(), `UPDATE "`+name+`".`+table+` SET body = 'damaged'`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Load(t.Context(), key); !errors.Is(err, session.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := s.Pinned(t.Context(), "s", session.Digest("x")); !errors.Is(err, session.ErrNotPinned) || !errors.Is(err, session.ErrDamaged) {
		t.Errorf("a damaged text: %v", err)
	}
	if err := s.Pin(t.Context(), "s", session.Digest("x"), "x"); err != nil {
		t.Fatal(err)
	}
	if text, err := s.Pinned(t.Context(), "s", session.Digest("x")); err != nil || text != "x" {
		t.Errorf("repaired: %q, %v", text, err)
	}
	if _, err := s.Save(t.Context(), core.SessionKey{Session: "big"}, session.Value{Data: make([]byte, pgstore.MaxValue+1)}); !errors.Is(err, session.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	big := strings.Repeat("x", pgstore.MaxText+1)
	if err := s.Pin(t.Context(), "s", session.Digest(big), big); !errors.Is(err, session.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
	if r := s.Report(); r.Engine != "postgres" || r.Version == "" || len(r.Loses) == 0 {
		t.Errorf("report %+v", r)
	}
}
