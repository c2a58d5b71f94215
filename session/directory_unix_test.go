//go:build unix

package session

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/durable"
)

// TestDirectoryRefusesPipes would hang if a named pipe were opened or read.
func TestDirectoryRefusesPipes(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, 4)
	pipe := func(name string) {
		check(t, os.RemoveAll(name))
		check(t, syscall.Mkfifo(name, 0o600))
	}
	pipe(filepath.Join(genPath(path, 4), versionName(4)))
	pipe(filepath.Join(path, durable.Name("s"), durable.Name("pipe")))
	pipe(filepath.Join(path, durable.Name("s"), pinPrefix+Digest("x")))
	pipe(filepath.Join(path, durable.Name("pipe")))

	done := make(chan struct{})
	go func() {
		defer close(done)
		if v, err := d.Load(t.Context(), testKey); err != nil || string(v.Data) != "3" {
			t.Errorf("version: %+v, %v", v, err)
		}
		if _, err := d.Load(t.Context(), core.SessionKey{Session: "s", Agent: "pipe"}); !errors.Is(err, ErrDamaged) {
			t.Errorf("agent: %v", err)
		}
		if _, err := d.Pinned(t.Context(), "s", Digest("x")); !errors.Is(err, ErrNotPinned) {
			t.Errorf("pin: %v", err)
		}
		if _, err := d.Load(t.Context(), core.SessionKey{Session: "pipe"}); err == nil {
			t.Error("session: no error")
		}
		if _, err := d.Agents(t.Context(), "pipe"); !errors.Is(err, ErrDamaged) {
			t.Errorf("agents: %v", err)
		}
		if err := d.End(t.Context(), "pipe"); err != nil {
			t.Errorf("end: %v", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("blocked by a named pipe")
	}
}
