package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/librarytest"
	"github.com/satchel-go/satchel/library/sqlstore/internal/crash"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
)

func openStore(ctx context.Context, dsn string) (library.Store, error) {
	return postgres.Open(ctx, dsn, postgres.WithMigrate())
}

func TestMain(m *testing.M) {
	crash.Main(m, openStore)
}

// server is a PostgreSQL server of its own, on a socket in a directory of its own.
type server struct {
	bin, dir string
	as       []string // begins a command line, so that it is not run as root
}

var databases atomic.Int64

// start starts a server, which ends with the test.
func start(t testing.TB) *server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		if os.Getenv("SATCHEL_SERVERS") == "all" || os.Getenv("CI") != "" {
			t.Fatal("PostgreSQL is missing: scripts/setup.sh installs it")
		}
		t.Skip("PostgreSQL is missing, so nothing of this store is tested: scripts/setup.sh installs it")
	}
	slices.Sort(found)
	s := &server{bin: filepath.Dir(found[len(found)-1])}
	// A socket has a short path, and its directory is one that another user may enter.
	if s.dir, err = os.MkdirTemp("/tmp", "satchel-pg"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(s.dir) })
	if os.Getuid() == 0 {
		who, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(who.Uid)
		gid, _ := strconv.Atoi(who.Gid)
		if err := os.Chown(s.dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		s.as = []string{"setpriv", "--reuid", who.Uid, "--regid", who.Gid, "--clear-groups"}
	}
	s.do(t, "initdb", "-D", s.dir+"/data", "-A", "trust", "-U", "satchel", "--no-sync", "--locale=C", "-E", "UTF8")
	s.up(t)
	t.Cleanup(func() {
		_, _ = s.run("pg_ctl", "-D", s.dir+"/data", "-m", "immediate", "-w", "stop")
	})
	return s
}

func (s *server) run(program string, args ...string) ([]byte, error) {
	line := append(slices.Clone(s.as), filepath.Join(s.bin, program))
	line = append(line, args...)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = "/"
	var out bytes.Buffer // a file of pg_ctl's own would be kept open by the server
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.Bytes(), err
}

func (s *server) do(t testing.TB, program string, args ...string) {
	t.Helper()
	if out, err := s.run(program, args...); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

func (s *server) up(t testing.TB) {
	t.Helper()
	s.do(t, "pg_ctl", "-D", s.dir+"/data", "-o", "-c listen_addresses= -c unix_socket_directories="+s.dir+" -c fsync=off", "-l", s.dir+"/log", "-t", "120", "-w", "start")
}

func (s *server) dsn(database string) string {
	return "postgres:///" + database + "?user=satchel&host=" + url.QueryEscape(s.dir)
}

// database makes an empty database.
func (s *server) database(t testing.TB) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.dsn("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	name := fmt.Sprint("d", databases.Add(1))
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.dsn(name)
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

var ann = library.Actor{Tenant: "t", Subject: "ann", Roles: []library.Role{library.Maintainer}}

func skill(name string) map[string][]byte {
	return map[string][]byte{"SKILL.md": []byte("---\nname: " + name + "\ndescription: X.\n---\n\nBody.\n")}
}

func TestPostgres(t *testing.T) {
	s := start(t)
	t.Run("conformance", func(t *testing.T) {
		librarytest.Run(t, func(t *testing.T) (a, b library.Store) {
			dsn := s.database(t)
			return open(t, dsn), open(t, dsn)
		})
	})
	t.Run("killed", func(t *testing.T) {
		crash.Killed(t, s.database(t), func(_ context.Context, dsn string) (library.Store, error) { return open(t, dsn), nil })
	})
	t.Run("schema", func(t *testing.T) {
		dsn := s.database(t)
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
		dsn := s.database(t)
		l, err := library.New(open(t, dsn))
		if err != nil {
			t.Fatal(err)
		}
		other := open(t, dsn)
		told := make(chan struct{}, 1000)
		defer other.(library.Notifier).Notify(func() { told <- struct{}{} })()
		<-told // it listens
		if _, err := l.Import(t.Context(), ann, "x", skill("x"), false, ""); err != nil {
			t.Fatal(err)
		}
		<-told
	})
	t.Run("rows are kept", func(t *testing.T) {
		dsn := s.database(t)
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
	t.Run("gone and back", func(t *testing.T) { goneAndBack(t, s) })
}

// goneAndBack stops the server under a library and starts it again.
func goneAndBack(t *testing.T, s *server) {
	l, err := library.New(open(t, s.database(t)))
	if err != nil {
		t.Fatal(err)
	}
	made, err := l.Import(t.Context(), ann, "x", skill("x"), false, "")
	if err != nil {
		t.Fatal(err)
	}
	s.do(t, "pg_ctl", "-D", s.dir+"/data", "-m", "immediate", "-w", "stop")
	_, err = l.Inspect(t.Context(), ann, library.Ref{Skill: "x"})
	var own *library.Error
	if err == nil || errors.As(err, &own) {
		t.Errorf("without a server inspect gives %v, want a failure of the store", err)
	}
	s.up(t)
	for n := 0; ; n++ { // connections from before may break once each
		if _, err = l.Inspect(t.Context(), ann, library.Ref{Skill: "x"}); err == nil {
			break
		}
		if n == 20 {
			t.Fatalf("the server is back, and inspect gives %v", err)
		}
	}
	if out, err := l.Edit(t.Context(), ann, library.Edit{Action: library.Replace, Skill: "x", Expected: made.VersionRef, Target: "body", Content: "New.\n"}); err != nil || out.Status != "applied" {
		t.Errorf("an edit after it: %+v, %v", out, err)
	}
}

func BenchmarkLibrary(b *testing.B) {
	s := start(b)
	crash.Bench(b, open(b, s.database(b)))
}
