//go:build unix

package blobstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
)

// A bucket that writes what is there already, whatever the condition says, is refused.
func TestBucketWithoutConditions(t *testing.T) {
	b := through(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			w.Header().Set("ETag", `"x"`)
		})
	})
	if _, err := blobstore.Open(t.Context(), b); err == nil || !strings.Contains(err.Error(), "bucket ignores If-None-Match") {
		t.Errorf("got %v", err)
	}
}

// killedProcess is a proxy between a child process and the S3 server. It passes on a number of
// requests after the store is open, and kills the process at the next one. The server may or
// may not execute that one.
type killedProcess struct {
	server http.Handler
	left   atomic.Int64
	done   bool
	due    chan struct{} // receives one value when the process is to be killed
	dead   chan struct{}
}

func (m *killedProcess) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.Contains(r.URL.Path, "/probe/") || m.left.Add(-1) >= 0 {
		m.server.ServeHTTP(w, r)
		return
	}
	if m.done {
		m.server.ServeHTTP(httptest.NewRecorder(), r)
	}
	select {
	case m.due <- struct{}{}:
	case <-m.dead:
	}
	<-m.dead
}

// Where a child finds the bucket, and how many versions it claims. Its directory is the prefix.
const (
	bucketVar = "BLOBSTORE_TEST_BUCKET"
	eachVar   = "BLOBSTORE_TEST_EACH"
)

// child opens the store, does something with the session and says so.
func child(do func(ctx context.Context, s *blobstore.Store) error) func(prefix string) error {
	return func(prefix string) error {
		ctx := context.Background()
		b, err := blob.OpenBucket(ctx, os.Getenv(bucketVar))
		if err != nil {
			return err
		}
		s, err := blobstore.Open(ctx, b, blobstore.WithPrefix(prefix), blobstore.WithQuota(artifacts.Quota{Versions: -1}))
		if err == nil {
			err = do(ctx, s)
		}
		fmt.Println("done")
		return errors.Join(err, b.Close())
	}
}

var children = map[string]func(prefix string) error{
	"save": child(func(ctx context.Context, s *blobstore.Store) error {
		_, err := s.Save(ctx, "s", "a", "", strings.NewReader("second"), 10)
		return err
	}),
	"end": child(func(ctx context.Context, s *blobstore.Store) error { return s.End(ctx, "s") }),
	"claim": child(func(ctx context.Context, s *blobstore.Store) error {
		each, err := strconv.Atoi(os.Getenv(eachVar))
		for range each {
			if err == nil {
				_, err = s.Save(ctx, "s", "a", "", strings.NewReader("x"), 10)
			}
		}
		return err
	}),
}

// A process is killed at each request of a Save or an End. Visible versions are complete after
// that, and a sweep removes everything else.
func TestDeathAtEachRequest(t *testing.T) {
	for _, name := range []string{"save", "end"} {
		for _, done := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, last request done %v", name, done), func(t *testing.T) {
				t.Parallel()
				steps := int64(0)
				for killed := true; killed; steps++ {
					prefix := rand.Text() + "/"
					sound := open(t, s3(t), blobstore.WithPrefix(prefix))
					if _, err := sound.Save(t.Context(), "s", "a", "", strings.NewReader("first"), 10); err != nil {
						t.Fatal(err)
					}
					killed = killedAt(t, name, prefix, steps, done)
					wholeAfter(t, fmt.Sprintf("request %d", steps), sound, prefix)
				}
				if steps < 5 {
					t.Errorf("%d steps", steps)
				}
			})
		}
	}
}

// killedAt kills a child at the request after so many. It returns false if the child makes no
// more requests.
func killedAt(t *testing.T, name, prefix string, requests int64, done bool) bool {
	t.Helper()
	m := &killedProcess{done: done, due: make(chan struct{}), dead: make(chan struct{})}
	defer close(m.dead)
	m.left.Store(requests)
	at := address(t, func(server http.Handler) http.Handler { m.server = server; return m })
	c := crashtest.Start(t, name, prefix, bucketVar+"="+at)
	said := make(chan bool, 1)
	go func() { said <- c.Lines.Scan() }()
	select {
	case <-m.due:
		c.Kill(t)
		return true
	case <-said:
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		return false
	}
}

// wholeAfter checks that a session with one version still has it, and that a sweep removes
// everything else.
func wholeAfter(t *testing.T, when string, s *blobstore.Store, prefix string) {
	t.Helper()
	all, err := s.List(t.Context(), "s")
	if err != nil || len(all) > 2 {
		t.Errorf("%s: %+v, %v", when, all, err)
	}
	for v, info := range all {
		if info.Version != v {
			t.Errorf("%s: version %d in place %d", when, info.Version, v)
		}
		if got := content(t, s, artifacts.Ref{Name: "a", Version: v}); got != []string{"first", "second"}[v] {
			t.Errorf("%s: version %d holds %q", when, v, got)
		}
	}
	for range 2 { // the second sweep removes the tombstone, after everything else is gone
		if err := s.Sweep(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	objects := 0
	for list := s3(t).List(&blob.ListOptions{Prefix: prefix}); ; objects++ {
		if _, err := list.Next(t.Context()); err != nil {
			break
		}
	}
	if objects != 2*len(all) {
		t.Errorf("%s: %d objects for %d versions", when, objects, len(all))
	}
}
