package artifacts

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

func openTest(t *testing.T, path string, opts ...Option) *Directory {
	t.Helper()
	d, err := OpenDirectory(path, append([]Option{WithSync(false)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func put(t *testing.T, d *Directory, session, name, content string) Info {
	t.Helper()
	info, err := d.Save(t.Context(), session, name, "", strings.NewReader(content), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read opens a version and reads it to the end.
func read(t *testing.T, d *Directory, ref Ref) (string, error) {
	t.Helper()
	r, _, err := d.Open(t.Context(), "s", ref)
	if err != nil {
		return "", err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	return string(content), err
}

// TestDirectoryDamage damages version 1 of three in many ways. The store reports the damage,
// and the other versions stay readable.
func TestDirectoryDamage(t *testing.T) {
	info := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			check(t, os.WriteFile(filepath.Join(dir, infoName), []byte(text), 0o600))
		}
	}
	digest := strings.Repeat("0", 64)
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		listed int
	}{
		"content changed": {func(t *testing.T, dir string) {
			check(t, os.WriteFile(filepath.Join(dir, contentName), []byte("0123456788"), 0o600))
		}, 3},
		"content cut":          {func(t *testing.T, dir string) { check(t, os.Truncate(filepath.Join(dir, contentName), 5)) }, 3},
		"content grown":        {func(t *testing.T, dir string) { check(t, os.Truncate(filepath.Join(dir, contentName), 11)) }, 3},
		"content missing":      {func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, contentName))) }, 3},
		"description missing":  {func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, infoName))) }, 2},
		"description empty":    {info(""), 2},
		"description zeroed":   {info(strings.Repeat("\x00", 100)), 2},
		"description huge":     {info(`{"name":"` + strings.Repeat("a", maxInfo) + `"}`), 2},
		"other name":           {info(`{"name":"b","mime":"a/b","size":10,"digest":"` + digest + `"}`), 2},
		"no digest":            {info(`{"name":"a","mime":"a/b","size":10,"digest":"x"}`), 2},
		"negative size":        {info(`{"name":"a","mime":"a/b","size":-1,"digest":"` + digest + `"}`), 2},
		"hostile mime":         {info(`{"name":"a","mime":"a\nb","size":10,"digest":"` + digest + `"}`), 2},
		"other digest":         {info(`{"name":"a","mime":"a/b","size":10,"digest":"` + digest + `"}`), 3},
		"file for a directory": {func(t *testing.T, dir string) { check(t, os.RemoveAll(dir)); check(t, os.WriteFile(dir, nil, 0o600)) }, 2},
		"link for content": {func(t *testing.T, dir string) {
			content := filepath.Join(dir, contentName)
			check(t, os.Rename(content, filepath.Join(dir, "target")))
			if err := os.Symlink("target", content); err != nil {
				t.Logf("no symbolic links here (%v): the content is just missing", err)
			}
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			var log bytes.Buffer
			d := openTest(t, path, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			for range 3 {
				put(t, d, "s", "a", "0123456789")
			}
			tt.damage(t, filepath.Join(path, durable.Name("s"), durable.Name("a"), versionName(1)))
			if got, err := read(t, d, Ref{"a", 1}); !errors.Is(err, ErrDamaged) {
				t.Errorf("damaged version: %q, %v", got, err)
			}
			for _, v := range []int{0, 2, Latest} {
				if got, err := read(t, d, Ref{"a", v}); got != "0123456789" || err != nil {
					t.Errorf("version %d: %q, %v", v, got, err)
				}
			}
			all, err := d.List(t.Context(), "s")
			if err != nil || len(all) != tt.listed || (log.Len() > 0) != (tt.listed < 3) {
				t.Errorf("list: %+v, %v; logged %q", all, err, log.String())
			}
			if got := put(t, d, "s", "a", "next"); got.Version != 3 {
				t.Errorf("next version is %d", got.Version)
			}
		})
	}
}

func TestDirectoryLeftovers(t *testing.T) {
	path := t.TempDir()
	session := filepath.Join(path, durable.Name("s"))
	stale, fresh := filepath.Join(session, newPrefix+"stale"), filepath.Join(session, newPrefix+"fresh")
	written := filepath.Join(session, newPrefix+"written") // an old directory whose content is still growing
	for _, dir := range []string{filepath.Join(path, durable.EndedPrefix+"x", "y"), stale, fresh, written} {
		check(t, os.MkdirAll(dir, 0o700))
		check(t, os.WriteFile(filepath.Join(dir, contentName), []byte("half"), 0o600))
	}
	old := time.Now().Add(-2 * leftoverAge)
	for _, name := range []string{filepath.Join(stale, contentName), stale, written} {
		check(t, os.Chtimes(name, old, old))
	}
	d := openTest(t, path)
	put(t, d, "s", "a", "x")
	for name, want := range map[string]bool{filepath.Join(path, durable.EndedPrefix+"x"): false, stale: false, fresh: true, written: true} {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", name, err, want)
		}
	}
	all, err := d.List(t.Context(), "s")
	if err != nil || len(all) != 1 {
		t.Errorf("list: %+v, %v", all, err)
	}
}

func TestDirectoryFailuresLeaveNothing(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	if _, err := d.Save(t.Context(), "s", "a", "", strings.NewReader("too much"), 3); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(path); err != nil || len(names) != 0 {
		t.Errorf("left: %v, %v", names, err)
	}
	put(t, d, "s", "a", "x")
	if _, err := d.Save(t.Context(), "s", "b", "", strings.NewReader("too much"), 3); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(filepath.Join(path, durable.Name("s"))); err != nil || len(names) != 2 {
		t.Errorf("left: %v, %v", names, err)
	}
}

func TestDirectoryClosed(t *testing.T) {
	d := openTest(t, t.TempDir())
	put(t, d, "s", "a", "x")
	check(t, d.Close())
	_, saveErr := d.Save(t.Context(), "s", "a", "", strings.NewReader("x"), 1)
	_, _, openErr := d.Open(t.Context(), "s", Ref{Name: "a"})
	_, listErr := d.List(t.Context(), "s")
	for what, err := range map[string]error{"save": saveErr, "open": openErr, "list": listErr, "end": d.End(t.Context(), "s")} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestNewDirectoryErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if _, err := OpenDirectory(file); err == nil {
		t.Error("a file: no error")
	}
	if _, err := OpenDirectory(t.TempDir(), WithLogger(nil)); err == nil {
		t.Error("no logger: no error")
	}
}
