package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/durable"
)

var testKey = core.SessionKey{Session: "s", Agent: "a"}

func openTest(t *testing.T, path string, opts ...Option) *Directory {
	t.Helper()
	d, err := OpenDirectory(path, append([]Option{WithSync(false)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// counted is a value whose data is a number.
type counted struct {
	Calls   int
	Version int64
}

func countedOf(t *testing.T, v Value) counted {
	t.Helper()
	if v.Version == 0 {
		return counted{}
	}
	n, err := strconv.Atoi(string(v.Data))
	check(t, err)
	return counted{n, v.Version}
}

// next is the value after v, whose number is one higher.
func next(t *testing.T, v Value) Value {
	t.Helper()
	return Value{Version: v.Version, Data: strconv.AppendInt(nil, int64(countedOf(t, v).Calls+1), 10)}
}

// bump saves the value of testKey n times; its number counts the saves.
func bump(t *testing.T, d *Directory, n int) counted {
	t.Helper()
	v, err := d.Load(t.Context(), testKey)
	check(t, err)
	for range n {
		v, err = d.Save(t.Context(), testKey, next(t, v))
		check(t, err)
	}
	return countedOf(t, v)
}

func chainPath(path string) string {
	return filepath.Join(path, durable.Name(testKey.Session), durable.Name(testKey.Agent))
}

func dirNames(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// genPath is the directory of the generation that version v was saved in.
func genPath(path string, v int64) string {
	return filepath.Join(path, durable.Name(testKey.Session), durable.Name(testKey.Agent),
		genName((v-1)/versionsPerGeneration*versionsPerGeneration))
}

func TestDirectoryKeepsFewVersions(t *testing.T) {
	for name, opts := range map[string][]Option{"link": nil, "no link": {WithoutLinks}} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			d := openTest(t, path, opts...)
			for range 10 * versionsPerGeneration {
				rec := bump(t, d, 1)
				kept := len(dirNames(t, chainPath(path)))
				if n := (rec.Version - 1) % versionsPerGeneration; kept > 2 || n >= minSaves && kept > 1 {
					t.Errorf("%d generations at version %d", kept, rec.Version)
				}
			}
			names := dirNames(t, genPath(path, 10*versionsPerGeneration))
			if len(names) != versionsPerGeneration+1 || names[versionsPerGeneration] != versionName(10*versionsPerGeneration) {
				t.Errorf("got %q", names)
			}
		})
	}
}

func TestDirectoryMixesBothWaysOfPublishing(t *testing.T) {
	path := t.TempDir()
	link, rename := openTest(t, path), openTest(t, path, WithoutLinks)
	for i := range 6 {
		bump(t, link, 1)
		if rec := bump(t, rename, 1); rec.Calls != 2*i+2 {
			t.Fatalf("round %d: %d calls", i, rec.Calls)
		}
	}
	c, _, err := link.openValue(t.Context(), durable.Name("s"), durable.Name("a"))
	check(t, err)
	defer c.close()
	for _, noLink := range []bool{false, true} {
		for _, v := range []int64{11, 12} { // one version published by a link, one by a rename
			if err := c.publish(v, []byte("x"), durable.Fresh(tempPrefix), false, noLink); !errors.Is(err, fs.ErrExist) {
				t.Errorf("publish over version %d, without links %t: %v", v, noLink, err)
			}
		}
	}
}

func TestDirectoryHostileNames(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, 6)
	for _, name := range []string{"99999999999999999999.value", "1.value", "00000000000000000099.value.bak", "x"} {
		write(t, filepath.Join(chainPath(path), name), []byte("x"))
		write(t, filepath.Join(genPath(path, 6), name), []byte("x"))
		write(t, filepath.Join(path, durable.Name("s"), name), []byte("x"))
	}
	if rec := bump(t, d, 1); rec.Calls != 7 {
		t.Errorf("got %+v", rec)
	}
	if agents, err := d.Agents(t.Context(), "s"); err != nil || len(agents) != 1 {
		t.Errorf("got %q, %v", agents, err)
	}
	t.Run("a file in place of a chain", func(t *testing.T) {
		write(t, filepath.Join(path, durable.Name("s"), durable.Name("file")), []byte("x"))
		if _, err := d.Load(t.Context(), core.SessionKey{Session: "s", Agent: "file"}); !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the last version", func(t *testing.T) {
		if _, err := d.Save(t.Context(), testKey, Value{Version: 1<<63 - 1}); err == nil {
			t.Error("got no error")
		}
	})
}

func TestDirectoryTrouble(t *testing.T) {
	t.Run("too large", func(t *testing.T) {
		d := openTest(t, t.TempDir())
		big := strings.Repeat("x", maxFile+1)
		if _, err := d.Save(t.Context(), testKey, Value{Data: []byte(big)}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("save: %v", err)
		}
		if err := d.Pin(t.Context(), "s", Digest(big), big); !errors.Is(err, ErrTooLarge) {
			t.Errorf("pin: %v", err)
		}
		if rec, err := d.Load(t.Context(), testKey); err != nil || rec.Version != 0 {
			t.Errorf("got %+v, %v", rec, err)
		}
	})
	t.Run("damaged pin is repaired", func(t *testing.T) {
		path := t.TempDir()
		d := openTest(t, path)
		check(t, d.Pin(t.Context(), "s", Digest("x"), "x"))
		write(t, filepath.Join(path, durable.Name("s"), pinPrefix+Digest("x")), []byte("y"))
		_, err := d.Pinned(t.Context(), "s", Digest("x"))
		if !errors.Is(err, ErrNotPinned) || !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v", err)
		}
		check(t, d.Pin(t.Context(), "s", Digest("x"), "x"))
		if text, err := d.Pinned(t.Context(), "s", Digest("x")); err != nil || text != "x" {
			t.Errorf("got %q, %v", text, err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		d := openTest(t, t.TempDir())
		check(t, d.Close())
		_, err := d.Load(t.Context(), testKey)
		_, err2 := d.Save(t.Context(), testKey, Value{})
		err3 := d.Pin(t.Context(), "s", Digest("x"), "x")
		for i, err := range []error{err, err2, err3, d.End(t.Context(), "s")} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
	t.Run("root was removed", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "store")
		d := openTest(t, path)
		check(t, os.Remove(path))
		_, err := d.Save(t.Context(), testKey, Value{})
		err2 := d.Pin(t.Context(), "s", Digest("x"), "x")
		if err == nil || err2 == nil {
			t.Errorf("got %v and %v", err, err2)
		}
	})
	t.Run("options", func(t *testing.T) {
		if _, err := OpenDirectory(t.TempDir(), WithLogger(nil)); err == nil {
			t.Error("a nil logger is taken")
		}
		file := filepath.Join(t.TempDir(), "file")
		write(t, file, nil)
		if _, err := OpenDirectory(file); err == nil {
			t.Error("a file is taken for a directory")
		}
	})
}

func TestDirectoryLeftovers(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, 5)
	old := time.Now().Add(-2 * leftoverAge)
	for _, dir := range []string{path, chainPath(path)} {
		for _, name := range []string{newPrefix + "young", newPrefix + "old", tempPrefix + "young", tempPrefix + "old"} {
			write(t, filepath.Join(dir, name), []byte("x"))
			if strings.HasSuffix(name, "old") {
				check(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
		}
	}
	check(t, os.MkdirAll(filepath.Join(path, durable.EndedPrefix+"x", "agent"), 0o700))
	check(t, os.MkdirAll(filepath.Join(chainPath(path), oldPrefix+"x", "version"), 0o700))
	openTest(t, path)
	if got := strings.Join(dirNames(t, path), " "); got != durable.Name("s")+" new.young tmp.old tmp.young" {
		t.Errorf("at the top: %s", got)
	}
	if rec := bump(t, d, 1); rec.Calls != 6 {
		t.Errorf("got %+v", rec)
	}
	if got := strings.Join(dirNames(t, chainPath(path)), " "); got != genName(0)+" new.old new.young tmp.young" {
		t.Errorf("in the chain: %s", got)
	}
}

// TestDirectoryPausedWriter checks that a generation with a temporary file stays, with those
// above it, until the file is old.
func TestDirectoryPausedWriter(t *testing.T) {
	path := t.TempDir()
	d := openTest(t, path)
	bump(t, d, 1)
	temp := filepath.Join(genPath(path, 1), tempPrefix+"x")
	write(t, temp, nil)
	bump(t, d, 4*versionsPerGeneration)
	if n := len(dirNames(t, chainPath(path))); n != 5 {
		t.Errorf("%d generations, want all 5", n)
	}
	old := time.Now().Add(-2 * leftoverAge)
	check(t, os.Chtimes(temp, old, old))
	bump(t, d, minSaves)
	if n := len(dirNames(t, chainPath(path))); n != 1 {
		t.Errorf("%d generations, want 1", n)
	}
}

func encoded(t *testing.T, key core.SessionKey, version int64) []byte {
	t.Helper()
	data, err := encodeFile(entry{key, Value{Version: version, Data: []byte("8")}})
	check(t, err)
	return data
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	check(t, err)
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	check(t, os.WriteFile(name, data, 0o600))
}
