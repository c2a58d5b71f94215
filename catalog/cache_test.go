package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"

	"github.com/satchel-go/satchel/internal/testing/crashtest"
)

func TestMain(m *testing.M) {
	crashtest.Main(m, map[string]func(string) error{"cache": editForever})
}

// shelfOf writes skills of every kind: usable, broken, hidden, nested and so on.
func shelfOf(t *testing.T) string {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"pdf/SKILL.md":             skillText("pdf", "Reads PDF files.", "# AcroForm\n"),
		"pdf/nested/SKILL.md":      skillText("nested", "Is inside.", ""),
		"group/csv/SKILL.md":       "---\nname: csv\ndescription: Reads tables.\nallowed-tools: []\ntags: [a, b]\nmetadata:\n  version: \"1.0\"\n---\n",
		"group/odd/skill.md":       skillText("other", "Has findings.", ""),
		"hidden/SKILL.md":          "---\nname: hidden\ndescription: Is hidden.\ndisable-model-invocation: true\n---\n",
		"broken/SKILL.md":          "---\nname: [\n---\n",
		"twice/SKILL.md":           skillText("pdf", "Has the name of another.", ""),
		"empty/folder/nothing.txt": "",
	})
	return dir
}

// openAndClose opens and closes a catalog, and returns its last snapshot.
func openAndClose(t *testing.T, dir, kept string) *Snapshot {
	t.Helper()
	c, err := Open(t.Context(), []source.Root{source.Dir(dir)}, WithCache(kept))
	if err == nil {
		err = c.Index(t.Context())
	}
	if err == nil {
		err = c.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c.Snapshot()
}

// cacheFileIn returns the path of the one file of a cache.
func cacheFileIn(t *testing.T, kept string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the cache has the files %q, %v", files, err)
	}
	return files[0]
}

func TestCacheServesTheSame(t *testing.T) {
	dir, kept := shelfOf(t), filepath.Join(t.TempDir(), "cache")
	want := openAndClose(t, dir, kept)
	if info, err := os.Stat(cacheFileIn(t, kept)); err != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	c := mustOpen(t, []source.Root{source.Dir(dir)}, WithCache(kept))
	first := c.state.Load()
	if got := c.Snapshot(); !got.equal(want) || got.Digest() != want.Digest() {
		t.Errorf("from the cache: %+v %+v\nwant %+v %+v", got.Skills(), got.Diagnostics(), want.Skills(), want.Diagnostics())
	}
	if skill, _ := c.Snapshot().Skill("csv"); skill.AllowedTools == nil {
		t.Error("a list that allows nothing has become none")
	}
	c.verification.Wait()
	if c.state.Load() != first {
		t.Error("searching again has found something else, though nothing has changed")
	}
	index := c.cache.index
	if err := c.Index(t.Context()); err != nil || index == nil || c.indexer.last.Load().index != index {
		t.Errorf("the index was built again: %v", err)
	}
	found, err := c.Search(t.Context(), Query{Phrasings: []string{"acroform"}})
	if err != nil || len(found.Hits) != 1 || found.Hits[0].Skill.Name != "pdf" {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, body, err := c.Body(t.Context(), "pdf"); err != nil || body.Text != "# AcroForm" {
		t.Errorf("body %q, %v", body.Text, err)
	}
}

// Open with a cache searches the roots in the background, and Close waits for that.
func TestCacheIsVerified(t *testing.T) {
	dir, kept := shelfOf(t), t.TempDir()
	looked, goOn := make(chan struct{}), make(chan struct{})
	asked := 0
	trust := WithTrust(func(context.Context, source.Root) (bool, error) {
		if asked++; asked == 3 { // the third call comes from the second Open's search in the background
			close(looked)
			<-goOn
		}
		return true, nil
	})
	open := func() *Catalog {
		c, err := Open(t.Context(), []source.Root{source.Dir(dir).In(core.ScopeProject)}, WithCache(kept), trust)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := open().Close(); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Writes PDF files, too.", ""), "new/SKILL.md": skillText("new", "Is new.", "")})
	c := open()
	<-looked
	if skill, _ := c.Snapshot().Skill("pdf"); skill.Description != "Reads PDF files." {
		t.Errorf("before the files are looked at: %q", skill.Description)
	}
	close(goOn)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]*Snapshot{"after Close": c.Snapshot(), "of the next": func() *Snapshot { c := open(); defer c.Close(); return c.Snapshot() }()} {
		skill, _ := s.Skill("pdf")
		_, ok := s.Skill("new")
		if skill.Description != "Writes PDF files, too." || !ok {
			t.Errorf("%s: %q, new %t", what, skill.Description, ok)
		}
	}
}

// A cache of other settings, or a damaged one, counts as empty.
func TestCacheIsNotServed(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir, file string){
		"a flipped byte": func(t *testing.T, _, file string) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data[len(data)/2] ^= 1
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"cut": func(t *testing.T, _, file string) {
			if err := os.Truncate(file, 100); err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, _, file string) {
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
		},
		"a directory": func(t *testing.T, _, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(file, "x"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"another folder at the path": func(t *testing.T, dir, _ string) {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(dir, os.DirFS(dir+".old")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, kept := shelfOf(t), t.TempDir()
			want := openAndClose(t, dir, kept)
			served := func() bool {
				cfg, err := newConfig([]Option{WithCache(kept)})
				if err != nil {
					t.Fatal(err)
				}
				places := []scan.Place{scan.PlaceOf(source.Dir(dir), false)}
				l := &catalogData{cfg: cfg, roots: []source.Root{source.Dir(dir)}, places: places, names: displayNames(places)}
				l.openCache()
				root, served := l.restore(0)
				closeTrees([]*rootState{root}, nil)
				return served
			}
			if !served() {
				t.Error("the cache is not served")
			}
			change(t, dir, cacheFileIn(t, kept))
			if served() {
				t.Error("the cache is served all the same")
			}
			c := mustOpen(t, []source.Root{source.Dir(dir)}, WithCache(kept))
			if got := c.Snapshot(); !reflect.DeepEqual(got.Skills(), want.Skills()) {
				t.Errorf("skills %+v\nwant %+v", got.Skills(), want.Skills())
			}
		})
	}
}

// Each list of roots, and each way to read them, has a file of its own.
func TestCacheOfOthers(t *testing.T) {
	dir, kept := shelfOf(t), t.TempDir()
	openAndClose(t, dir, kept)
	other := t.TempDir()
	for what, c := range map[string]*Catalog{
		"another root":   mustOpen(t, []source.Root{source.Dir(other)}, WithCache(kept)),
		"another option": mustOpen(t, []source.Root{source.Dir(dir)}, WithCache(kept), WithReading(source.Reading{Nested: true})),
		"a file system":  mustOpen(t, []source.Root{source.FS(dir, fstest.MapFS{})}, WithCache(kept)),
	} {
		if c.cache.index != nil {
			t.Errorf("%s is served the same", what)
		}
	}
}

// Open searches a directory with links, and reads only the files that have changed.
func TestCacheWithLinks(t *testing.T) {
	base, kept := t.TempDir(), t.TempDir()
	write(t, base, map[string]string{
		".git/HEAD":      "",
		"dir/a/SKILL.md": skillText("a", "Was read.", ""),
		"far/b/SKILL.md": skillText("b", "Is linked.", ""),
	})
	dir := filepath.Join(base, "dir")
	symlink(t, filepath.Join("..", "far", "b"), filepath.Join(dir, "b"))
	want := openAndClose(t, dir, kept)
	if want.Len() != 2 {
		t.Fatalf("skills %+v", want.Skills())
	}
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a", "SKILL.md") // size and time stay the same, so only reading the file shows the change
	info, err := os.Stat(file)
	if err == nil {
		err = os.WriteFile(file, []byte(skillText("a", "Is read.!", "")), 0o644)
	}
	if err == nil {
		err = os.Chtimes(file, info.ModTime(), info.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
	got := mustOpen(t, []source.Root{source.Dir(dir)}, WithCache(kept)).Snapshot()
	if skill, _ := got.Skill("a"); got.Len() != 1 || skill.Description != "Was read." {
		t.Errorf("skills %+v", got.Skills())
	}
}

// editForever edits skills, and saves what it finds, until it is killed.
func editForever(dir string) error {
	c, err := Open(context.Background(), []source.Root{source.Dir(filepath.Join(dir, "skills"))}, WithCache(filepath.Join(dir, "kept")))
	for n := 0; err == nil; n++ {
		text := skillText("pdf", strings.Repeat(fmt.Sprint("Edit ", n, ". "), 50), "")
		if err = os.WriteFile(filepath.Join(dir, "skills", "pdf", "SKILL.md"), []byte(text), 0o644); err == nil {
			_, err = c.Refresh(context.Background())
		}
		fmt.Println(n)
	}
	return err
}

// A process that is killed while it saves leaves the old cache or the new one.
func TestCacheAfterAKill(t *testing.T) {
	dir := t.TempDir()
	if err := os.Rename(shelfOf(t), filepath.Join(dir, "skills")); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		child := crashtest.Start(t, "cache", dir)
		child.KillWithin(t, 20*time.Millisecond, func(string) {})
		c, err := Open(t.Context(), []source.Root{source.Dir(filepath.Join(dir, "skills"))}, WithCache(filepath.Join(dir, "kept")))
		if err != nil {
			t.Fatal(err)
		}
		if c.cache.index == nil {
			t.Error("the cache cannot be read")
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := c.Snapshot(), mustOpen(t, []source.Root{source.Dir(filepath.Join(dir, "skills"))}).Snapshot(); !got.equal(want) {
			t.Errorf("from the cache %+v\nwant %+v", got.Skills(), want.Skills())
		}
	}
}

// A cache directory that cannot be written is no error.
func TestCacheCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if c := mustOpen(t, []source.Root{source.Dir(shelfOf(t))}, WithCache(file)); c.Snapshot().Len() == 0 {
		t.Error("no skills")
	}
}
