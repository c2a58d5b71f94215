//go:build unix

package artifacts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// TestDirectoryRefusesPipes would hang if a named pipe were opened or read.
func TestDirectoryRefusesPipes(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	for _, name := range []string{"content", "info", "name", "version"} {
		put(t, d, "s", name, "x")
	}
	pipe := func(elem ...string) {
		name := filepath.Join(append([]string{path}, elem...)...)
		check(t, os.RemoveAll(name))
		check(t, syscall.Mkfifo(name, 0o600))
	}
	s := durable.Name("s")
	pipe(s, durable.Name("content"), versionName(0), contentName)
	pipe(s, durable.Name("info"), versionName(0), infoName)
	pipe(s, durable.Name("version"), versionName(0))
	pipe(durable.Name("pipe"))

	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, name := range []string{"content", "info", "version"} {
			if _, err := read(t, d, Ref{name, Latest}); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if _, _, err := d.Open(t.Context(), "pipe", Ref{Name: "a"}); !errors.Is(err, ErrDamaged) {
			t.Errorf("open: %v", err)
		}
		if _, err := d.Save(t.Context(), "pipe", "a", "", strings.NewReader("x"), 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("save: %v", err)
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

// TestDirectoryStaysInside replaces the store's directories with links to the
// outside.
func TestDirectoryStaysInside(t *testing.T) {
	path, outside := t.TempDir(), t.TempDir()
	d := openTest(t, path)
	put(t, d, "s", "a", "x")
	check(t, os.Symlink(outside, filepath.Join(path, durable.Name("linked"))))
	check(t, os.Symlink(outside, filepath.Join(path, durable.Name("s"), durable.Name("b"))))
	if _, err := d.Save(t.Context(), "linked", "a", "", strings.NewReader("x"), 1); err == nil {
		t.Error("linked session: no error")
	}
	if _, err := d.Save(t.Context(), "s", "b", "", strings.NewReader("x"), 1); err == nil {
		t.Error("linked name: no error")
	}
	check(t, os.WriteFile(filepath.Join(outside, "keep"), nil, 0o600))
	check(t, d.End(t.Context(), "linked"))
	check(t, d.End(t.Context(), "s"))
	names, err := os.ReadDir(outside)
	if err != nil || len(names) != 1 {
		t.Errorf("outside: %v, %v", names, err)
	}
}
