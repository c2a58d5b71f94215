package source_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/catalogtest"
	"github.com/satchel-go/satchel/catalog/source"
)

// indexed is an entry of an index.
type indexed struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// host is a server that publishes skills in a well-known index.
type host struct {
	*httptest.Server
	cache string

	mu     sync.Mutex
	skills map[string]map[string]string // files by skill
	extra  []any                        // more entries
	// answer, if set, answers a request instead. It returns false for requests that it leaves alone.
	answer func(w http.ResponseWriter, r *http.Request) bool
	asked  map[string]int // requests by path
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{cache: t.TempDir(), skills: map[string]map[string]string{}, asked: map[string]int{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *host) put(skill, path, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.skills[skill] == nil {
		h.skills[skill] = map[string]string{}
	}
	h.skills[skill][path] = text
}

// ServeHTTP serves the index and an archive for each skill, with ETags.
func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.asked[r.URL.Path]++
	answer := h.answer
	h.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	data := h.index()
	if name, ok := strings.CutPrefix(r.URL.Path, "/skills/"); ok {
		data = packed(h.skills[strings.TrimSuffix(name, ".tar.gz")])
	} else if r.URL.Path != "/.well-known/agent-skills/index.json" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", `"`+digest(data)+`"`)
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(data)
}

func (h *host) index() []byte {
	var entries []any
	for _, name := range slices.Sorted(maps.Keys(h.skills)) {
		text := h.skills[name]["SKILL.md"]
		_, description, _ := strings.Cut(text, "description: ")
		description, _, _ = strings.Cut(description, "\n")
		entries = append(entries, indexed{name, "archive", description, "/skills/" + name + ".tar.gz", "sha256:" + digest(packed(h.skills[name]))})
	}
	data, err := json.Marshal(map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": append(append([]any{}, h.extra...), entries...),
	})
	if err != nil {
		panic(err)
	}
	return data
}

// packed returns the files as a .tar.gz.
func packed(files map[string]string) []byte {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			panic(err)
		}
		_, _ = w.Write([]byte(files[name]))
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func skillMD(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nDo it.\n", name, description)
}

// options allow the host, whose address is loopback.
func (h *host) options() source.ArchiveOptions {
	return source.ArchiveOptions{CacheDir: h.cache, Allow: func(u *url.URL) bool { return "http://"+u.Host == h.URL }}
}

// age lets six minutes pass since the host was last asked.
func (h *host) age(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.cache, "url-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		var record map[string]any
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &record)
		}
		if err != nil {
			t.Fatal(err)
		}
		record["checked"] = time.Now().Add(-6 * time.Minute)
		if data, err = json.Marshal(record); err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (h *host) scan(t *testing.T, s source.Source, prev *source.Listing) *source.Listing {
	t.Helper()
	h.age(t)
	l, err := s.Scan(t.Context(), prev)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWellKnownIsASource(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		h := newHost(t)
		return catalogtest.Library{
			Source: source.WellKnown(h.URL, h.options()).Source(),
			Put: func(t *testing.T, skill, path, text string) {
				h.put(skill, path, text)
				h.age(t)
			},
			Delete: func(t *testing.T, skill string) {
				h.mu.Lock()
				defer h.mu.Unlock()
				delete(h.skills, skill)
				h.age(t)
			},
		}
	})
}

// TestWellKnownDownloads counts what is fetched: the index alone for a list, the files of a skill
// at its first use, and each only once in five minutes.
func TestWellKnownDownloads(t *testing.T) {
	h := newHost(t)
	h.put("pdf", "SKILL.md", skillMD("pdf", "Fills in PDF forms."))
	h.put("pdf", "forms.md", "Forms.")
	h.put("csv", "SKILL.md", skillMD("csv", "Reads tables."))
	root := source.WellKnown(h.URL+"/", h.options())
	open := func() *catalog.Catalog {
		c, err := catalog.Open(t.Context(), []source.Root{root})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	c := open()
	if names := fmt.Sprint(c.Snapshot().Len()); names != "2" {
		t.Fatalf("%s skills: %v", names, c.Snapshot().Diagnostics())
	}
	found, err := c.Search(t.Context(), catalog.Query{Phrasings: []string{"fill in a pdf form"}})
	if err != nil || len(found.Hits) == 0 || found.Hits[0].Skill.Name != "pdf" {
		t.Errorf("search: %+v, %v", found, err)
	}
	const index, pdf, csv = "/.well-known/agent-skills/index.json", "/skills/pdf.tar.gz", "/skills/csv.tar.gz"
	want := func(what string, indexes, pdfs, csvs int) {
		t.Helper()
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.asked[index] != indexes || h.asked[pdf] != pdfs || h.asked[csv] != csvs {
			t.Errorf("%s: requests %v", what, h.asked)
		}
	}
	want("listed and searched", 1, 0, 0)
	for range 2 {
		if _, body, err := c.Body(t.Context(), "pdf"); err != nil || body.Text != "Do it." {
			t.Errorf("body: %+v, %v", body, err)
		}
		if doc, err := c.Doc(t.Context(), "pdf", "forms.md"); err != nil || doc.Text != "Forms." {
			t.Errorf("doc: %+v, %v", doc, err)
		}
	}
	want("read", 1, 1, 0)
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	open()
	want("refreshed at once, and opened again", 1, 1, 0)
	h.age(t)
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	want("refreshed later", 2, 1, 0)
	h.put("pdf", "SKILL.md", skillMD("pdf", "Fills in and signs PDF forms."))
	h.age(t)
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	if skill, _ := c.Snapshot().Skill("pdf"); skill.Description != "Fills in and signs PDF forms." || !skill.OnDemand {
		t.Errorf("after a change: %+v", skill)
	}
	want("changed", 3, 1, 0)
	h.Close()
	h.age(t)
	again := open()
	if again.Snapshot().Len() != 2 || len(again.Snapshot().Diagnostics()) != 1 || !strings.Contains(again.Snapshot().Diagnostics()[0].Message, "the index that was fetched last is used") {
		t.Errorf("the host is down: %v", again.Snapshot().Diagnostics())
	}
	if _, _, err := again.Body(t.Context(), "csv"); err == nil {
		t.Error("files that were never fetched are read")
	}
}

// TestWellKnownBadEntries checks that an entry that is not valid is a diagnostic and hides no
// other, and that no request is made for it.
func TestWellKnownBadEntries(t *testing.T) {
	h := newHost(t)
	h.put("pdf", "SKILL.md", skillMD("pdf", "Fills in PDF forms."))
	sum := "sha256:" + strings.Repeat("a", 64)
	for what, entry := range map[string]any{
		"another origin":         indexed{"a", "archive", "A.", "https://evil.example/a.zip", sum},
		"another port":           indexed{"a", "archive", "A.", "http://127.0.0.1:1/a.zip", sum},
		"user info":              indexed{"a", "archive", "A.", strings.Replace(h.URL, "http://", "http://user:secret@", 1) + "/a.zip", sum},
		"a name with a slash":    indexed{"../a", "archive", "A.", "/a.zip", sum},
		"a name with a space":    indexed{"a b", "archive", "A.", "/a.zip", sum},
		"no name":                indexed{"", "archive", "A.", "/a.zip", sum},
		"no description":         indexed{"a", "archive", " ", "/a.zip", sum},
		"a long description":     indexed{"a", "archive", strings.Repeat("a", 20<<10), "/a.zip", sum},
		"an unknown type":        indexed{"a", "plugin", "A.", "/a.zip", sum},
		"no url":                 indexed{"a", "archive", "A.", "", sum},
		"a url that is none":     indexed{"a", "archive", "A.", "http://%zz", sum},
		"a file":                 indexed{"a", "archive", "A.", "file:///etc/passwd", sum},
		"no digest":              indexed{"a", "archive", "A.", "/a.zip", ""},
		"another digest":         indexed{"a", "archive", "A.", "/a.zip", "sha512:" + strings.Repeat("a", 128)},
		"a short digest":         indexed{"a", "archive", "A.", "/a.zip", "sha256:abc"},
		"a number":               7,
		"a name that is a list":  map[string]any{"name": []int{1}},
		"a skill that is listed": indexed{"pdf", "archive", "A.", "/skills/pdf.tar.gz", sum},
	} {
		h.mu.Lock()
		h.extra = []any{entry}
		if what == "a skill that is listed" { // the first one counts
			h.extra = []any{map[string]any{"name": "pdf"}, indexed{"csv", "archive", "A.", "/a.zip", sum}, indexed{"csv", "archive", "A.", "/a.zip", sum}}
		}
		h.mu.Unlock()
		l := h.scan(t, source.WellKnown(h.URL, h.options()).Source(), nil)
		if len(l.Diagnostics) == 0 || !strings.Contains(l.Diagnostics[0].Message, "not used: ") || !slices.ContainsFunc(l.Entries, func(e source.Entry) bool { return e.ID == "pdf" }) {
			t.Errorf("%s: %d entries, %v", what, len(l.Entries), l.Diagnostics)
		}
		for _, d := range l.Diagnostics {
			if strings.Contains(d.Message+d.File, "secret") {
				t.Errorf("%s: %v shows a password", what, d)
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.asked) != 1 {
		t.Errorf("requests: %v", h.asked)
	}
}

// TestWellKnownHostileIndex checks that an index which cannot be used is an error of Scan.
func TestWellKnownHostileIndex(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"skills":[]}`))
	}))
	defer other.Close()
	for what, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		"a redirect to another origin": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, "another origin"},
		"a body without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 64<<10)); err != nil {
					return
				}
			}
		}, "larger than 4194304 bytes"},
		"a slow body": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(`{"skills":[`))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, "deadline exceeded"},
		"no JSON":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "it is no JSON"},
		"a list":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }, "it is no object with a list of skills"},
		"no skills": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }, "no list of skills"},
		"another version": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"$schema":"x/0.9.0/s.json","skills":[]}`))
		}, "want discovery 0.2.0"},
		"deep": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"skills":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + "}"))
		}, "it is no JSON"},
		"many entries": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"skills":[0` + strings.Repeat(",0", 10_000) + "]}"))
		}, "more than 10000 entries"},
		"not modified at once": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, "304"},
		"an error":             {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "500"},
	} {
		t.Run(what, func(t *testing.T) {
			h := newHost(t)
			h.answer = func(w http.ResponseWriter, r *http.Request) bool { c.answer(w, r); return true }
			opts := h.options()
			if what == "a slow body" {
				opts.Timeout = 100 * time.Millisecond
			}
			opts.Allow = func(u *url.URL) bool { return u.Hostname() == "127.0.0.1" }
			l, err := source.WellKnown(h.URL, opts).Source().Scan(t.Context(), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v, %v, want %q", l, err, c.want)
			}
			if left, _ := filepath.Glob(filepath.Join(h.cache, ".*load-*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestWellKnownHostileFiles checks that files which are not what the index lists are never read.
func TestWellKnownHostileFiles(t *testing.T) {
	good := packed(map[string]string{"SKILL.md": skillMD("pdf", "Fills in PDF forms.")})
	for what, c := range map[string]struct {
		data   []byte
		sum    string // "" for that of data
		answer func(w http.ResponseWriter, r *http.Request)
		want   error
		says   string
	}{
		"another digest":   {data: good, sum: digest(nil), want: source.ErrGone, says: "pinned is"},
		"another name":     {data: packed(map[string]string{"SKILL.md": skillMD("xls", "Reads tables.")}), says: `the index calls it "pdf"`},
		"no SKILL.md":      {data: packed(map[string]string{"a/b/SKILL.md": skillMD("pdf", "P.")}), says: "no SKILL.md at its top"},
		"no front matter":  {data: packed(map[string]string{"SKILL.md": "Text."}), says: "front matter"},
		"leaves the cache": {data: packed(map[string]string{"../SKILL.md": skillMD("pdf", "P.")}), says: "leaves the archive"},
		"no archive":       {data: []byte("{}"), says: "neither zip nor tar nor a SKILL.md"},
		"a redirect": {data: good, answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/x.zip", http.StatusFound)
		}, says: "another origin"},
		"a body without end": {data: good, answer: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, says: "larger than 1048576 bytes"},
		"a short body": {data: good, answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(good)
		}, says: "unexpected EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			h := newHost(t)
			sum := c.sum
			if sum == "" {
				sum = digest(c.data)
			}
			h.extra = []any{indexed{"pdf", "archive", "Fills in PDF forms.", h.URL + "/x.tar.gz", "sha256:" + sum}}
			h.answer = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/x.tar.gz" {
					return false
				}
				if c.answer != nil {
					c.answer(w, r)
				} else {
					_, _ = w.Write(c.data)
				}
				return true
			}
			opts := h.options()
			opts.MaxDownload = 1 << 20
			s := source.WellKnown(h.URL, opts).Source()
			e := h.scan(t, s, nil).Entries[0]
			files, err := s.Open(t.Context(), e.ID, e.Revision)
			if err == nil || !strings.Contains(err.Error(), c.says) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, %v, want %q", files, err, c.says)
			}
		})
	}
}

// TestWellKnownSkillFile reads a skill that is a single file, and one with links.
func TestWellKnownSkillFile(t *testing.T) {
	h := newHost(t)
	text := skillMD("notes", "Takes notes.")
	h.extra = []any{indexed{"notes", "skill-md", "Takes notes.", "notes/SKILL.md", "sha256:" + digest([]byte(text))}}
	h.answer = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/.well-known/agent-skills/notes/SKILL.md" {
			return false
		}
		_, _ = w.Write([]byte(text))
		return true
	}
	s := source.WellKnown(h.URL, h.options()).Source()
	e := h.scan(t, s, nil).Entries[0]
	files, err := s.Open(t.Context(), e.ID, e.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := fs.ReadFile(files, "SKILL.md"); err != nil || string(data) != text {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"..", "../x", "/etc/passwd", "none"} {
		if _, err := files.Open(name); err == nil {
			t.Errorf("%s was opened", name)
		}
	}
}

func TestWellKnownAddresses(t *testing.T) {
	for _, address := range []string{
		"https://user@example.com", "https://example.com/skills", "https://example.com?x", "ftp://example.com", "file:///tmp", "example.com", "", "https://", "http://example.com",
		"http://127.0.0.1:1", "https://127.0.0.1:1", "https://%zz",
	} {
		if l, err := source.WellKnown(address, source.ArchiveOptions{CacheDir: t.TempDir()}).Source().Scan(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "address not allowed") {
			t.Errorf("%s: %v, %v", address, l, err)
		}
	}
}
