package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/core"
)

func findNames(t *testing.T, c *Catalog, q Query) (names []string) {
	t.Helper()
	found, err := c.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range found.Hits {
		names = append(names, h.Skill.Name)
	}
	return names
}

func forms(t *testing.T) (*Catalog, string) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"pdf-forms/SKILL.md":  skillText("pdf-forms", "Fill in and flatten PDF forms.", "# AcroForm fields\n"),
		"docx-forms/SKILL.md": skillText("docx-forms", "Fill in forms in Word documents.", "Body.\n"),
		"sales/SKILL.md":      skillText("sales", "Sum up sales in a spreadsheet.", "Body.\n"),
		"hidden/SKILL.md":     "---\nname: hidden\ndescription: Fill in PDF forms.\ndisable-model-invocation: true\n---\n",
	})
	return mustOpen(t, []source.Root{source.Dir(dir)}), dir
}

func TestCatalogSearch(t *testing.T) {
	c, _ := forms(t)
	for name, tt := range map[string]struct {
		query Query
		want  []string
	}{
		"strong, then weak":  {Query{Phrasings: []string{"fill in a PDF form"}}, []string{"pdf-forms", "docx-forms"}},
		"heading":            {Query{Phrasings: []string{"acroform"}}, []string{"pdf-forms"}},
		"not allowed":        {Query{Phrasings: []string{"fill in a PDF form"}, Allow: func(s core.Skill) bool { return s.Name != "pdf-forms" }}, []string{"docx-forms"}},
		"lately used":        {Query{Phrasings: []string{"fill in forms"}, Recent: []string{"docx-forms"}}, []string{"docx-forms", "pdf-forms"}},
		"behind the last":    {Query{Phrasings: []string{"acroform"}, Offset: 9}, nil},
		"nothing to look at": {Query{Phrasings: []string{"the of"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := findNames(t, c, tt.query); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	found, err := c.Search(t.Context(), Query{Phrasings: []string{"fill forms"}, Limit: 1})
	if err != nil || found.Total != 3 || found.Strong != 2 || len(found.Hits) != 1 {
		t.Errorf("first page %+v, %v", found, err)
	}
}

// The index follows the files: what is written, edited and removed.
func TestSearchFollowsRefresh(t *testing.T) {
	c, dir := forms(t)
	if got := findNames(t, c, Query{Phrasings: []string{"zebra"}}); got != nil {
		t.Fatalf("found %q", got)
	}
	old := time.Now().Add(-time.Minute)
	edit := func(name, description, body string) {
		file := filepath.Join(dir, name, "SKILL.md")
		write(t, dir, map[string]string{name + "/SKILL.md": skillText(name, description, body)})
		old = old.Add(time.Second)
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	edit("zoo", "Feeds a zebra.", "Body.\n")
	if got := findNames(t, c, Query{Phrasings: []string{"zebra"}}); !reflect.DeepEqual(got, []string{"zoo"}) {
		t.Errorf("found %q", got)
	}
	edit("zoo", "Feeds a zebra.", "# Giraffes too\n") // an edit of the body does not change the snapshot
	if got := findNames(t, c, Query{Phrasings: []string{"giraffe"}}); !reflect.DeepEqual(got, []string{"zoo"}) {
		t.Errorf("after an edit of the body found %q", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "zoo")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := findNames(t, c, Query{Phrasings: []string{"zebra"}}); got != nil {
		t.Errorf("found %q, which is gone", got)
	}
}

func TestSearchWithoutBodies(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads documents.", "# Acroform\n")})
	c := mustOpen(t, []source.Root{source.Dir(dir)}, WithSearch(Search{Bodies: -1}))
	if got := findNames(t, c, Query{Phrasings: []string{"acroform"}}); got != nil {
		t.Errorf("found %q", got)
	}
	if _, err := Open(t.Context(), nil, WithSearch(Search{Bodies: -2})); err == nil {
		t.Error("less than no bytes are accepted")
	}
}

func TestSearchErrors(t *testing.T) {
	c, _ := forms(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Search(ctx, Query{Phrasings: []string{"pdf"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c.Close()
	if err := c.Index(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The order of the roots changes no answer.
func TestSearchDoesNotDependOnTheOrderOfRoots(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for i := range 40 {
		dir := a
		if i%2 == 1 {
			dir = b
		}
		write(t, dir, map[string]string{fmt.Sprintf("s%d/SKILL.md", i): skillText(fmt.Sprintf("s%d", i), fmt.Sprintf("Word%d and word%d.", i%7, i%3), "Body.\n")})
	}
	one, two := mustOpen(t, []source.Root{source.Dir(a), source.Dir(b)}), mustOpen(t, []source.Root{source.Dir(b), source.Dir(a)})
	for i := range 7 {
		q := Query{Phrasings: []string{fmt.Sprintf("word%d", i), "word1"}, Limit: 20}
		if x, y := findNames(t, one, q), findNames(t, two, q); !reflect.DeepEqual(x, y) {
			t.Errorf("%q: %q, in the other order %q", q.Phrasings, x, y)
		}
	}
}

// BenchmarkFinding measures indexing and searching 10,000 skills, and reading their folders without
// an index.
func BenchmarkFinding(b *testing.B) {
	dir := generate(b, benchSkills)
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			n := 0
			folders, err := os.ReadDir(dir)
			if err != nil {
				b.Fatal(err)
			}
			for _, f := range folders {
				data, err := os.ReadFile(filepath.Join(dir, f.Name(), "SKILL.md"))
				if err != nil {
					b.Fatal(err)
				}
				if strings.Contains(string(data), "case 77") {
					n++
				}
			}
			if n == 0 {
				b.Fatal("nothing found")
			}
		}
	})
	c := mustOpen(b, []source.Root{source.Dir(dir)})
	b.Run("index", func(b *testing.B) {
		before := heap()
		for b.Loop() {
			c.indexer.last.Store(nil)
			if err := c.Index(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
	})
	b.Run("search", func(b *testing.B) {
		q := Query{Phrasings: []string{"handles case 4711", "a task about case 4711", "skill 04711"}}
		for b.Loop() {
			if _, err := c.Search(b.Context(), q); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestSearchOfNothing(t *testing.T) {
	c := mustOpen(t, nil)
	if found, err := c.Search(t.Context(), Query{Phrasings: []string{"pdf"}}); err != nil || found.Total != 0 || found.Hits != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

// An audience finds skills by the names that they have for it, not by those that they have for
// others.
func TestSearchByAnAudience(t *testing.T) {
	roots, _ := everywhere(t)
	c := mustOpen(t, roots, trustAll(t))
	user := c.For("user", func(s core.Skill) bool { return s.ID == "dir:mine/pdf" })
	find := func(c *Catalog, phrasing string) (hits []string) {
		found, err := c.Search(t.Context(), Query{Phrasings: []string{phrasing}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			hits = append(hits, fmt.Sprintf("%s %t", h.Skill.Name, h.Explicit))
		}
		return hits
	}
	for phrasing, want := range map[string][2][]string{
		"pdf":              {{"pdf true", "mine/pdf:pdf false", "mine/sub/pdf:pdf false"}, {"pdf true"}},
		"$pdf":             {{"pdf true", "mine/pdf:pdf false", "mine/sub/pdf:pdf false"}, {"pdf true"}},
		"mine/pdf:pdf":     {{"mine/pdf:pdf true", "pdf false", "mine/sub/pdf:pdf false"}, {"pdf false"}},
		"user:pdf":         {{"pdf false", "mine/pdf:pdf false", "mine/sub/pdf:pdf false"}, {"pdf true"}},
		"mine":             {nil, nil},
		"csv":              {{"csv true"}, nil},
		"Reads tables now": {{"csv false"}, nil},
	} {
		same(t, phrasing+", everybody", want[0], find(c, phrasing))
		same(t, phrasing+", the user", want[1], find(user, phrasing))
	}
}

// Of equally good hits, skills of the project come first, then those of the user.
func TestSearchPrefersTheProject(t *testing.T) {
	base := t.TempDir()
	var roots []source.Root
	for scope, name := range map[core.Scope]string{core.ScopeHost: "a-host", core.ScopeUser: "b-user", core.ScopeProject: "c-project"} {
		write(t, base, map[string]string{name + "/s/SKILL.md": skillText(name, "Draws a chart.", "Body.\n")})
		roots = append(roots, source.Dir(filepath.Join(base, name)).In(scope))
	}
	c := mustOpen(t, roots, trustAll(t))
	same(t, "order", []string{"c-project", "b-user", "a-host"}, findNames(t, c, Query{Phrasings: []string{"draw charts"}}))
	same(t, "used lately", []string{"a-host", "c-project", "b-user"}, findNames(t, c, Query{Phrasings: []string{"draw charts"}, Recent: []string{"a-host"}}))
}
