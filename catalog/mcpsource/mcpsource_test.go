package mcpsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/catalogtest"
	"github.com/satchel-go/satchel/catalog/source"
)

func TestConformance(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		w := newSkillServer()
		return catalogtest.Library{
			Source: w.open(t),
			Put:    func(_ *testing.T, skill, path, text string) { w.put(skill, path, text) },
			Delete: func(_ *testing.T, skill string) { w.remove(skill) },
		}
	})
}

// TestCatalog lists a thousand skills without reading a file, and loads one. A local skill has the
// same name.
func TestCatalog(t *testing.T) {
	w := newSkillServer()
	for i := range 999 {
		w.put(fmt.Sprintf("s-%d", i), "SKILL.md", text(fmt.Sprintf("s-%d", i), "Many."))
	}
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	w.put("pdf", "docs/a.md", "About.\n")
	s := w.open(t)
	local := t.TempDir()
	if err := errors.Join(os.Mkdir(local+"/pdf", 0o755), os.WriteFile(local+"/pdf/SKILL.md", []byte(text("pdf", "Near.")), 0o644)); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), []source.Root{s.Root(), source.Dir(local)}, catalog.WithReading(source.Reading{ScanTimeout: patience}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n := c.Snapshot().Len(); n != 1001 || len(w.reads) != 0 {
		t.Fatalf("%d skills, %d reads", n, len(w.reads))
	}
	for ref, want := range map[string]string{"pdf": "Near.", "acme:pdf": "Far.", "acme:s-7": "Many."} {
		if k, err := c.Snapshot().Resolve(ref); err != nil || k.Description != want {
			t.Errorf("%s is %q, %v", ref, k.Description, err)
		}
	}
	k, body, err := c.Body(t.Context(), "acme:pdf")
	if err != nil || !strings.HasPrefix(body.Text, "[from the MCP server \"acme\"]\n\n") || !strings.HasSuffix(body.Text, "# Body of pdf") || !k.Repaired || !k.Unreviewed ||
		k.ID != "mcp:acme:skill://team/pdf/SKILL.md" || k.Origin != `the MCP server "acme"` {
		t.Errorf("%q %+v, %v", body.Text, k, err)
	}
	if doc, err := c.Doc(t.Context(), "acme:pdf", "docs/a.md"); err != nil || doc.Text != "[from the MCP server \"acme\"]\n\nAbout.\n" {
		t.Errorf("Doc: got %q, error %v, want %q", doc.Text, err, "[from the MCP server \"acme\"]\n\nAbout.\n")
	}
	if len(w.reads) != 2 || w.reads[0] != "skill://team/pdf/SKILL.md" || w.reads[1] != "skill://team/pdf/docs/a.md" {
		t.Errorf("read %q", w.reads)
	}
}

// TestChanged reads files that have changed since they were listed.
func TestChanged(t *testing.T) {
	w := newSkillServer()
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	w.put("pdf", "a.md", "About.\n")
	s := w.open(t)
	listing, err := s.Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 1 {
		t.Fatalf("Scan: got %+v, error %v, want 1 entry", listing, err)
	}
	e := listing.Entries[0]
	files, err := s.Open(t.Context(), e.ID, e.Revision)
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string) error {
		_, err := fs.ReadFile(files, path)
		return err
	}
	w.changeContent = func(_, text string) string { return strings.Replace(text, "o", "0", 1) }
	for _, path := range []string{"SKILL.md", "a.md"} {
		if err := read(path); !errors.Is(err, source.ErrDigest) || !strings.Contains(err.Error(), `" has changed at its server: approve it again`) {
			t.Errorf("%s with another byte: %v", path, err)
		}
	}
	if err := read("b.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not listed: %v", err)
	}
	w.changeContent = nil
	if err := errors.Join(read("a.md"), read("a.md"), read("SKILL.md")); err != nil {
		t.Error(err)
	}
	if n := len(w.reads); n != 4 { // two refused reads, and one more of each: the second read of a.md is cached
		t.Errorf("%d reads: %q", n, w.reads)
	}
	asked := w.getCalls
	w.put("pdf", "b.md", "New.\n")
	if files, err = s.Open(t.Context(), e.ID, e.Revision); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(read("SKILL.md"), read("a.md")); err != nil || !errors.Is(read("b.md"), fs.ErrNotExist) {
		t.Errorf("a file has come: %v", err)
	}
	if w.getCalls != asked {
		t.Errorf("skills/get was asked %d times for what is as it was listed", w.getCalls-asked)
	}
	w.remove("pdf")
	w.put("other", "SKILL.md", text("other", "Far."))
	fresh := w.open(t, withCacheBytes(1))
	listing, err = fresh.Scan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	e = listing.Entries[0]
	w.remove("other")
	if files, err = fresh.Open(t.Context(), e.ID, e.Revision); err != nil {
		t.Fatal(err)
	}
	if err := read("SKILL.md"); !errors.Is(err, source.ErrGone) || !strings.Contains(err.Error(), "has changed at its server") {
		t.Errorf("the skill has gone: %v", err)
	}
}

// TestFrontMatter has a SKILL.md whose fields are not those that were listed.
func TestFrontMatter(t *testing.T) {
	w := newSkillServer()
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	w.changeListed = func(e *wireListed) { e.Frontmatter["license"] = "MIT" }
	s := w.open(t)
	listing, err := s.Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 1 {
		t.Fatalf("Scan: got %+v, error %v, want 1 entry", listing, err)
	}
	files, err := s.Open(t.Context(), listing.Entries[0].ID, listing.Entries[0].Revision)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.ReadFile(files, "SKILL.md"); !errors.Is(err, source.ErrDigest) {
		t.Errorf("error %v", err)
	}
}

// TestHostileListings checks that each unusable entry is left out with a reason.
func TestHostileListings(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	folder := "skill://team/pdf/"
	file := func(uri string, size any) map[string]any {
		return map[string]any{"uri": uri, "digest": digest, "size": size}
	}
	own := file(folder+"SKILL.md", 1)
	many := []map[string]any{own}
	for i := range 512 {
		many = append(many, file(fmt.Sprintf("%s%d", folder, i), 1))
	}
	var deep any = 1
	for range 900 {
		deep = map[string]any{"a": deep}
	}
	for name, c := range map[string]struct {
		mend func(*wireListed)
		want string
	}{
		"dynamic":        {func(e *wireListed) { e.Resources = "dynamic" }, "dynamic"},
		"no files":       {func(e *wireListed) { e.Resources = nil }, "lists no files"},
		"files are text": {func(e *wireListed) { e.Resources = "all" }, "lists no files"},
		"many files":     {func(e *wireListed) { e.Resources = many }, "at most 512"},
		"large":          {func(e *wireListed) { e.Resources = []any{own, file(folder+"a", 16<<20)} }, "more than 16777216 bytes"},
		"larger":         {func(e *wireListed) { e.Resources = []any{own, file(folder+"a", 1<<62)} }, "no usable digest and size"},
		"negative":       {func(e *wireListed) { e.Resources = []any{own, file(folder+"a", -1)} }, "no usable digest and size"},
		"no size":        {func(e *wireListed) { e.Resources = []any{own, map[string]any{"uri": folder + "a", "digest": digest}} }, "no usable digest and size"},
		"no digest":      {func(e *wireListed) { e.Resources = []any{own, map[string]any{"uri": folder + "a", "size": 1}} }, "no usable digest and size"},
		"twice":          {func(e *wireListed) { e.Resources = []any{own, own} }, "twice"},
		"outside":        {func(e *wireListed) { e.Resources = []any{own, file("skill://team/other/a", 1)} }, "is no file of it"},
		"escape":         {func(e *wireListed) { e.Resources = []any{own, file(folder+"%2e%2e/a", 1)} }, "is no file of it"},
		"backslash":      {func(e *wireListed) { e.Resources = []any{own, file(folder+`a%5Cb`, 1)} }, "is no file of it"},
		"file in a file": {func(e *wireListed) { e.Resources = []any{own, file(folder+"a", 1), file(folder+"a/b/c", 1)} }, "is a file and a folder"},
		"without itself": {func(e *wireListed) { e.Resources = []any{file(folder+"a", 1)} }, "is not among its files"},
		"another name":   {func(e *wireListed) { e.Frontmatter["name"] = "csv" }, "not the end of its URI"},
		"no name":        {func(e *wireListed) { e.Frontmatter["name"] = 7 }, "no name of a skill"},
		"no description": {func(e *wireListed) { e.Frontmatter["description"] = " " }, "no description"},
		"no skill":       {func(e *wireListed) { e.URI = "skill://team/pdf/README.md" }, "none of a SKILL.md"},
		"control":        {func(e *wireListed) { e.URI = "skill://team/\x1b[2J/pdf/SKILL.md" }, "none of a SKILL.md"},
		"long path":      {func(e *wireListed) { e.Resources = []any{own, file(folder+strings.Repeat("a", 600), 1)} }, "whose path is too long"},
		"deep path":      {func(e *wireListed) { e.Resources = []any{own, file(folder+strings.Repeat("a/", 33)+"b", 1)} }, "whose path is too long"},
		"deep":           {func(e *wireListed) { e.Frontmatter["x"] = deep }, "its front matter is too large"},
		"large head":     {func(e *wireListed) { e.Frontmatter["x"] = strings.Repeat("x", 130<<10) }, "its front matter is too large"},
		"long":           {func(e *wireListed) { e.URI = "skill://" + strings.Repeat("a", 300) + "/pdf/SKILL.md" }, "too long"},
	} {
		w := newSkillServer()
		w.put("pdf", "SKILL.md", text("pdf", "Far."))
		w.changeListed = c.mend
		listing, err := w.open(t).Scan(t.Context(), nil)
		if err != nil || len(listing.Entries) != 0 || len(listing.Diagnostics) != 1 || !strings.Contains(listing.Diagnostics[0].Message, c.want) {
			t.Errorf("%s: %s, %v", name, encoded(listing), err)
		}
	}
}

// TestOddEntry checks that an entry that cannot be decoded does not affect the others.
func TestOddEntry(t *testing.T) {
	var got page
	err := json.Unmarshal([]byte(`[{"uri":"skill://a/SKILL.md"},{"uri":5},"x",{"uri":"skill://b/SKILL.md","resources":7}]`), &got)
	if err != nil || len(got) != 4 || got[0].URI == "" || got[1].URI != "" || got[3].URI == "" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, why := new(Source).newSkill(got[1]); why == "" {
		t.Error("an entry without a URI is used")
	}
}

// TestBounds checks the limit of skills, a skill that is not listed, and a server that does not
// answer.
func TestBounds(t *testing.T) {
	w := newSkillServer()
	for i := range 5 {
		w.put(fmt.Sprintf("s-%d", i), "SKILL.md", text(fmt.Sprintf("s-%d", i), "Many."))
	}
	listing, err := w.open(t, withMaxSkills(3)).Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 3 || len(listing.Diagnostics) != 1 || !strings.Contains(listing.Diagnostics[0].Message, "more than 3 skills") {
		t.Errorf("%s, %v", encoded(listing), err)
	}
	listing, err = w.open(t, withMaxSkills(0), WithURIs("skill://team/s-1/SKILL.md", "skill://team/none/SKILL.md")).Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 1 || len(listing.Diagnostics) != 2 {
		t.Errorf("%s, %v", encoded(listing), err)
	}
	w.cursor = strings.Repeat("c", 5<<10)
	listing, err = w.open(t).Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 5 || len(listing.Diagnostics) != 1 || !strings.Contains(listing.Diagnostics[0].Message, "a cursor of more than 4096 bytes") {
		t.Errorf("%s, %v", encoded(listing), err)
	}
	s := w.open(t)
	s.wait = time.Millisecond
	w.unblock = make(chan struct{})
	if _, err := s.Scan(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no answer in 1ms") {
		t.Errorf("a silent server: %v", err)
	}
	close(w.unblock)
	ours, _ := mcp.NewInMemoryTransports()
	for _, label := range []string{"", "Acme", "a b", strings.Repeat("a", 33)} {
		if _, err := Open(t.Context(), label, ours); err == nil || !strings.Contains(err.Error(), "label") {
			t.Errorf("%q: %v", label, err)
		}
	}
}

// What was read is cached within its bound in bytes.
func TestCacheBytes(t *testing.T) {
	for bytes, reads := range map[int]int{64: 1, 4: 2} {
		w := newSkillServer()
		w.put("pdf", "SKILL.md", text("pdf", "Far."))
		w.put("pdf", "a.md", "About.\n")
		s := w.open(t, withCacheBytes(bytes))
		listing, err := s.Scan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			files, err := s.Open(t.Context(), listing.Entries[0].ID, listing.Entries[0].Revision)
			if err != nil {
				t.Fatal(err)
			}
			if doc, err := fs.ReadFile(files, "a.md"); err != nil || string(doc) != "About.\n" {
				t.Errorf("ReadFile: got %q, error %v, want %q", doc, err, "About.\n")
			}
		}
		if len(w.reads) != reads {
			t.Errorf("with %d bytes %q were read", bytes, w.reads)
		}
	}
}

// TestHTTP reads by HTTP, bounded.
func TestHTTP(t *testing.T) {
	w := newSkillServer()
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	server := w.server(t)
	handler := http.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	defer at.Close()
	transport, err := HTTP(at.URL, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), "acme", transport, withWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	listing, err := s.Scan(t.Context(), nil)
	if err != nil || len(listing.Entries) != 1 {
		t.Fatalf("Scan: got %s, error %v, want 1 entry", encoded(listing), err)
	}
	handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		spaces := make([]byte, 1<<20)
		for range 40 {
			if _, err := w.Write(spaces); err != nil {
				return
			}
		}
	})
	if _, err := s.Scan(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "more than 33554432 bytes") {
		t.Errorf("an endless answer: %v", err)
	}
	for _, address := range []string{"http://example.com/mcp", "ftp://example.com", "x", "https://"} {
		if _, err := HTTP(address, nil, false); err == nil {
			t.Errorf("%s is taken", address)
		}
	}
}

// TestCommand ends a program that is no server.
func TestCommand(t *testing.T) {
	if _, err := exec.LookPath("cat"); err != nil {
		t.Log("cat is not installed: nothing is started")
		return
	}
	if s, err := Open(t.Context(), "acme", Command(exec.Command("cat", "/dev/null"))); err == nil {
		t.Error("a program that ends is a server", s.Close())
	}
}

// serveVar makes a copy of the test binary a server.
const serveVar = "MCPSOURCE_TEST_SERVER"

// TestStarted reads from a server that is started, which ends with the connection.
func TestStarted(t *testing.T) {
	w := newSkillServer()
	w.put("pdf", "SKILL.md", text("pdf", "Far."))
	if os.Getenv(serveVar) != "" {
		_ = w.server(t).Run(t.Context(), &mcp.StdioTransport{})
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestStarted$")
	cmd.Env = append(os.Environ(), serveVar+"=1")
	s, err := Open(t.Context(), "acme", Command(cmd), withWait(patience))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(t.Context(), []source.Root{s.Root()}, catalog.WithReading(source.Reading{ScanTimeout: patience}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, body, err := c.Body(t.Context(), "acme:pdf"); err != nil || !strings.Contains(body.Text, "Body of pdf") {
		t.Errorf("Body: got %q, error %v, want it to contain %q", body.Text, err, "Body of pdf")
	}
	if err := s.Close(); err != nil || cmd.ProcessState == nil {
		t.Errorf("closed: %v, %v", err, cmd.ProcessState)
	}
	if _, _, err := c.Body(t.Context(), "acme:pdf"); err != nil {
		t.Errorf("what was read is kept: %v", err)
	}
	if _, err := c.Refresh(t.Context()); err != nil || c.Snapshot().Len() != 1 {
		t.Errorf("of a dead server the listing stays: %d skills, %v", c.Snapshot().Len(), err)
	}
}

// TestManyDeep lists skills with deeply nested front matter. None is encoded as YAML, and a scan
// ends with its context.
func TestManyDeep(t *testing.T) {
	var deep any = 1
	for range 900 {
		deep = map[string]any{"a": deep}
	}
	w := newSkillServer()
	for i := range 50 {
		w.put(fmt.Sprintf("s-%d", i), "SKILL.md", text(fmt.Sprintf("s-%d", i), "Many."))
	}
	w.changeListed = func(e *wireListed) { e.Frontmatter["x"] = deep }
	s := w.open(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	listing, err := s.Scan(t.Context(), nil)
	runtime.ReadMemStats(&after)
	if err != nil || len(listing.Entries) != 0 || len(listing.Diagnostics) != 50 {
		t.Errorf("%d entries, %d diagnostics, %v", len(listing.Entries), len(listing.Diagnostics), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 60<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}
