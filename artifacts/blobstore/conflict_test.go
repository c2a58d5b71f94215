//go:build unix

package blobstore_test

import (
	"context"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"

	"gocloud.dev/blob"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/artifactstest"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// rivals is a handler in front of the S3 server. It answers some requests with the conflict that
// a concurrent request causes.
type rivals struct {
	server http.Handler
	// conflict reports whether the n-th request of its method and key gets a conflict.
	conflict func(w http.ResponseWriter, r *http.Request, n int) bool
	mu       sync.Mutex
	counts   map[string]int
}

func (v *rivals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.counts[r.Method+" "+r.URL.Path]++
	n := v.counts[r.Method+" "+r.URL.Path]
	v.mu.Unlock()
	if v.conflict(w, r, n) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusConflict)
		xml.NewEncoder(w).EncodeElement(struct{ Code, Message string }{"ConditionalRequestConflict", "met another"}, xml.StartElement{Name: xml.Name{Local: "Error"}})
		return
	}
	v.server.ServeHTTP(w, r)
}

// requests counts the requests of a method for keys that contain a part.
func (v *rivals) requests(method, part string) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for request, times := range v.counts {
		if strings.HasPrefix(request, method+" ") && strings.Contains(request, part) {
			n = max(n, times)
		}
	}
	return n
}

// openWithConflicts opens the bucket of the S3 server through rivals.
func openWithConflicts(t *testing.T, conflict func(server http.Handler, w http.ResponseWriter, r *http.Request, n int) bool) (*blob.Bucket, *rivals) {
	t.Helper()
	v := &rivals{counts: map[string]int{}}
	b := through(t, func(server http.Handler) http.Handler {
		v.server = server
		return v
	})
	v.conflict = func(w http.ResponseWriter, r *http.Request, n int) bool { return conflict(v.server, w, r, n) }
	return b, v
}

// through opens the bucket of the S3 server through a handler.
func through(t *testing.T, handler func(server http.Handler) http.Handler) *blob.Bucket {
	t.Helper()
	b, err := blob.OpenBucket(t.Context(), address(t, handler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// address is where the bucket of the S3 server is found through a handler.
func address(t *testing.T, handler func(server http.Handler) http.Handler) string {
	t.Helper()
	at, err := url.Parse(servertest.Shared(t, "s3").URL)
	if err != nil {
		t.Fatal(err)
	}
	query := at.Query()
	to, err := url.Parse(query.Get("endpoint"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host // the Host header stays, because the client signed it
	}}))
	t.Cleanup(server.Close)
	query.Set("endpoint", server.URL)
	at.RawQuery = query.Encode()
	return at.String()
}

func changes(r *http.Request) bool {
	return r.Method == http.MethodPut || r.Method == http.MethodDelete
}

// The conformance tests pass even if each write and each delete first conflicts with another
// request. Some of these requests have no effect; others have one although the answer reports a
// conflict.
func TestConformanceAmongRivals(t *testing.T) {
	for name, done := range map[string]bool{"not done": false, "done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := openWithConflicts(t, func(server http.Handler, _ http.ResponseWriter, r *http.Request, n int) bool {
				if !changes(r) || n > 1 {
					return false
				}
				if done {
					server.ServeHTTP(httptest.NewRecorder(), r)
				}
				return true
			})
			artifactstest.Run(t, func(t *testing.T) artifacts.Store { return open(t, b, fresh()) })
			for _, part := range []string{"/probe/", "/c/", "/v/", "/r/", "/end/"} {
				if v.requests(http.MethodPut, part) < 2 {
					t.Errorf("no second request for %q", part)
				}
			}
		})
	}
}

// A claim that somebody else wins meanwhile is theirs.
func TestRivalWins(t *testing.T) {
	prefix := fresh()
	other := open(t, s3(t), prefix)
	b, _ := openWithConflicts(t, func(_ http.Handler, _ http.ResponseWriter, r *http.Request, n int) bool {
		if !strings.Contains(r.URL.Path, "/v/") || !changes(r) || path.Base(r.URL.Path) != "0000000000" || n > 1 {
			return false
		}
		if _, err := other.Save(context.WithoutCancel(r.Context()), "s", "a", "", strings.NewReader("theirs"), 10); err != nil {
			t.Error(err)
		}
		return true
	})
	info, err := open(t, b, prefix).Save(t.Context(), "s", "a", "", strings.NewReader("ours"), 10)
	if err != nil || info.Version != 1 {
		t.Fatalf("Save: got %+v, error %v, want Version 1", info, err)
	}
	for v, want := range []string{"theirs", "ours"} {
		if got := content(t, other, artifacts.Ref{Name: "a", Version: v}); got != want {
			t.Errorf("version %d: %q, want %q", v, got, want)
		}
	}
}

// Where others are always in the way a Save ends, says why, and takes nothing of theirs.
func TestRivalsAlways(t *testing.T) {
	t.Parallel()
	prefix := fresh()
	other := open(t, s3(t), prefix)
	once := sync.OnceFunc(func() {
		if _, err := other.Save(t.Context(), "s", "a", "", strings.NewReader("theirs"), 10); err != nil {
			t.Error(err)
		}
	})
	b, v := openWithConflicts(t, func(_ http.Handler, _ http.ResponseWriter, r *http.Request, _ int) bool {
		if !strings.Contains(r.URL.Path, "/v/") || !changes(r) {
			return false
		}
		once()
		return true
	})
	_, err := open(t, b, prefix).Save(t.Context(), "s", "a", "", strings.NewReader("ours"), 10)
	var answer interface{ HTTPStatusCode() int }
	if err == nil || !strings.Contains(err.Error(), "10 times that other requests are in the way (409): try again later") ||
		!errors.As(err, &answer) || answer.HTTPStatusCode() != http.StatusConflict {
		t.Errorf("got %v", err)
	}
	if n := v.requests(http.MethodPut, "/v/"); n != 10 {
		t.Errorf("asked %d times", n)
	}
	if all, err := other.List(t.Context(), "s"); err != nil || len(all) != 1 {
		t.Fatalf("List: got %+v, error %v, want 1 entry", all, err)
	}
	if got := content(t, other, artifacts.Ref{Name: "a"}); got != "theirs" {
		t.Errorf("there is %q", got)
	}
}

// A writer stops waiting for others when its context ends.
func TestRivalsUntilCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b, v := openWithConflicts(t, func(_ http.Handler, _ http.ResponseWriter, r *http.Request, n int) bool {
		if strings.Contains(r.URL.Path, "/v/") && changes(r) && n == 2 {
			cancel()
		}
		return strings.Contains(r.URL.Path, "/v/") && changes(r)
	})
	s := open(t, b, blobstore.WithPrefix(rand.Text()+"/"))
	if _, err := s.Save(ctx, "s", "a", "", strings.NewReader("x"), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := v.requests(http.MethodPut, "/v/"); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

func content(t *testing.T, s artifacts.Store, ref artifacts.Ref) string {
	t.Helper()
	r, _, err := s.Open(t.Context(), "s", ref)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
