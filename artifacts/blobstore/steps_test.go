//go:build unix

package blobstore_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/blobstore"
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

// mortal is the way of a process to the S3 server: it makes so many requests and dies,
// with the last one done or not.
type mortal struct {
	server http.Handler
	left   atomic.Int64
	done   bool
}

func (m *mortal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	left := m.left.Add(-1)
	if left >= 0 {
		m.server.ServeHTTP(w, r)
		return
	}
	if left == -1 && m.done {
		m.server.ServeHTTP(httptest.NewRecorder(), r)
	}
	w.WriteHeader(http.StatusForbidden) // not asked again
}

// Whatever the request at which a process dies in the middle of a Save or an End, what is
// seen is whole, and a sweep leaves nothing else.
func TestDeathAtEachRequest(t *testing.T) {
	for _, done := range []bool{false, true} {
		t.Run(fmt.Sprint("last request done ", done), func(t *testing.T) {
			t.Parallel()
			m := &mortal{done: done}
			b := through(t, func(server http.Handler) http.Handler { m.server = server; return m })
			for name, do := range map[string]func(s *blobstore.Store) error{
				"save": func(s *blobstore.Store) error {
					_, err := s.Save(t.Context(), "s", "a", "", strings.NewReader("second"), 10)
					return err
				},
				"end": func(s *blobstore.Store) error { return s.End(t.Context(), "s") },
			} {
				steps := int64(0)
				for alive := false; !alive; steps++ {
					prefix := rand.Text() + "/"
					sound := open(t, s3(t), blobstore.WithPrefix(prefix))
					if _, err := sound.Save(t.Context(), "s", "a", "", strings.NewReader("first"), 10); err != nil {
						t.Fatal(err)
					}
					m.left.Store(1000)
					s := open(t, b, blobstore.WithPrefix(prefix))
					m.left.Store(steps)
					alive = do(s) == nil && m.left.Load() >= 0
					wholeAfter(t, fmt.Sprintf("%s, request %d", name, steps), sound, prefix)
				}
				if steps < 5 {
					t.Errorf("%s: %d steps", name, steps)
				}
			}
		})
	}
}

// wholeAfter checks what a session has that had one version, and that nothing else is
// there after a sweep.
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
	for range 2 { // the mark of an end goes when nothing else is there
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
