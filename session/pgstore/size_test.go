//go:build unix

package pgstore_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/session/pgstore"
)

// A session with three loads takes at most 3.2 KB with its indexes. Its texts are stored once
// for all sessions and do not count. Its saves change no index.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures what one goroutine has stored: -short leaves it out")
	}
	db := shared(t)
	name := "s" + rand.Text()
	s := open(t, db, pgstore.WithSchema(name))
	loads, sessions, updates := chattest.ThreeLoads(t), servertest.Sessions(2000), 0
	repeat := func(n int) (size int) {
		t.Helper()
		for range n {
			saves, err := loads.Repeat(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			updates += saves - 1 // the first save inserts a row
		}
		if err := db.QueryRow(t.Context(), `SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
			WHERE nspname = $1 AND relkind = 'r' AND (relname LIKE 'record%' OR relname LIKE 'pin%')`, name).Scan(&size); err != nil {
			t.Fatal(err)
		}
		return size
	}
	// The first pages of all tables and indexes are half empty, so they are subtracted.
	size := -repeat(sessions / 2)
	size += repeat(sessions)
	counted, hot := updatesOf(t, db, name, updates)
	t.Logf("a session with %d texts takes %d bytes, over %d sessions; %d of %d updates are hot", loads.Texts(), size/sessions, sessions, hot, counted)
	if size/sessions > 3200 {
		t.Errorf("a session takes %d bytes", size/sessions)
	}
	if hot < counted*95/100 {
		t.Errorf("%d of %d updates are hot", hot, counted)
	}
}

// A Save compared with an update of the same size and nothing else.
func BenchmarkSave(b *testing.B) {
	db := shared(b)
	name := "s" + rand.Text()
	s := open(b, db, pgstore.WithSchema(name))
	loads := chattest.ThreeLoads(b)
	v, key := loads.Last(), core.SessionKey{Session: "s", Agent: "main"}
	var saves, updates []time.Duration
	if _, err := db.Exec(b.Context(), `CREATE TABLE "`+name+`".bare (id int PRIMARY KEY, body bytea)`); err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 600)
	if _, err := db.Exec(b.Context(), `INSERT INTO "`+name+`".bare VALUES (1, $1)`, body); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		began := time.Now()
		saved, err := s.Save(b.Context(), key, v)
		if err != nil {
			b.Fatal(err)
		}
		saves, v = append(saves, time.Since(began)), saved
		began = time.Now()
		if _, err := db.Exec(b.Context(), `UPDATE "`+name+`".bare SET body = $1 WHERE id = 1`, pgx.QueryExecModeExec, body); err != nil {
			b.Fatal(err)
		}
		updates = append(updates, time.Since(began))
	}
	chattest.ReportMedians(b, saves, updates)
}
