package source_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

const pdfSkill = `---
name: pdf
description: Fills in and merges PDF files. Use it when a task names a PDF.
---
Read forms.md before you fill in a form.
`

func ExampleDir() {
	base, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(base)
	dir := filepath.Join(base, "skills")
	if err := os.MkdirAll(filepath.Join(dir, "pdf"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte(pdfSkill), 0o644); err != nil {
		log.Fatal(err)
	}

	c, err := catalog.Open(context.Background(), []source.Root{source.Dir(dir)})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	skill, ok := c.Snapshot().Skill("pdf")
	fmt.Println(skill.Place, ok)
	// Output: skills/pdf/SKILL.md true
}

func ExampleFS() {
	// Any fs.FS will do: an embed.FS, the contents of a zip file, ...
	root := source.FS("builtin", fstest.MapFS{
		"pdf/SKILL.md":   {Data: []byte(pdfSkill)},
		"notes/SKILL.md": {Data: []byte("# No front matter\n")},
	})
	c, err := catalog.Open(context.Background(), []source.Root{root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	fmt.Println(c.Snapshot().Len(), "skill")
	for _, d := range c.Snapshot().Diagnostics() {
		fmt.Println(d.File, d.Code)
	}
	// Output:
	// 1 skill
	// builtin/notes/SKILL.md frontmatter-missing
}

func ExamplePlugin() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for path, text := range map[string]string{".claude-plugin/plugin.json": `{"name": "office"}`, "skills/pdf/SKILL.md": pdfSkill} {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	c, err := catalog.Open(context.Background(), []source.Root{source.Plugin(dir)})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, skill := range c.Snapshot().Skills() {
		fmt.Println(skill.Name, skill.ID, skill.Scope)
	}
	// Output: pdf plugin:office:pdf plugin
}

func ExampleArchive() {
	// The server listens on loopback, which the default rules refuse.
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, pdfSkill)
	}))
	defer server.Close()
	cache, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)

	root := source.Archive(server.URL+"/pdf/SKILL.md", source.ArchiveOptions{
		CacheDir: cache,
		Client:   server.Client(),
		Allow:    func(address *url.URL) bool { return address.Hostname() == "127.0.0.1" },
	})
	c, err := catalog.Open(context.Background(), []source.Root{root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, skill := range c.Snapshot().Skills() {
		fmt.Println(skill.Name)
	}
	// Output: pdf
}

func ExampleWellKnown() {
	sum := sha256.Sum256([]byte(pdfSkill))
	index := fmt.Sprintf(`{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
		"skills": [{"name": "pdf", "type": "skill-md", "description": "Fills in and merges PDF files.", "url": "pdf/SKILL.md", "digest": "sha256:%x"}]
	}`, sum)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/agent-skills/index.json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, index) })
	mux.HandleFunc("GET /.well-known/agent-skills/pdf/SKILL.md", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Println("the file is fetched")
		fmt.Fprint(w, pdfSkill)
	})
	// The server listens on loopback, which the default rules refuse.
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	cache, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)

	// With an address such as https://example.com no options are needed.
	root := source.WellKnown(server.URL, source.ArchiveOptions{
		CacheDir: cache,
		Client:   server.Client(),
		Allow:    func(address *url.URL) bool { return address.Hostname() == "127.0.0.1" },
	})
	c, err := catalog.Open(context.Background(), []source.Root{root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, skill := range c.Snapshot().Skills() {
		fmt.Println(skill.Name+":", skill.Description)
	}
	_, body, err := c.Body(context.Background(), "pdf")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(body.Text)
	// Output:
	// pdf: Fills in and merges PDF files.
	// the file is fetched
	// Read forms.md before you fill in a form.
}

func ExampleTrustFile() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	root := source.Dir(dir).In(core.ScopeProject)
	trusted := source.TrustFile(filepath.Join(dir, "trusted.json"))
	fmt.Println(trusted.Trusts(ctx, root))
	if _, err := trusted.Add(dir); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trusted.Trusts(ctx, root))
	// Output:
	// false <nil>
	// true <nil>
}
