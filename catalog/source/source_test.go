package source_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/catalogtest"
	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/skillmd"
)

func openSource(t *testing.T, root source.Root) *source.Tree {
	t.Helper()
	s, err := source.Open(t.Context(), root, source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t *testing.T, dir, path, text string) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPluginConformance(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		dir := t.TempDir()
		put(t, dir, ".claude-plugin/plugin.json", `{"name":"office"}`)
		if err := os.Mkdir(filepath.Join(dir, "skills"), 0o755); err != nil {
			t.Fatal(err)
		}
		return catalogtest.Library{
			Source: openSource(t, source.Plugin(dir)),
			Put:    func(t *testing.T, skill, path, text string) { put(t, dir, "skills/"+skill+"/"+path, text) },
			Delete: func(t *testing.T, skill string) {
				if err := os.RemoveAll(filepath.Join(dir, "skills", skill)); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

func TestArchiveConformance(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		base := t.TempDir()
		dir, file := filepath.Join(base, "in"), filepath.Join(base, "skills.zip")
		put(t, dir, "README.md", "Skills.\n") // an archive needs at least one file
		put(t, dir, "more/README.md", "Several folders.\n")
		pack := func(t *testing.T) {
			t.Helper()
			var packed bytes.Buffer
			w := zip.NewWriter(&packed)
			err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close())
			if err == nil {
				err = os.WriteFile(file, packed.Bytes(), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		pack(t)
		address := (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(file), "/")}).String()
		return catalogtest.Library{
			Source: openSource(t, source.Archive(address, source.ArchiveOptions{
				CacheDir: filepath.Join(base, "cache"),
				Allow:    func(u *url.URL) bool { return u.Scheme == "file" },
				MaxRatio: 10_000, // the text of one skill is very repetitive
			})),
			Put: func(t *testing.T, skill, path, text string) { put(t, dir, skill+"/"+path, text); pack(t) },
			Delete: func(t *testing.T, skill string) {
				if err := os.RemoveAll(filepath.Join(dir, skill)); err != nil {
					t.Fatal(err)
				}
				pack(t)
			},
		}
	})
}

func TestDirConformance(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		dir := t.TempDir()
		return catalogtest.Library{
			Source: openSource(t, source.Dir(dir)),
			Put:    func(t *testing.T, skill, path, text string) { put(t, dir, skill+"/"+path, text) },
			Delete: func(t *testing.T, skill string) {
				if err := os.RemoveAll(filepath.Join(dir, skill)); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

func TestFSConformance(t *testing.T) {
	catalogtest.Source(t, func(t *testing.T) catalogtest.Library {
		files := fstest.MapFS{}
		return catalogtest.Library{
			Source: openSource(t, source.FS("mem", files)),
			Put: func(t *testing.T, skill, path, text string) {
				files[skill+"/"+path] = &fstest.MapFile{Data: []byte(text)}
			},
			Delete: func(t *testing.T, skill string) {
				for name := range files {
					if strings.HasPrefix(name, skill+"/") {
						delete(files, name)
					}
				}
			},
		}
	})
}

// table is a source that the test writes itself, as a database would.
type table struct {
	listing *source.Listing
	files   map[string]fstest.MapFS // files by skill id and revision
	err     error
	hang    bool
	opened  int
}

func (s *table) Scan(ctx context.Context, prev *source.Listing) (*source.Listing, error) {
	if s.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.listing, s.err
}

func (s *table) Open(_ context.Context, id, revision string) (fs.FS, error) {
	s.opened++
	if fsys, ok := s.files[id+"@"+revision]; ok {
		return fsys, nil
	}
	return nil, source.ErrGone
}

// set makes the table hold one skill, with the digests of its files where listed.
func (s *table) set(t *testing.T, revision, body string, listed bool) {
	t.Helper()
	files := fstest.MapFS{
		"SKILL.md":     {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\nallowed-tools: Read\n---\n" + body)},
		"docs/x.md":    {Data: []byte("doc of " + revision)},
		"scripts/x.sh": {Data: []byte("echo")},
	}
	e := source.Entry{ID: "db:7", Revision: revision, Head: files["SKILL.md"].Data[:len(files["SKILL.md"].Data)-len(body)]}
	if listed {
		dir := t.TempDir()
		for name, f := range files {
			put(t, dir, "pdf/"+name, string(f.Data))
		}
		l, err := openSource(t, source.Dir(dir)).Scan(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		e.Files = l.Entries[0].Files
	}
	s.listing = &source.Listing{Entries: []source.Entry{e}}
	s.files = map[string]fstest.MapFS{"db:7@" + revision: files}
}

func ExampleFrom() {
	skills, err := source.Open(context.Background(), source.FS("embedded", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBody.\n")},
	}), source.Reading{})
	if err != nil {
		panic(err)
	}
	defer skills.Close()
	c, err := catalog.Open(context.Background(), []source.Root{source.From("library", skills)})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	for _, s := range c.Snapshot().Skills() {
		fmt.Println(s.Name, s.Place)
	}
	// Output: pdf library/pdf/SKILL.md
}

func ExampleOpen() {
	skills, err := source.Open(context.Background(), source.FS("embedded", fstest.MapFS{
		"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\nBody.\n")},
	}), source.Reading{})
	if err != nil {
		panic(err)
	}
	defer skills.Close()
	listing, err := skills.Scan(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	for _, e := range listing.Entries {
		fmt.Println(e.ID, e.Files[0].Path)
	}
	// Output: pdf SKILL.md
}

func TestFromReadsWhatWasListed(t *testing.T) {
	for _, listed := range []bool{false, true} {
		t.Run(fmt.Sprint("files listed ", listed), func(t *testing.T) {
			s := &table{}
			s.set(t, "1", "# Body\n", listed)
			c, err := catalog.Open(t.Context(), []source.Root{source.From("db", s)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			skill, body, err := c.Body(t.Context(), "pdf")
			if err != nil || body.Text != "# Body" || skill.Place != "db/db:7/SKILL.md" || !reflect.DeepEqual(skill.AllowedTools, []string{"Read"}) {
				t.Errorf("%+v, %q, %v", skill, body.Text, err)
			}
			if docs, err := c.Docs(t.Context(), "pdf"); err != nil || !reflect.DeepEqual(docs, []string{"docs/x.md"}) {
				t.Errorf("docs %q, %v", docs, err)
			}
			if doc, err := c.Doc(t.Context(), "pdf", "./docs/x.md"); err != nil || doc.Text != "doc of 1" {
				t.Errorf("doc %q, %v", doc.Text, err)
			}
			if files, more, err := c.Files(t.Context(), "pdf", 0); err != nil || more || !reflect.DeepEqual(files, []string{"SKILL.md", "docs/x.md", "scripts/x.sh"}) {
				t.Errorf("files %q, %v", files, err)
			}
			if data, err := c.ReadFile(t.Context(), "pdf", "scripts/x.sh"); err != nil || string(data) != "echo" {
				t.Errorf("script %q, %v", data, err)
			}
			for _, path := range []string{"../x", "/etc/passwd"} {
				if _, err := c.ReadFile(t.Context(), "pdf", path); !errors.Is(err, catalog.ErrPath) {
					t.Errorf("%s: %v", path, err)
				}
			}
			if _, err := c.ReadFile(t.Context(), "pdf", "docs"); !errors.Is(err, scan.ErrNotRegular) {
				t.Errorf("a folder: %v", err)
			}
			print1, err := c.Fingerprint(t.Context(), "pdf")
			if err != nil {
				t.Fatal(err)
			}

			// The source moves on. The old revision is gone until the catalog refreshes.
			s.set(t, "2", "# Other\n", listed)
			if _, err := c.ReadFile(t.Context(), "pdf", "scripts/x.sh"); !errors.Is(err, source.ErrGone) {
				t.Errorf("an old revision: %v", err)
			}
			if _, err := c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, body, err := c.Body(t.Context(), "pdf"); err != nil || body.Text != "# Other" {
				t.Errorf("body %q, %v", body.Text, err)
			}
			if print2, err := c.Fingerprint(t.Context(), "pdf"); err != nil || print2 == print1 {
				t.Errorf("fingerprint %s, %v", print2, err)
			}
		})
	}
}

// A file whose parent is listed as a file cannot be read; other files can.
func TestFromFileBelowAFile(t *testing.T) {
	s := &table{}
	s.set(t, "1", "# Body\n", true)
	e := &s.listing.Entries[0]
	e.Files = append(e.Files, source.File{Path: "docs/x.md/y/z.md"})
	c, err := catalog.Open(t.Context(), []source.Root{source.From("db", s)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if text, err := c.ReadFile(t.Context(), "pdf", "docs/x.md"); err != nil || string(text) != "doc of 1" {
		t.Errorf("ReadFile: got %q, error %v, want %q", text, err, "doc of 1")
	}
	if _, err := c.ReadFile(t.Context(), "pdf", "docs/x.md/y/z.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("below a file: %v", err)
	}
}

func TestFromChecksDigests(t *testing.T) {
	s := &table{}
	s.set(t, "1", "# Body\n", true)
	c, err := catalog.Open(t.Context(), []source.Root{source.From("db", s)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s.opened != 0 {
		t.Errorf("listing opened %d skills", s.opened)
	}
	files := s.files["db:7@1"]
	for what, data := range map[string][]byte{"as long": []byte("doc of X"), "shorter": []byte("doc"), "longer": []byte("doc of 1, and more")} {
		files["docs/x.md"] = &fstest.MapFile{Data: data}
		if _, err := c.Doc(t.Context(), "pdf", "docs/x.md"); !errors.Is(err, source.ErrDigest) {
			t.Errorf("%s: %v", what, err)
		}
	}
	delete(files, "docs/x.md")
	if _, err := c.ReadFile(t.Context(), "pdf", "docs/x.md"); !errors.Is(err, source.ErrDigest) {
		t.Errorf("missing: %v", err)
	}
	if _, err := c.ReadFile(t.Context(), "pdf", "unlisted.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not listed: %v", err)
	}
}

// A source that fails or hangs keeps the skills of its last listing. Other roots are searched as
// usual.
func TestFromFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &table{hang: true}
		s.set(t, "1", "# Body\n", false)
		here := fstest.MapFS{"csv/SKILL.md": {Data: []byte("---\nname: csv\ndescription: Reads tables.\n---\n")}}
		c, err := catalog.Open(t.Context(), []source.Root{source.From("db", s), source.FS("here", here)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		check := func(what string, failed bool, names ...string) {
			t.Helper()
			begun := time.Now()
			snapshot, err := c.Refresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); s.hang && took != 10*time.Second || !s.hang && took != 0 {
				t.Errorf("%s: it took %v", what, took)
			}
			var got []string
			for _, skill := range snapshot.Skills() {
				got = append(got, skill.Name)
			}
			failures := 0
			for _, d := range snapshot.Diagnostics() {
				if d.Code == catalog.CodeSourceFailed {
					failures++
				}
			}
			if !reflect.DeepEqual(got, names) || (failures == 1) != failed || failures > 1 {
				t.Errorf("%s: skills %q, %d failures", what, got, failures)
			}
		}
		check("hangs from the start", true, "csv")
		s.hang = false
		check("answers", false, "csv", "pdf")
		s.err = errors.New("database is down")
		check("fails", true, "csv", "pdf")
		check("fails again", true, "csv", "pdf")
		s.err, s.hang = nil, true
		check("hangs", true, "csv", "pdf")
		s.hang = false
		check("is back", false, "csv", "pdf")
		s.listing = nil
		check("returns nothing", true, "csv", "pdf")
		s.listing = &source.Listing{}
		check("is empty", false, "csv")
	})
}

// The catalog checks the entries of a source before it uses them.
func TestFromHostile(t *testing.T) {
	head := []byte("---\nname: ok\ndescription: Fine.\n---\n")
	var entries []source.Entry
	for _, e := range []source.Entry{
		{ID: "", Revision: "1", Head: head},
		{ID: "a\nb", Revision: "1", Head: head},
		{ID: strings.Repeat("x", 257), Revision: "1", Head: head},
		{ID: "\xff", Revision: "1", Head: head},
		{ID: "no revision", Head: head},
		{ID: "large", Revision: "1", Head: append(head, make([]byte, 65<<10)...)},
		{ID: "climbs", Revision: "1", Head: head, Files: []source.File{{Path: "../x"}}},
		{ID: "negative", Revision: "1", Head: head, Files: []source.File{{Path: "x", Size: -1}}},
		{ID: "good", Revision: "1", Head: head, Files: []source.File{{Path: "a", Size: 1}, {Path: "a/b", Size: 1}, {Path: "a", Size: 2}, {Path: "SKILL.md", Size: 1 << 40}}},
		{ID: "good", Revision: "2", Head: head},
		{ID: "broken", Revision: "1", Head: []byte("---\nname: [\n")},
	} {
		entries = append(entries, e)
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.From("db", &table{listing: &source.Listing{Entries: entries}})})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if skills := c.Snapshot().Skills(); len(skills) != 1 || skills[0].Place != "db/good/SKILL.md" {
		t.Errorf("skills: %+v", skills)
	}
	unusable := 0
	for _, d := range c.Snapshot().Diagnostics() {
		if d.Code == catalog.CodeUnreadable && d.Severity == skillmd.Error && strings.HasPrefix(d.Message, "ignored: ") {
			unusable++
		}
		if text := d.File + d.Message; strings.Contains(text, "\n") || !utf8.ValidString(text) {
			t.Errorf("%q is not one line", d)
		}
	}
	if unusable != 9 {
		t.Errorf("%d entries are refused, want 9: %+v", unusable, c.Snapshot().Diagnostics())
	}
	if files, _, err := c.Files(t.Context(), "ok", 0); err != nil || !reflect.DeepEqual(files, []string{"SKILL.md", "a"}) {
		t.Errorf("files %q, %v", files, err)
	}
	if _, _, err := c.Body(t.Context(), "ok"); !errors.Is(err, scan.ErrTooLarge) {
		t.Errorf("a SKILL.md of a terabyte: %v", err)
	}
}

// TestHeadWithBody lists a skill whose head goes on behind the front matter.
func TestHeadWithBody(t *testing.T) {
	s := &table{}
	s.set(t, "1", "# Body\n", true)
	s.listing.Entries[0].Head = append(s.listing.Entries[0].Head, "# Body\n"...)
	c, err := catalog.Open(t.Context(), []source.Root{source.From("db", s)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	skills := c.Snapshot().Skills()
	if len(skills) != 1 {
		t.Fatalf("skills %v, %v", skills, c.Snapshot().Diagnostics())
	}
	if _, body, err := c.Body(t.Context(), skills[0].Name); err != nil || body.Text != "# Body" {
		t.Errorf("body %q, %v", body.Text, err)
	}
}
