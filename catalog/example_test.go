package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
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
