package skilltools

import (
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// countingFS counts how often directories are listed.
type countingFS struct {
	fstest.MapFS
	lists atomic.Int64
}

func (c *countingFS) ReadDir(name string) ([]fs.DirEntry, error) {
	c.lists.Add(1)
	return c.MapFS.ReadDir(name)
}

func (c *countingFS) Open(name string) (fs.File, error) {
	f, err := c.MapFS.Open(name)
	if err == nil {
		if info, err := f.Stat(); err == nil && info.IsDir() {
			c.lists.Add(1)
		}
	}
	return f, err
}

// However many docs a call names, it lists their folder once.
func TestDocsAreListedOncePerCall(t *testing.T) {
	d := newHarness(t, library())
	files := &countingFS{MapFS: d.files}
	const docs = 300
	for i := range docs {
		files.MapFS[fmt.Sprintf("pdf/more/%03d.md", i)] = &fstest.MapFile{Data: []byte("doc")}
	}
	var err error
	if d.skills, err = catalog.Open(t.Context(), []source.Root{source.FS("skills", files)}); err != nil {
		t.Fatal(err)
	}
	defer d.skills.Close()
	for _, call := range [][2]string{
		{"skill_load", `{"skill":"pdf","include_all_docs":true}`},
		{"skill_select_docs", `{"skill":"pdf","include_all_docs":true}`},
		{"skill_load", `{"skill":"pdf","include_all_docs":true,"mode":"replace"}`},
	} {
		files.lists.Store(0)
		if answer := d.call(call[0], call[1]); !strings.Contains(answer, "more/299.md") && !strings.Contains(answer, "already loaded") {
			t.Fatalf("%s: %s", call[0], answer)
		}
		if files.lists.Load() > 10 {
			t.Errorf("%s %s listed directories %d times for %d docs", call[0], call[1], files.lists.Load(), docs)
		}
	}
	if rec := d.record(); len(rec.Find("pdf").Docs) < docs {
		t.Errorf("%d docs are selected", len(rec.Find("pdf").Docs))
	}
}
