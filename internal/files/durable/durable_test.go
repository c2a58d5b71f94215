package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/internal/files/durable"
)

func open(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func write(t *testing.T, root *os.Root, name, text string) {
	t.Helper()
	err := durable.WriteNew(root, name, true, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"", ".", "..", "a/b", "a\x00b", "A", "a", strings.Repeat("x", 10_000), "\xff"} {
		name := durable.Name(id)
		if other, taken := seen[name]; taken || !durable.IsName(name) || !filepath.IsLocal(name) {
			t.Errorf("%q is %s, as %q", id, name, other)
		}
		seen[name] = id
	}
	for _, name := range []string{"", "new.x", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("a", 65)} {
		if durable.IsName(name) {
			t.Errorf("%q passes for the name of an id", name)
		}
	}
	if durable.Fresh("x.") == durable.Fresh("x.") {
		t.Error("a fresh name was used before")
	}
}

func TestRead(t *testing.T) {
	root := open(t)
	write(t, root, "file", "12345678")
	if err := errors.Join(root.Mkdir("dir", 0o700), root.Symlink("file", "link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		limit int64
		want  string
		err   error
	}{
		{"file", 8, "12345678", nil},
		{"file", 7, "", durable.ErrIrregular},
		{"dir", 8, "", durable.ErrIrregular},
		{"link", 8, "", durable.ErrIrregular},
		{"none", 8, "", fs.ErrNotExist},
	} {
		got, err := durable.Read(root, tt.name, tt.limit)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s up to %d bytes: %q, %v", tt.name, tt.limit, got, err)
		}
	}
	for _, name := range []string{"file", "link"} {
		if _, _, err := durable.OpenDir(root, name); !errors.Is(err, durable.ErrIrregular) {
			t.Errorf("%s opens as a directory: %v", name, err)
		}
		if _, err := durable.List(root, name); !errors.Is(err, durable.ErrIrregular) {
			t.Errorf("%s is listed: %v", name, err)
		}
	}
}

func TestWriteNewFails(t *testing.T) {
	root := open(t)
	why := errors.New("no more")
	err := durable.WriteNew(root, "half", false, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, why)
	})
	if there, _ := durable.Exists(root, "half"); !errors.Is(err, why) || there {
		t.Errorf("%v; the file is there: %v", err, there)
	}
	write(t, root, "whole", "x")
	err = durable.WriteNew(root, "whole", false, func(io.Writer) error { return nil })
	if got, _ := durable.Read(root, "whole", 1); !errors.Is(err, fs.ErrExist) || string(got) != "x" {
		t.Errorf("written over: %q, %v", got, err)
	}
}

// Many goroutines want one name: one gets it, and what it has placed stays whole.
func TestPlaceOnce(t *testing.T) {
	root := open(t)
	var won atomic.Int32
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			temp := durable.Fresh("new.")
			if err := root.Mkdir(temp, 0o700); err != nil {
				t.Error(err)
				return
			}
			write(t, root, temp+"/content", fmt.Sprint(i))
			switch err := durable.Place(root, temp, "name"); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	names, err := durable.List(root, "name")
	if won.Load() != 1 || err != nil || !slices.Equal(names, []string{"content"}) {
		t.Errorf("%d won; %v, %v", won.Load(), names, err)
	}
	if err := durable.Place(root, "none", "other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("placed what is not there: %v", err)
	}
}

func TestInPlace(t *testing.T) {
	root := open(t)
	if err := root.Mkdir("s", 0o700); err != nil {
		t.Fatal(err)
	}
	dir, info, err := durable.OpenDir(root, "s")
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if here, err := durable.InPlace(root, "s", info); !here || err != nil {
		t.Errorf("%v, %v", here, err)
	}
	if err := durable.End(root, "s", true); err != nil {
		t.Fatal(err)
	}
	if here, err := durable.InPlace(root, "s", info); here || err != nil {
		t.Errorf("after the end: %v, %v", here, err)
	}
	if err := errors.Join(durable.End(root, "s", true), root.Mkdir("s", 0o700)); err != nil {
		t.Fatal(err)
	}
	if here, err := durable.InPlace(root, "s", info); here || err != nil {
		t.Errorf("another of the same name: %v, %v", here, err)
	}
}

func TestRemoveLeftovers(t *testing.T) {
	root := open(t)
	for _, dir := range []string{"keep", durable.EndedPrefix + "a", "new.b"} {
		if err := root.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, root, dir+"/file", "x")
	}
	var log bytes.Buffer
	err := durable.RemoveLeftovers(root, slog.New(slog.NewTextHandler(&log, nil)), func(name string) bool { return name == "new.b" })
	if err != nil || log.Len() > 0 {
		t.Fatalf("%v, logged %s", err, &log)
	}
	if names, err := durable.List(root, "."); err != nil || !slices.Equal(names, []string{"keep"}) {
		t.Errorf("left: %v, %v", names, err)
	}
}
