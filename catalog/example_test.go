package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
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
	c, err := catalog.Open(ctx, []source.Root{
		source.Dir(".agents/skills").Optional(), // its skills take precedence over built-in ones of the same name
		source.FS("builtin", builtin),
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

func ExampleCatalog_Watch() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	c, err := catalog.Open(ctx, []source.Root{source.Dir(dir)})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	changed := make(chan *catalog.Snapshot, 1)
	stop := c.Watch(ctx, catalog.WatchOptions{Poll: time.Second, Changed: func(_ context.Context, s *catalog.Snapshot) {
		if len(s.Skills()) > 0 {
			select {
			case changed <- s:
			default: // the example needs only the first snapshot
			}
		}
	}})
	defer func() { _ = stop() }()

	if err := os.Mkdir(filepath.Join(dir, "pdf"), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pdf", "SKILL.md"), []byte(pdfSkill), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println((<-changed).Skills()[0].Name)
	// Output: pdf
}

func ExampleWithReading() {
	builtin := source.FS("builtin", fstest.MapFS{"notes/SKILL.md": {Data: []byte("---\nname: notes\ndescription: Takes notes.\n---\nWrite them down.\n")}})
	c, err := catalog.Open(context.Background(), []source.Root{builtin}, catalog.WithReading(source.Reading{MaxDepth: 1}))
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Println(c.Snapshot().Len())
	// Output: 1
}
