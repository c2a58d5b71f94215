package tracing

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

func TestPageHandler(t *testing.T) {
	h := &pageHandler{host: "127.0.0.1:4000", path: "/KEY/", policy: "default-src 'none'; script-src 'sha256-x'", page: func() []byte { return []byte("<h1>page</h1>") }}
	for name, test := range map[string]struct {
		method, host, path string
		code               int
		body               string
	}{
		"the page":        {"GET", "127.0.0.1:4000", "/KEY/", 200, "<h1>page</h1>"},
		"its header":      {"HEAD", "127.0.0.1:4000", "/KEY/", 200, ""},
		"a query":         {"GET", "127.0.0.1:4000", "/KEY/?x=1", 200, "<h1>page</h1>"},
		"without the key": {"GET", "127.0.0.1:4000", "/", 404, "not found\n"},
		"another key":     {"GET", "127.0.0.1:4000", "/YEK/", 404, "not found\n"},
		"another path":    {"GET", "127.0.0.1:4000", "/KEY/x", 404, "not found\n"},
		"another host":    {"GET", "evil.example:4000", "/KEY/", 403, "unknown host\n"},
		"another port":    {"GET", "127.0.0.1:4001", "/KEY/", 403, "unknown host\n"},
		"another method":  {"POST", "127.0.0.1:4000", "/KEY/", 405, "method not allowed\n"},
	} {
		r := httptest.NewRequest(test.method, "http://"+test.host+test.path, nil)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != test.code || test.method != http.MethodHead && w.Body.String() != test.body {
			t.Errorf("%s: code %d, body %q", name, w.Code, w.Body)
		}
		header := w.Header()
		if header.Get("Referrer-Policy") != "no-referrer" || header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(header.Get("Content-Security-Policy"), "default-src 'none'; ") {
			t.Errorf("%s: header %v", name, header)
		}
		if got := strings.Contains(header.Get("Content-Security-Policy"), "sha256-x"); got != (test.code == 200) {
			t.Errorf("%s: policy %q", name, header.Get("Content-Security-Policy"))
		}
	}
}

func TestListen(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", ""} {
		if l, err := listen(t.Context(), address); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%q: %v", address, err)
			_ = l.Close()
		}
	}
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := listen(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := listen(t.Context(), l.Addr().String()); !errors.Is(err, cli.ErrStart) || errors.Is(err, cli.ErrUsage) {
			t.Errorf("a port that is taken: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A reload shows what was written since, also in new files of a directory. Files that cannot be read leave the page
// as it was.
func TestServedPageOfFilesThatGrow(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	write := func(name, session, version string) {
		t.Helper()
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintf(f, `{"v":%s,"event":"turn","seq":1,"time":"2026-11-29T00:00:00Z","session":%q,"turn":1,"prompt":"hi"}`+"\n", version, session)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var errs strings.Builder
	served := servedPage{files: &Files{Files: []string{dir}}, console: cli.Console{Err: &errs}}
	write(file, "session-f", "1")
	if err := served.write(); err != nil {
		t.Fatal(err)
	}
	check := func(about string, want ...string) {
		t.Helper()
		html := string(served.current())
		for _, session := range []string{"session-f", "session-s", "session-t"} {
			if strings.Contains(html, session) != slices.Contains(want, session) {
				t.Errorf("%s: the page has %s: %v", about, session, !slices.Contains(want, session))
			}
		}
	}
	check("at first", "session-f")
	before := &served.html[0]
	if check("without a change", "session-f"); &served.html[0] != before {
		t.Error("the page was written again without a change")
	}
	write(file, "session-s", "1")
	check("after a line", "session-f", "session-s")
	write(filepath.Join(dir, "b.jsonl"), "session-t", "2")
	check("with a file of another version", "session-f", "session-s")
	if check("again", "session-f", "session-s"); strings.Count(errs.String(), "unknown version") != 1 {
		t.Errorf("standard error is %q", errs.String())
	}
	if err := os.Remove(filepath.Join(dir, "b.jsonl")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "b.jsonl"), "session-t", "1")
	check("with a further file", "session-f", "session-s", "session-t")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	check("without the files", "session-f", "session-s", "session-t")
}
