package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Notes that an earlier release kept in records are found, a damaged file of
// notes counts as none, and expired notes are removed while new ones are made.
func TestDirectoryTombs(t *testing.T) {
	dir := t.TempDir()
	store := openDirectory(t, dir, session.WithSync(false))
	key := core.SessionKey{Session: "chat", Agent: "a"}
	begin := func() {
		t.Helper()
		if _, err := store.Save(t.Context(), &state.Record{Key: key, Calls: 4}); err != nil {
			t.Fatal(err)
		}
	}
	buried := func(want int) {
		t.Helper()
		if calls, err := store.Buried(t.Context(), key); calls != want || err != nil {
			t.Errorf("call %d, %v; want %d", calls, err, want)
		}
	}
	begin()
	if err := session.Bury(t.Context(), plain{store}, key.Session); err != nil {
		t.Fatal(err)
	}
	buried(4)
	if err := store.Bury(t.Context(), key.Session, []state.Closed{session.NewClosed(key, 6)}); err != nil {
		t.Fatal(err)
	}
	buried(6)
	file := filepath.Join(dir, "closed", session.Digest(key.Session)[:2], session.Digest(key.Session))
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	buried(4)
	old := time.Now().Add(-31 * 24 * time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	for range 10_000 { // one in 64 looks for expired notes
		if err := store.Bury(t.Context(), key.Session, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return
		}
	}
	t.Error("old notes stay")
}
