package session

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// TestDirectoryDamage damages the newest files in every way. The store must find the older
// version, report the damage, and accept new saves.
func TestDirectoryDamage(t *testing.T) {
	spoil := map[string]func(t *testing.T, name string){
		"empty":   func(t *testing.T, name string) { write(t, name, nil) },
		"torn":    func(t *testing.T, name string) { write(t, name, read(t, name)[:100]) },
		"zeros":   func(t *testing.T, name string) { write(t, name, make([]byte, 300)) },
		"one bit": func(t *testing.T, name string) { b := read(t, name); b[50] ^= 1; write(t, name, b) },
		"other key": func(t *testing.T, name string) {
			write(t, name, encoded(t, core.SessionKey{Session: "t", Agent: "a"}, 9))
		},
		"other version": func(t *testing.T, name string) { write(t, name, encoded(t, testKey, 2)) },
		"huge":          func(t *testing.T, name string) { check(t, os.Truncate(name, maxFile+1)) },
		"link out": func(t *testing.T, name string) {
			out := filepath.Join(t.TempDir(), "out")
			check(t, os.Rename(name, out))
			check(t, os.Symlink(out, name))
		},
		"link inside": func(t *testing.T, name string) {
			check(t, os.Remove(name))
			check(t, os.Symlink(versionName(8), name))
		},
	}
	// Version 3 is in the first generation. 9 is the first save of the second generation,
	// with a good copy of version 8 below it. 12 is in the middle of the second.
	for _, newest := range []int{3, 9, 12} {
		for name, spoil := range spoil {
			t.Run(fmt.Sprint(name, " ", newest), func(t *testing.T) {
				var log bytes.Buffer
				path := t.TempDir()
				d := openTest(t, path, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				bump(t, d, newest)
				spoil(t, filepath.Join(genPath(path, int64(newest)), versionName(int64(newest))))

				v, err := d.Load(t.Context(), testKey)
				if rec := countedOf(t, v); err != nil || rec.Calls != newest-1 || rec.Version != int64(newest) {
					t.Fatalf("got %+v, %v", rec, err)
				}
				if !strings.Contains(log.String(), "damaged") {
					t.Errorf("the log says %q", log.String())
				}
				if rec := bump(t, d, 1); rec.Calls != newest || rec.Version != int64(newest+1) {
					t.Errorf("after a save: %+v", rec)
				}
				log.Reset()
				if rec := bump(t, d, 20); rec.Calls != newest+20 || rec.Version != int64(newest+21) || log.Len() > 0 {
					t.Errorf("after more saves: %+v, log %q", rec, log.String())
				}
			})
		}
	}
}

// TestDirectoryDamagedGeneration damages all files of a new generation. The store then uses the
// generation before.
func TestDirectoryDamagedGeneration(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, versionsPerGeneration+minSaves-1)
	for _, name := range dirNames(t, genPath(path, versionsPerGeneration+1)) {
		write(t, filepath.Join(genPath(path, versionsPerGeneration+1), name), nil)
	}
	v, err := d.Load(t.Context(), testKey)
	if rec := countedOf(t, v); err != nil || rec.Calls != versionsPerGeneration || rec.Version != versionsPerGeneration+minSaves-1 {
		t.Fatalf("got %+v, %v", rec, err)
	}
	if rec := bump(t, d, 20); rec.Calls != versionsPerGeneration+20 {
		t.Errorf("after more saves: %+v", rec)
	}
}

// TestDirectoryDamagedEnd spoils the last version of a generation.
func TestDirectoryDamagedEnd(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, versionsPerGeneration)
	write(t, filepath.Join(genPath(path, 1), versionName(versionsPerGeneration)), nil)
	if rec := bump(t, d, 1); rec.Calls != versionsPerGeneration || rec.Version != versionsPerGeneration+1 {
		t.Errorf("got %+v", rec)
	}
}

func TestDirectoryDamagedWhole(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, 2)
	for _, v := range []int64{1, 2} {
		write(t, filepath.Join(genPath(path, v), versionName(v)), nil)
	}
	if _, err := d.Load(t.Context(), testKey); !errors.Is(err, ErrDamaged) {
		t.Errorf("load: %v", err)
	}
	if _, err := d.Save(t.Context(), testKey, Value{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("save: %v", err)
	}
	if _, err := d.Agents(t.Context(), "s"); !errors.Is(err, ErrDamaged) {
		t.Errorf("agents: %v", err)
	}
	if err := d.End(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if rec := bump(t, d, 1); rec.Version != 1 {
		t.Errorf("after the end: %+v", rec)
	}
}
