package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/blobstest"
)

// bucket is the simplest of all Files: names and contents.
type bucket struct {
	mu    sync.Mutex
	files map[string][]byte
}

func (b *bucket) Write(_ context.Context, name string, write func(io.Writer) error) error {
	var content bytes.Buffer
	if err := write(&content); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[name] = content.Bytes()
	return nil
}

func (b *bucket) Open(_ context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	content = content[offset:]
	if length >= 0 {
		content = content[:length]
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (b *bucket) Remove(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.files, name)
	return nil
}

func (b *bucket) List(_ context.Context, do func(name string, written time.Time) error) error {
	b.mu.Lock()
	names := slices.Collect(maps.Keys(b.files))
	b.mu.Unlock()
	for _, name := range names {
		if err := do(name, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

func TestFiles(t *testing.T) {
	blobstest.Run(t, func(t *testing.T, quota blobs.Quota) blobs.Store {
		store, err := blobs.OpenFiles(t.Context(), &bucket{files: map[string][]byte{}}, quota)
		if err != nil {
			t.Fatal(err)
		}
		return store
	})
}

func ExampleOpenFiles() {
	ctx := context.Background()
	store, err := blobs.OpenFiles(ctx, &bucket{files: map[string][]byte{}}, blobs.Quota{Bytes: 1 << 20, Blobs: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := store.Create(ctx, "acme", "text/plain", strings.NewReader("done"), 1<<10, time.Now().Add(time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = store.Stat(ctx, "other", report.ID)
	fmt.Println(report.Size, errors.Is(err, blobs.ErrUnknown))
	// Output: 4 true
}

func ExampleNewID() {
	fmt.Println(blobs.CheckID(blobs.NewID()))
	fmt.Println(errors.Is(blobs.CheckID("blob:../secret"), blobs.ErrUnknown))
	// Output:
	// <nil>
	// true
}
