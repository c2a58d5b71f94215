//go:build unix

package redisstore_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// A session with three loads takes at most 1.4 KB, without its texts, which are stored
// once for all sessions.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures what one goroutine has stored: -short leaves it out")
	}
	db := client(t, servertest.Own(t, "redis").URL)
	s := open(t, db)
	loads := chattest.ThreeLoads(t)
	repeat := func(n int) {
		t.Helper()
		for range n {
			if _, err := loads.Repeat(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	repeat(48)                                                   // stores the texts and loads the scripts
	before, sessions := dataset(t, db), servertest.Sessions(600) // at this size the server's hash tables do not grow
	repeat(sessions)
	each := (dataset(t, db) - before) / sessions
	t.Logf("a session with %d texts takes %d bytes, over %d sessions", loads.Texts(), each, sessions)
	if each > 1400 {
		t.Errorf("a session takes %d bytes", each)
	}
}

// A Save compared with a SET of the same size.
func BenchmarkSave(b *testing.B) {
	db := client(b, servertest.Shared(b, "redis").URL)
	s := open(b, db, fresh())
	v, key := chattest.ThreeLoads(b).Last(), core.SessionKey{Session: "s", Agent: "main"}
	var saves, sets []time.Duration
	body := make([]byte, 600)
	for b.Loop() {
		began := time.Now()
		saved, err := s.Save(b.Context(), key, v)
		if err != nil {
			b.Fatal(err)
		}
		saves, v = append(saves, time.Since(began)), saved
		began = time.Now()
		if err := db.Set(b.Context(), "bare", body, time.Hour).Err(); err != nil {
			b.Fatal(err)
		}
		sets = append(sets, time.Since(began))
	}
	chattest.ReportMedians(b, saves, sets)
}

// dataset returns what the data of the server takes, in bytes.
func dataset(t *testing.T, db *redis.Client) int {
	t.Helper()
	text, err := db.Info(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = strings.Cut(text, "used_memory_dataset:")
	text, _, _ = strings.Cut(text, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
