package catalog

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
)

// limits returns the findings about bounds.
func limits(s *Snapshot) (found []string) {
	for _, d := range s.Diagnostics() {
		if d.Code == scan.CodeLimit {
			found = append(found, d.Message)
		}
	}
	return found
}

func TestSkillsOfACatalogAreBounded(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 5 {
		files[fmt.Sprintf("s%d/SKILL.md", i)] = &fstest.MapFile{Data: []byte(skillText(fmt.Sprintf("s%d", i), "One of many.", ""))}
	}
	own := fstest.MapFS{"own/SKILL.md": {Data: []byte(skillText("own", "Has the highest rank.", ""))}}
	c := mustOpen(t, []source.Root{source.FS("many", files).In(core.ScopeUser), source.FS("own", own)}, func(c *config) error { c.maxSkills = 4; return nil })
	var names []string
	for _, skill := range c.Snapshot().Skills() {
		names = append(names, skill.Name)
	}
	same(t, "skills", []string{"own", "s0", "s1", "s2"}, names)
	same(t, "findings", []string{"there are 6 skills: the 2 of the lowest rank are left out"}, limits(c.Snapshot()))
}

func TestSkillsOfAnArchiveAreBounded(t *testing.T) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for i := range 5 {
		f, err := w.Create(fmt.Sprintf("s%d/SKILL.md", i))
		if err == nil {
			_, err = io.WriteString(f, skillText(fmt.Sprintf("s%d", i), "One of many.", ""))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed.Bytes()) }))
	defer server.Close()
	root := source.Archive(server.URL+"/many.zip", source.ArchiveOptions{CacheDir: t.TempDir(), Allow: func(u *url.URL) bool { return strings.HasPrefix(u.String(), server.URL) }})
	c := mustOpen(t, []source.Root{root}, func(c *config) error { c.scan.MaxInArchive = 2; return nil })
	same(t, "findings", []string{"the archive has 5 skills: those beyond 2 are left out"}, limits(c.Snapshot()))
	if _, err := c.Refresh(t.Context()); err != nil || c.Snapshot().Len() != 2 {
		t.Errorf("%d skills, %v", c.Snapshot().Len(), err)
	}
}
