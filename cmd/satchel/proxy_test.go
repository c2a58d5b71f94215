package main

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// namedProxy opens an HTTP proxy for which every host is one server, by HTTP or by HTTPS, and names it
// in the environment. It counts the requests.
func namedProxy(t *testing.T, plain, secure string) *atomic.Int32 {
	t.Helper()
	var asked atomic.Int32
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Method != http.MethodConnect {
			out := r.Clone(r.Context())
			out.RequestURI, out.URL.Host = "", plain
			got, err := http.DefaultTransport.RoundTrip(out)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer got.Body.Close()
			for name, values := range got.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(got.StatusCode)
			_, _ = io.Copy(w, got.Body)
			return
		}
		far, err := net.Dial("tcp", secure)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(near, far)
			_ = near.Close()
		}()
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}))
	t.Cleanup(p.Close)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, p.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	return &asked
}

// TestInstallByAProxy installs from hosts that only the proxy of the environment finds.
func TestInstallByAProxy(t *testing.T) {
	r := newGitRepository(t)
	r.write("pdf/SKILL.md", described("pdf", "Reads PDF files."))
	r.commit()
	r.git("tag", "v1")
	var served atomic.Int32
	plain := httptest.NewServer(r.backend(&served))
	defer plain.Close()
	secure := httptest.NewTLSServer(r.backend(&served)) // its certificate is that of example.com
	defer secure.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	overwrite(t, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	t.Setenv("GIT_SSL_CAINFO", authority)
	asked := namedProxy(t, plain.Listener.Addr().String(), secure.Listener.Addr().String())
	for source, allow := range map[string]string{"https://example.com/skills.git@v1": "https://none.example", "http://skills.example/skills.git@v1": "http://skills.example"} {
		before := asked.Load()
		got := program(t, nil, "", "install", source, "--dir", t.TempDir(), "--allow-url", allow)
		if got.code != cli.ExitDone || !strings.Contains(got.out, "installed pdf") || asked.Load() == before {
			t.Errorf("%s: %+v, and the proxy was asked %d times", source, got, asked.Load()-before)
		}
	}
	for _, source := range []string{"https://10.0.0.1/skills.git@v1", "https://intranet/skills.git@v1", "https://10.0.0.1/skills.zip", "https://10.0.0.1"} {
		before := asked.Load()
		got := program(t, nil, "", "install", source, "--dir", t.TempDir())
		if got.code == cli.ExitDone || !strings.Contains(got.err, "address not allowed") || asked.Load() != before {
			t.Errorf("%s: %+v, and the proxy was asked %d times", source, got, asked.Load()-before)
		}
	}
}
