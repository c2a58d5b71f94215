//go:build unix

package bucket_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/satchel-go/satchel/internal/testing/servertest"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/blobs/bucket"
	"github.com/satchel-go/satchel/protocol/blobstest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// buckets open the bucket of a test.
var buckets = map[string]func(t *testing.T) *blob.Bucket{
	"memory": func(*testing.T) *blob.Bucket { return memblob.OpenBucket(nil) },
	"files": func(t *testing.T) *blob.Bucket {
		b, err := fileblob.OpenBucket(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	},
	"s3": func(t *testing.T) *blob.Bucket {
		b, err := blob.OpenBucket(t.Context(), servertest.Shared(t, "s3").URL)
		if err != nil {
			t.Fatal(err)
		}
		return blob.PrefixedBucket(b, rand.Text()+"/")
	},
}

func each(t *testing.T, do func(t *testing.T, b *blob.Bucket)) {
	for name, open := range buckets {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			defer func() { _ = b.Close() }()
			do(t, b)
		})
	}
}

func open(t *testing.T, b *blob.Bucket, quota blobs.Quota) *blobs.FileStore {
	t.Helper()
	s, err := bucket.Open(t.Context(), b, quota)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSuite(t *testing.T) {
	for name, bucketOf := range buckets {
		t.Run(name, func(t *testing.T) {
			blobstest.Run(t, func(t *testing.T, quota blobs.Quota) blobs.Store {
				b := bucketOf(t)
				t.Cleanup(func() { _ = b.Close() })
				return open(t, b, quota)
			})
		})
	}
}

// TestServers opens two stores on one bucket. Each sees the blobs of the other at once, and counts
// them with its next Sweep.
func TestServers(t *testing.T) {
	each(t, func(t *testing.T, b *blob.Bucket) {
		one, two := open(t, b, blobs.Quota{}), open(t, b, blobs.Quota{})
		info, err := one.Create(t.Context(), "a", "text/plain", strings.NewReader("text"), 10, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := two.Open(t.Context(), "a", info.ID, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || string(text) != "text" {
			t.Errorf("read %q, %v", text, err)
		}
		_ = r.Close()
		used := func(s *blobs.FileStore, want int) {
			t.Helper()
			if _, err := s.Sweep(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Usage(t.Context(), "a"); err != nil || got.Blobs != want {
				t.Errorf("usage %+v, %v, want %d", got, err, want)
			}
		}
		used(two, 1)
		if err := two.Delete(t.Context(), "a", info.ID); err != nil {
			t.Fatal(err)
		}
		used(two, 0)
		if _, err := one.Stat(t.Context(), "a", info.ID); !errors.Is(err, blobs.ErrUnknown) {
			t.Errorf("removed by the other: %v", err)
		}
		used(one, 0)
		if got := open(t, b, blobs.Quota{}); got == nil {
			t.Error("not opened again")
		}
	})
}

// TestDamaged changes a blob, and leaves data that belongs to none.
func TestDamaged(t *testing.T) {
	each(t, func(t *testing.T, b *blob.Bucket) {
		s := open(t, b, blobs.Quota{})
		info, err := s.Create(t.Context(), "a", "text/plain", strings.NewReader("text"), 10, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		folder := "t61/"
		name, torn := folder+strings.TrimPrefix(info.ID, "blob:"), folder+strings.TrimPrefix(blobs.NewID(), "blob:")
		for _, key := range []string{name, torn} {
			if err := b.WriteAll(t.Context(), key, []byte("TEXT"), nil); err != nil {
				t.Fatal(err)
			}
		}
		r, _, err := s.Open(t.Context(), "a", info.ID, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("read: %v", err)
		}
		_ = r.Close()
		for _, c := range []struct {
			now   time.Time
			there bool
		}{{time.Now(), true}, {time.Now().Add(70 * time.Minute), false}} {
			if _, err := s.Sweep(t.Context(), c.now); err != nil {
				t.Fatal(err)
			}
			if there, err := b.Exists(t.Context(), torn); err != nil || there != c.there {
				t.Errorf("torn data is there: %v, %v", there, err)
			}
		}
	})
}

func ExampleOpen() {
	ctx := context.Background()
	b, err := blob.OpenBucket(ctx, "mem://") // or s3://my-blobs?region=eu-central-1
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = b.Close() }()
	store, err := bucket.Open(ctx, b, blobs.Quota{})
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := store.Create(ctx, "acme", "text/csv", strings.NewReader("a,b\n"), 1<<20, time.Now().Add(time.Hour))
	fmt.Println(info.Size, err)
	// Output: 4 <nil>
}
