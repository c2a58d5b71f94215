package run_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/protocol/internal/run"
)

// TestFetch has the fetch of runs go through a proxy, by HTTP and by CONNECT.
func TestFetch(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || !slices.Contains(run.Languages(t.Context(), nil), "javascript") {
		t.Log("without node: not tried")
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s", r.Method, r.Header.Get("Authorization"), body)
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusSeeOther) })
	mux.HandleFunc("/packed", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, `{"packed": true}`)
		_ = z.Close()
	})
	plain, secure := httptest.NewServer(mux), httptest.NewTLSServer(mux)
	defer plain.Close()
	defer secure.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.Host, "evil.test"):
			http.Error(w, "not allowed", http.StatusForbidden)
		case r.Method == http.MethodConnect:
			to, err := net.Dial("tcp", secure.Listener.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			from, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			_, _ = io.Copy(from, to)
			_ = from.Close()
		case r.URL.Host != "some.test": // a request to a proxy has an absolute URL
			http.Error(w, "want http://some.test/", http.StatusBadRequest)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	defer proxy.Close()
	program := filepath.Join(t.TempDir(), "x.js")
	if err := os.WriteFile(program, []byte(`
require(process.argv[2]);
(async () => {
  const text = async (...args) => (await fetch(...args)).text();
  const out = [];
  out.push(await text("http://some.test/echo"));
  out.push(await text("https://some.test/echo", { method: "POST", body: "é", headers: { authorization: "x" } }));
  out.push(await text("https://some.test/moved", { method: "POST", body: "gone" }));
  out.push((await (await fetch(new Request("https://some.test/packed"))).json()).packed);
  out.push((await fetch("http://evil.test/")).status);
  for (const url of ["https://evil.test/", "file:///etc/passwd"]) out.push(await fetch(url).then(() => "reached", (e) => e.name));
  console.log(JSON.stringify(out));
})();
`), 0o644); err != nil {
		t.Fatal(err)
	}
	helper, err := filepath.Abs("lib/fetch.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, program, helper)
	cmd.Env = []string{"http_proxy=" + proxy.URL, "https_proxy=" + proxy.URL, "NODE_USE_ENV_PROXY=1", "NODE_TLS_REJECT_UNAUTHORIZED=0"}
	out, err := cmd.Output()
	want := `["GET  ","POST x é","GET  ",true,403,"TypeError","TypeError"]`
	if strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}
