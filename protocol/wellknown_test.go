package protocol_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol"
)

func write(t *testing.T, dir string, mode fs.FileMode, path, text string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestWellKnown publishes skills of a server with tokens, and reads them as other hosts do.
func TestWellKnown(t *testing.T) {
	dir := t.TempDir()
	const front = "---\nname: NAME\ndescription: Does NAME.\n"
	skill := func(folder, name, more string) {
		write(t, dir, 0o644, folder+"/SKILL.md", strings.ReplaceAll(front, "NAME", name)+more+"---\nBody.\n")
	}
	skill("notes", "notes", "")
	skill("pdf", "pdf", "")
	write(t, dir, 0o755, "pdf/scripts/fill.sh", "echo\n")
	skill("hidden", "hidden", "disable-model-invocation: true\n")
	skill("odd", "Odd Name", "")
	files, err := source.Open(t.Context(), source.Dir(dir), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	open := func(opts ...protocol.Option) *httptest.Server {
		refuse := func(*http.Request) (protocol.Principal, error) { return protocol.Principal{}, errors.New("no token") }
		s, err := protocol.Open(t.Context(), append(opts, protocol.WithSkills(files), protocol.WithAuth(refuse))...)
		if err != nil {
			t.Fatal(err)
		}
		at := httptest.NewServer(s.Handler())
		t.Cleanup(func() {
			at.Close()
			_ = s.Close(context.Background())
		})
		return at
	}
	at := open(protocol.WithWellKnown())
	ask := func(method, path, etag string) (int, string, http.Header) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		return got.StatusCode, string(text), got.Header
	}
	const base = "/.well-known/agent-skills/"
	for path, want := range map[string]int{
		"index.json": 200, "notes/SKILL.md": 200, "pdf.tar.gz": 200, "pdf/SKILL.md": 404, "notes.tar.gz": 404, "hidden/SKILL.md": 404,
		"hidden.tar.gz": 404, "pdf": 404, "": 404, "pdf/scripts/fill.sh": 404, "..%2f..%2fpdf/SKILL.md": 404,
	} {
		status, text, header := ask(http.MethodGet, at.URL+base+path, "")
		if status != want {
			t.Errorf("%s: %d %s, want %d", path, status, text, want)
		}
		if status != 200 {
			continue
		}
		if again, _, _ := ask(http.MethodGet, at.URL+base+path, header.Get("ETag")); again != http.StatusNotModified {
			t.Errorf("%s again: %d", path, again)
		}
		if status, text, _ := ask(http.MethodHead, at.URL+base+path, ""); status != 200 || text != "" {
			t.Errorf("HEAD %s: %d %q", path, status, text)
		}
		if status, _, _ := ask(http.MethodPost, at.URL+base+path, ""); status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	if status, _, _ := ask(http.MethodGet, open().URL+base+"index.json", ""); status != 404 {
		t.Errorf("a server that publishes nothing: %d", status)
	}

	client := func() (source.Source, *source.Listing) {
		s := source.WellKnown(at.URL, source.ArchiveOptions{CacheDir: t.TempDir(), Allow: func(u *url.URL) bool { return "http://"+u.Host == at.URL }}).Source()
		l, err := s.Scan(t.Context(), nil)
		if err != nil || len(l.Diagnostics) > 0 {
			t.Fatalf("%+v, %v", l, err)
		}
		return s, l
	}
	s, l := client()
	if len(l.Entries) != 2 || l.Entries[0].ID != "notes" || l.Entries[1].ID != "pdf" {
		t.Fatalf("listed: %+v", l.Entries)
	}
	for _, e := range l.Entries {
		tree, err := s.Open(t.Context(), e.ID, e.Revision)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := fs.ReadFile(tree, "SKILL.md"); err != nil || !strings.Contains(string(text), "Does "+e.ID) {
			t.Errorf("%s: %q, %v", e.ID, text, err)
		}
		if info, err := fs.Stat(tree, "scripts/fill.sh"); e.ID == "pdf" && (err != nil || info.Mode()&0o111 == 0) {
			t.Errorf("the script: %v, %v", info, err)
		}
	}
	skill("pdf", "pdf", "license: MIT\n")
	s, next := client()
	for end := time.Now().Add(10 * time.Second); next.Entries[1].Revision == l.Entries[1].Revision; s, next = client() {
		if time.Now().After(end) { // on a slow machine the server waits for the news of its watcher
			t.Fatal("a change is not seen")
		}
	}
	e := next.Entries[1]
	if tree, err := s.Open(t.Context(), e.ID, e.Revision); err != nil {
		t.Error(err)
	} else if text, err := fs.ReadFile(tree, "SKILL.md"); err != nil || !strings.Contains(string(text), "MIT") {
		t.Errorf("after a change: %q, %v", text, err)
	}
}
