package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/blobstest"
)

func TestMemory(t *testing.T) {
	blobstest.Run(t, func(_ *testing.T, quota blobs.Quota) blobs.Store {
		return blobs.NewMemory(quota)
	})
}

func openDirectory(t *testing.T, dir string, quota blobs.Quota) *blobs.FileStore {
	t.Helper()
	d, err := blobs.OpenDirectory(dir, quota)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestMemoryTakesWhatItCounts checks that blobs whose sizes are just beyond a power of two take little
// more memory than the quota counts. It reads them whole and in part.
func TestMemoryTakesWhatItCounts(t *testing.T) {
	const blob, n = 1<<20 + 1, 64
	m := blobs.NewMemory(blobs.Quota{})
	content := make([]byte, blob)
	for i := range content {
		content[i] = byte(i % 251)
	}
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before, id := heap(), ""
	for range n {
		info, err := m.Create(t.Context(), "t", "text/plain", iotest.OneByteReader(bytes.NewReader(content[:1])), blob, time.Now().Add(time.Hour))
		if err != nil || info.Size != 1 {
			t.Fatal(info, err)
		}
		if info, err = m.Create(t.Context(), "t", "text/plain", bytes.NewReader(content), blob, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		id = info.ID
	}
	if taken := heap() - before; taken > n*blob*11/10 {
		t.Errorf("%d bytes take %d of memory", n*blob, taken)
	}
	for _, c := range [][2]int64{{0, -1}, {0, 0}, {1, 10}, {4095, 2}, {4096, 4096}, {100_000, 900_000}, {blob - 1, 5}, {blob, -1}, {blob + 5, 1}} {
		r, info, err := m.Open(t.Context(), "t", id, c[0], c[1])
		if err != nil || info.Size != blob {
			t.Fatal(info, err)
		}
		got, err := io.ReadAll(r)
		from := min(c[0], blob)
		to := int64(blob)
		if c[1] >= 0 {
			to = min(from+c[1], blob)
		}
		if err != nil || !bytes.Equal(got, content[from:to]) {
			t.Errorf("%v: %d bytes, want %d, %v", c, len(got), to-from, err)
		}
	}
	runtime.KeepAlive(m)
}

func TestDirectory(t *testing.T) {
	blobstest.Run(t, func(t *testing.T, quota blobs.Quota) blobs.Store {
		return openDirectory(t, t.TempDir(), quota)
	})
}

// TestDirectoryAgain opens a directory with a blob, a damaged blob and files that a crash has left.
func TestDirectoryAgain(t *testing.T) {
	dir := t.TempDir()
	first := openDirectory(t, dir, blobs.Quota{})
	var infos []blobs.Info
	for _, text := range []string{"whole", "damaged"} {
		info, err := first.Create(t.Context(), "a", "text/plain", strings.NewReader(text), 100, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", strings.TrimPrefix(infos[1].ID, "blob:")))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte("DAMAGED"), 0o600); err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(filepath.Dir(files[0]), strings.TrimPrefix(blobs.NewID(), "blob:"))
	if err := os.WriteFile(torn, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}

	d := openDirectory(t, dir, blobs.Quota{})
	if got, err := d.Usage(t.Context(), "a"); err != nil || got != (blobs.Usage{Bytes: 12, Blobs: 2}) {
		t.Errorf("usage %+v, %v", got, err)
	}
	for i, want := range []error{nil, blobs.ErrDamaged} {
		r, _, err := d.Open(t.Context(), "a", infos[i].ID, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, want) {
			t.Errorf("blob %d: %v, want %v", i, err, want)
		}
		_ = r.Close()
	}
	if _, err := d.Sweep(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(torn); err != nil {
		t.Errorf("what may still be written is gone: %v", err)
	}
	if _, err := d.Sweep(t.Context(), time.Now().Add(50*time.Minute+11*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(torn); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what a crash has left is there: %v", err)
	}
}

func ExampleOpenDirectory() {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := blobs.OpenDirectory(dir, blobs.Quota{})
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := store.Create(context.Background(), "acme", "text/csv", strings.NewReader("a,b\n"), 1<<20, time.Now().Add(time.Hour))
	fmt.Println(info.Size, err)
	fmt.Println(store.Close())
	// Output:
	// 4 <nil>
	// <nil>
}

func ExampleNewMemory() {
	store := blobs.NewMemory(blobs.Quota{})
	info, err := store.Create(context.Background(), "acme", "text/csv", strings.NewReader("a,b\n"), 1<<20, time.Now().Add(time.Hour))
	fmt.Println(info.Size, err)
	// Output: 4 <nil>
}
