package catalog_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/archive"
)

const pdfSkill = `---
name: pdf
description: Fills in and merges PDF files. Use it when a task names a PDF.
---
Read forms.md before you fill in a form.
`

func ExampleOpen() {
	builtin := fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte(pdfSkill)},
		"pdf/forms.md": {Data: []byte("Fields first.")},
	}
	ctx := context.Background()
	c, err := catalog.Open(ctx, []catalog.Root{
		catalog.Dir(".agents/skills").Optional(), // wins a name over what is built in
		catalog.FS("builtin", builtin),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	for _, skill := range c.Snapshot().Skills() {
		fmt.Println(skill.Name, skill.Place)
	}
	_, body, err := c.Body(ctx, "pdf")
	fmt.Println(body.Text, err)
	fmt.Println(c.Docs(ctx, "pdf"))
	fmt.Println(c.Snapshot().Suggest("pfd"))
	// Output:
	// pdf builtin/pdf/SKILL.md
	// Read forms.md before you fill in a form. <nil>
	// [forms.md] <nil>
	// [pdf]
}

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

	c, err := catalog.Open(context.Background(), []catalog.Root{catalog.Dir(dir)})
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
	root := catalog.FS("builtin", fstest.MapFS{
		"pdf/SKILL.md":   {Data: []byte(pdfSkill)},
		"notes/SKILL.md": {Data: []byte("# No front matter\n")},
	})
	c, err := catalog.Open(context.Background(), []catalog.Root{root})
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
	c, err := catalog.Open(context.Background(), []catalog.Root{catalog.Plugin(dir)})
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
	// A server of skills; the rules refuse loopback addresses unless they are allowed.
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, pdfSkill)
	}))
	defer server.Close()
	cache, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(cache)

	root := catalog.Archive(server.URL+"/pdf/SKILL.md", catalog.ArchiveOptions{
		CacheDir: cache,
		Options: archive.Options{
			Client: server.Client(),
			Allow:  func(address *url.URL) bool { return address.Hostname() == "127.0.0.1" },
		},
	})
	c, err := catalog.Open(context.Background(), []catalog.Root{root})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, skill := range c.Snapshot().Skills() {
		fmt.Println(skill.Name)
	}
	// Output: pdf
}

func ExampleWatch() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	c, err := catalog.Open(ctx, []catalog.Root{catalog.Dir(dir)})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	changed := make(chan *catalog.Snapshot, 1)
	watcher := catalog.Watch(ctx, c, catalog.WatchOptions{Poll: time.Second, Changed: func(_ context.Context, s *catalog.Snapshot) {
		if len(s.Skills()) > 0 {
			select {
			case changed <- s:
			default: // the first is enough here
			}
		}
	}})
	defer watcher.Close()

	if err := os.Mkdir(filepath.Join(dir, "pdf"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte(pdfSkill), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println((<-changed).Skills()[0].Name)
	// Output: pdf
}

func ExampleTrustFile() {
	dir, err := os.MkdirTemp("", "satchel")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	root := catalog.Dir(dir).In(catalog.Project)
	trusted := catalog.TrustFile(filepath.Join(dir, "trusted.json"))
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

func ExampleReading() {
	c, err := catalog.Open(context.Background(), []catalog.Root{
		catalog.FS("builtin", fstest.MapFS{"notes/SKILL.md": {Data: []byte("---\nname: notes\ndescription: Takes notes.\n---\nWrite them down.\n")}}),
		catalog.Reading(catalog.WithMaxDepth(1)),
	})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Println(c.Snapshot().Len())
	// Output: 1
}
