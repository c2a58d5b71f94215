package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// A damaged file of tombstones is ignored, and expired tombstones are removed when new ones are
// added.
func TestDirectoryTombstones(t *testing.T) {
	dir := t.TempDir()
	store := openDirectory(t, dir, session.WithSync(false))
	key := core.SessionKey{Session: "chat", Agent: "a"}
	ended := func(want int) {
		t.Helper()
		if calls, err := store.Ended(t.Context(), key); calls != want || err != nil {
			t.Errorf("call %d, %v; want %d", calls, err, want)
		}
	}
	if err := store.MarkEnded(t.Context(), key.Session, []session.Tombstone{{Agent: "a", Calls: 6}}); err != nil {
		t.Fatal(err)
	}
	ended(6)
	file := filepath.Join(dir, "closed", session.Digest(key.Session)[:2], session.Digest(key.Session))
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended(0)
	old := time.Now().Add(-31 * 24 * time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	for range 10_000 { // one call in 64 looks for expired tombstones
		if err := store.MarkEnded(t.Context(), key.Session, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return
		}
	}
	t.Error("old tombstones stay")
}
