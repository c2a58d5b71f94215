//go:build unix

package blobstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	_ "gocloud.dev/blob/s3blob"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/artifactstest"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

func TestMain(m *testing.M) {
	if crashtest.IsChild() {
		crashtest.Main(m, children)
	}
	servertest.Main(m)
}

// s3 is the bucket of the S3 server.
func s3(t testing.TB) *blob.Bucket {
	t.Helper()
	b, err := blob.OpenBucket(t.Context(), servertest.Shared(t, "s3").URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func memory(t testing.TB) *blob.Bucket {
	b := memblob.OpenBucket(nil)
	t.Cleanup(func() { b.Close() })
	return b
}

func open(t testing.TB, b *blob.Bucket, opts ...blobstore.Option) *blobstore.Store {
	t.Helper()
	s, err := blobstore.Open(t.Context(), b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh() blobstore.Option { return blobstore.WithPrefix(rand.Text() + "/") }

func TestConformance(t *testing.T) {
	for name, bucket := range map[string]func(testing.TB) *blob.Bucket{"memory": memory, "s3": s3} {
		t.Run(name, func(t *testing.T) {
			b := bucket(t)
			artifactstest.Run(t, func(t *testing.T) artifacts.Store { return open(t, b, fresh()) })
			artifactstest.RunQuota(t, func(t *testing.T) artifacts.Store {
				return open(t, b, fresh(), blobstore.WithQuota(artifacts.Quota{Bytes: 1000, Versions: 10}))
			})
			artifactstest.RunDurable(t, func(t *testing.T, dir string) artifacts.Store {
				return open(t, b, blobstore.WithPrefix(strings.TrimPrefix(dir, "/")+"/"))
			})
		})
	}
}

func TestRefusedBuckets(t *testing.T) {
	files, err := fileblob.OpenBucket(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if _, err := blobstore.Open(t.Context(), files); err == nil || !strings.Contains(err.Error(), "file buckets cannot claim a version safely: use artifacts.OpenDirectory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := blobstore.Open(t.Context(), nil); err == nil {
		t.Error("no bucket is taken")
	}
	if _, err := blobstore.Open(t.Context(), memory(t), blobstore.WithCache(0)); err == nil {
		t.Error("a bad option is taken")
	}
}

// How many processes save one name at the same time, and how many versions each.
var (
	hosts = flag.Int("hosts", 8, "processes that claim versions")
	each  = flag.Int("each", 10, "versions that each of them claims")
)

// Many processes that save one name at the same time leave neither gap nor twin.
func TestManyHostsClaimVersions(t *testing.T) {
	prefix := rand.Text() + "/"
	at := bucketVar + "=" + servertest.Shared(t, "s3").URL
	var all []*crashtest.Child
	for range *hosts {
		all = append(all, crashtest.Start(t, "claim", prefix, at, fmt.Sprint(eachVar, "=", *each)))
	}
	for _, c := range all {
		for c.Lines.Scan() { // wait until the child has ended
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	list, err := open(t, s3(t), blobstore.WithPrefix(prefix)).List(t.Context(), "s")
	if err != nil || len(list) != *hosts**each {
		t.Fatalf("%d versions, %v", len(list), err)
	}
	for i, info := range list {
		if info.Version != i {
			t.Errorf("version %d in place %d", info.Version, i)
		}
	}
}

// Objects of a process that dies in the middle of a Save or an End are invisible, and a sweep
// removes them.
func TestSweep(t *testing.T) {
	b := memory(t)
	s := open(t, b)
	keys := func() (all []string) {
		t.Helper()
		list := b.List(nil)
		for {
			o, err := list.Next(t.Context())
			if errors.Is(err, io.EOF) {
				return all
			}
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, o.Key)
		}
	}
	save := func(session string) {
		t.Helper()
		if _, err := s.Save(t.Context(), session, "a", "", strings.NewReader("x"), 10); err != nil {
			t.Fatal(err)
		}
	}
	save("kept")
	save("ended")
	whole := keys()
	if err := s.End(t.Context(), "ended"); err != nil {
		t.Fatal(err)
	}
	// An End that died after it wrote its tombstone, and a Save that died before it wrote
	// its description.
	for _, key := range whole {
		if err := b.WriteAll(t.Context(), key, []byte("x"), &blob.WriterOptions{IfNotExist: true}); err != nil && !strings.Contains(err.Error(), "FailedPrecondition") {
			t.Fatal(err)
		}
		if root, _, ok := strings.Cut(key, "/0/"); ok {
			if err := b.WriteAll(t.Context(), root+"/0/c/"+strings.Repeat("0", 32), []byte("x"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for session, want := range map[string]int{"kept": 1, "ended": 0} {
		if all, err := s.List(t.Context(), session); err != nil || len(all) != want {
			t.Errorf("%s: %+v, %v", session, all, err)
		}
	}
	if err := s.Sweep(t.Context(), time.Hour); err != nil || len(keys()) < len(whole) {
		t.Errorf("what is young goes: %v, %q", err, keys())
	}
	for range 2 { // the second sweep removes the tombstone, after everything else is gone
		if err := s.Sweep(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if got := keys(); len(got) != 2 {
		t.Errorf("left: %q", got)
	}
	r, _, err := s.Open(t.Context(), "kept", artifacts.Ref{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if data, err := io.ReadAll(r); err != nil || string(data) != "x" {
		t.Errorf("ReadAll: got %q, error %v, want %q", data, err, "x")
	}
	save("ended") // a new session under the keys of the one that ended
	if all, err := s.List(t.Context(), "ended"); err != nil || len(all) != 1 {
		t.Errorf("List: got %+v, error %v, want 1 entry", all, err)
	}
}

// Content that was cut or changed, and damaged descriptions, are reported.
func TestDamage(t *testing.T) {
	b := memory(t)
	s := open(t, b, blobstore.WithCache(1))
	ref := artifacts.Ref{Name: "a"}
	damage := func(part, data string) error {
		t.Helper()
		if err := s.End(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Save(t.Context(), "s", "a", "", strings.NewReader("content"), 100); err != nil {
			t.Fatal(err)
		}
		list := b.List(nil)
		for o, err := list.Next(t.Context()); err == nil; o, err = list.Next(t.Context()) {
			if strings.Contains(o.Key, part) {
				if err := b.WriteAll(t.Context(), o.Key, []byte(data), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		r, _, err := s.Open(t.Context(), "s", ref)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.ReadAll(r)
		return err
	}
	for _, tt := range [][2]string{{"/c/", "conten"}, {"/c/", "CONTENT"}, {"/c/", "contents"}, {"/v/", "{"}, {"/v/", `{"name":"b"}`}, {"/v/", `{"name":"a"}`}} {
		if err := damage(tt[0], tt[1]); !errors.Is(err, artifacts.ErrDamaged) {
			t.Errorf("%s as %q: %v", tt[0], tt[1], err)
		}
	}
}

// endless is content of a size, and notes how much memory is held while it is read.
type endless struct{ left, read, held int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	clear(p[:n])
	before := e.read >> 20
	e.left, e.read = e.left-n, e.read+n
	// Measure often while the client sends its first parts, and then every 16 MiB.
	if now := e.read >> 20; now != before && (now <= 32 || now%16 == 0) {
		e.held = max(e.held, memoryInUse())
	}
	return n, nil
}

// memoryInUse is the memory that is in use, in bytes.
func memoryInUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A large artifact is streamed in parts.
func TestLargeArtifact(t *testing.T) {
	s := open(t, s3(t), fresh(), blobstore.WithQuota(artifacts.Quota{Bytes: -1}))
	const size = 256 << 20
	before, content := memoryInUse(), &endless{left: size}
	info, err := s.Save(t.Context(), "s", "big", "", content, size)
	if err != nil || info.Size != size {
		t.Fatalf("Save: got %+v, error %v, want Size %v", info, err, size)
	}
	taken := content.held - before
	t.Logf("%.1f MiB of memory are held", float64(taken)/(1<<20))
	if taken > 17<<20 {
		t.Errorf("%d bytes of memory for %d", taken, size)
	}
	r, _, err := s.Open(t.Context(), "s", info.Ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := io.Copy(io.Discard, r); err != nil || n != size {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func ExampleOpen() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or blob.OpenBucket(ctx, "s3://name?region=eu-west-1"), with gocloud.dev/blob/s3blob
	defer bucket.Close()
	store, err := blobstore.Open(ctx, bucket)
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := store.Save(ctx, "chat-1", "report.txt", "text/plain", strings.NewReader("done"), 1<<20)
	fmt.Println(info, err)
	// Output: artifact://report.txt@0 <nil>
}
