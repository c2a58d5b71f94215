package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// A catalog without some files neither lists nor reads them, also through a link.
func TestWithoutFiles(t *testing.T) {
	files := map[string]string{
		"pdf/SKILL.md":            "---\nname: pdf\ndescription: Fills forms.\n---\nText.\n",
		"pdf/evals.json":          "{}",
		"pdf/evals.md":            "kept",
		"pdf/evals/evals.json":    "{}",
		"pdf/evals/deep/notes.md": "secret",
		"pdf/docs/evals/notes.md": "kept",
		"docx/SKILL.md":           "---\nname: docx\ndescription: Writes letters.\n---\nText.\n",
		"docx/evals/more.md":      "secret",
	}
	dir, inMemory := t.TempDir(), fstest.MapFS{}
	for name, text := range files {
		inMemory[name] = &fstest.MapFile{Data: []byte(text)}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hasLinks := os.Symlink(filepath.Join("..", "docx", "evals", "more.md"), filepath.Join(dir, "pdf", "link.md")) == nil
	tree, err := source.Open(t.Context(), source.Dir(dir), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for name, root := range map[string]source.Root{"directory": source.Dir(dir), "file system": source.FS("fs", inMemory), "source": source.From("tree", tree)} {
		t.Run(name, func(t *testing.T) {
			c, err := catalog.Open(t.Context(), []source.Root{root}, catalog.WithoutFiles("evals", "evals.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			docs, err := c.Docs(t.Context(), "pdf")
			all, _, listErr := c.Files(t.Context(), "pdf", 0)
			if name == "source" && hasLinks { // a source lists the bytes behind a link as a file of its own
				docs = slices.DeleteFunc(docs, func(doc string) bool { return doc == "link.md" })
				all = slices.DeleteFunc(all, func(file string) bool { return file == "link.md" })
			}
			if err != nil || listErr != nil || !slices.Equal(docs, []string{"docs/evals/notes.md", "evals.md"}) || !slices.Equal(all, []string{"SKILL.md", "docs/evals/notes.md", "evals.md"}) {
				t.Errorf("docs %v, files %v, %v, %v", docs, all, err, listErr)
			}
			hidden := []string{"evals.json", "evals/evals.json", "evals/deep/notes.md", "./evals/evals.json"}
			if hasLinks && name == "directory" {
				hidden = append(hidden, "link.md")
			}
			for _, file := range hidden {
				if _, err := c.ReadFile(t.Context(), "pdf", file); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", file, err)
				}
				if _, err := c.OpenFile(t.Context(), "pdf", file); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is opened: %v", file, err)
				}
			}
			if _, err := c.Doc(t.Context(), "pdf", "evals/deep/notes.md"); !errors.Is(err, catalog.ErrUnknownDoc) {
				t.Errorf("doc: %v", err)
			}
			if text, err := c.Doc(t.Context(), "pdf", "docs/evals/notes.md"); err != nil || text.Text != "kept" {
				t.Errorf("doc %q, %v", text.Text, err)
			}
		})
	}
	for _, wrong := range []string{"", ".", "/evals", "../x", "SKILL.md", "evals/"} {
		if c, err := catalog.Open(t.Context(), nil, catalog.WithoutFiles(wrong)); err == nil {
			c.Close()
			t.Errorf("%q is a path", wrong)
		}
	}
}
