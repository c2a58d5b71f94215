package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/skillmd"
)

func TestBody(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads PDF files.", "# Body\r\n\r\nText \xff.\n")})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	ctx := t.Context()

	t.Run("front matter is stripped", func(t *testing.T) {
		skill, content, err := c.Body(ctx, " pdf ")
		if err != nil {
			t.Fatal(err)
		}
		if skill.Name != "pdf" || strings.TrimSpace(content.Text) != "# Body\n\nText \uFFFD." {
			t.Errorf("skill %q, body %q", skill.Name, content.Text)
		}
		sum := sha256.Sum256([]byte(content.Text))
		if content.Digest != hex.EncodeToString(sum[:]) {
			t.Errorf("digest %q", content.Digest)
		}
	})
	t.Run("hot edit", func(t *testing.T) {
		write(t, dir, map[string]string{"pdf/SKILL.md": skillText("other", "Another description.", "New body.\n")})
		skill, content, err := c.Body(ctx, "pdf")
		if err != nil || strings.TrimSpace(content.Text) != "New body." {
			t.Errorf("body %q, %v", content.Text, err)
		}
		if skill.Description != "Reads PDF files." || c.Snapshot().Len() != 1 {
			t.Errorf("the snapshot follows the edit: %+v", skill)
		}
	})
	t.Run("no skill any more", func(t *testing.T) {
		write(t, dir, map[string]string{"pdf/SKILL.md": "No front matter.\n"})
		if _, _, err := c.Body(ctx, "pdf"); !errors.Is(err, skillmd.ErrNotSkill) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("too large", func(t *testing.T) {
		write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", strings.Repeat("x", 1<<20))})
		if _, _, err := c.Body(ctx, "pdf"); !errors.Is(err, scan.ErrTooLarge) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("deleted", func(t *testing.T) {
		if err := os.Remove(filepath.Join(dir, "pdf", "SKILL.md")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Body(ctx, "pdf"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		_, _, err := c.Body(ctx, "../pdf")
		if !errors.Is(err, ErrUnknownSkill) || !strings.Contains(err.Error(), `"../pdf"`) {
			t.Errorf("error %v", err)
		}
	})
}

// countingFS counts how often files are opened.
type countingFS struct {
	fstest.MapFS
	opened map[string]int
}

func (f countingFS) Open(name string) (fs.File, error) {
	f.opened[name]++
	return f.MapFS.Open(name)
}

func TestTextsAreReadOncePerChange(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "Body.\n"), "pdf/doc.md": "doc"})
	info, err := os.Stat(filepath.Join(dir, "pdf", "doc.md"))
	if err != nil {
		t.Fatal(err)
	}
	fsys := countingFS{mapFS(map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "Body.\n"), "pdf/doc.md": "doc"}), map[string]int{}}
	for _, f := range fsys.MapFS {
		f.ModTime = info.ModTime()
	}
	c := mustOpen(t, []source.Root{source.FS("f", fsys)})
	clear(fsys.opened)
	for range 3 {
		if _, _, err := c.Body(t.Context(), "pdf"); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Doc(t.Context(), "pdf", "doc.md"); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"pdf/SKILL.md", "pdf/doc.md"} {
		if fsys.opened[file] != 1 {
			t.Errorf("%s was opened %d times", file, fsys.opened[file])
		}
	}
}

func TestTextCacheIsBounded(t *testing.T) {
	var c textCache
	big := Content{Text: strings.Repeat("x", maxCachedBytes/4)}
	for i := range 20 {
		c.put(textKey{area: i, file: "a"}, cachedText{stamp: scan.Stamp{Settled: true}, content: big})
		c.put(textKey{area: i, file: "a"}, cachedText{stamp: scan.Stamp{Settled: true}, content: big})
		if c.bytes > maxCachedBytes || c.bytes != len(c.texts)*len(big.Text) {
			t.Fatalf("%d bytes for %d texts", c.bytes, len(c.texts))
		}
	}
}

// docFiles are the files of a skill: docs, and files with similar names.
func docFiles() map[string]string {
	files := map[string]string{
		"pdf/SKILL.md":      skillText("pdf", "Reads PDF files.", "Body.\n"),
		"sibling/SKILL.md":  skillText("sibling", "Lives next door.", "Body.\n"),
		"sibling/notes.md":  "neighbour",
		"shared.md":         "shared",
		".env":              "secret",
		".hidden/secret.md": "secret",
		"pdf/a.md":          "\uFEFFone\r\ntwo \xff\n",
		"pdf/a/b.md":        "b",
	}
	for _, name := range []string{
		"guide.MD", "data.csv", "noext", "skill.md", "deep/SKILL.md", "LICENSE", "LICENSE.txt", "license-mit.md", "Licenses.md", "COPYING.txt",
		"NOTICE.md", "noticeboard.md", "references/r.txt", "references/scripts/s.md", "references/bad\nname.md", "scripts/s.md", ".hidden.md", ".hidden/h.md",
		"node_modules/n.md", "x/__pycache__/p.txt", "target/t.md", "dist/t.md", "build/t.md", "vendor/t.md", "venv/t.md",
	} {
		files["pdf/"+name] = name
	}
	return files
}

func TestDocs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, docFiles())
	want := []string{"a.md", "a/b.md", "guide.MD", "noticeboard.md", "references/r.txt", "references/scripts/s.md"}
	for kind, root := range map[string]source.Root{"Dir": source.Dir(dir), "FS": source.FS("f", mapFS(docFiles()))} {
		t.Run(kind, func(t *testing.T) {
			c := mustOpen(t, []source.Root{root})
			docs, err := c.Docs(t.Context(), "pdf")
			if err != nil {
				t.Fatal(err)
			}
			same(t, "docs", want, docs)
			for _, doc := range docs {
				if _, err := c.Doc(t.Context(), "pdf", doc); err != nil {
					t.Errorf("Doc(%q): %v", doc, err)
				}
			}
			content, err := c.Doc(t.Context(), "pdf", "./a.md")
			if err != nil || content.Text != "one\ntwo \uFFFD\n" {
				t.Errorf("Doc = %q, %v", content.Text, err)
			}
		})
	}
	t.Run("other extensions", func(t *testing.T) {
		c := mustOpen(t, []source.Root{source.Dir(dir)}, WithReading(source.Reading{DocExtensions: []string{"CSV"}}))
		docs, err := c.Docs(t.Context(), "pdf")
		if err != nil {
			t.Fatal(err)
		}
		same(t, "docs", []string{"data.csv"}, docs)
	})
	t.Run("none", func(t *testing.T) {
		c := mustOpen(t, []source.Root{source.Dir(dir)}, WithReading(source.Reading{DocExtensions: []string{}}))
		if docs, err := c.Docs(t.Context(), "pdf"); err != nil || len(docs) > 0 {
			t.Errorf("docs %q, %v", docs, err)
		}
	})
}

func TestDocErrors(t *testing.T) {
	files := docFiles()
	files["pdf/big.md"] = strings.Repeat("x", 2000)
	c := mustOpen(t, []source.Root{source.FS("f", mapFS(files))}, WithReading(source.Reading{MaxFileBytes: 1000}))
	tests := []struct {
		name, skill, doc string
		want             error
	}{
		{"unknown skill", "nope", "a.md", ErrUnknownSkill},
		{"unknown doc", "pdf", "b.md", ErrUnknownDoc},
		{"not a doc", "pdf", "data.csv", ErrUnknownDoc},
		{"the skill itself", "pdf", "SKILL.md", ErrUnknownDoc},
		{"another case", "pdf", "A.md", ErrUnknownDoc},
		{"empty", "pdf", "", ErrUnknownDoc},
		{"folder", "pdf", "a", ErrUnknownDoc},
		{"sibling", "pdf", "../sibling/notes.md", ErrPath},
		{"hidden climb", "pdf", "a/../../sibling/notes.md", ErrPath},
		{"absolute", "pdf", "/etc/hosts.md", ErrPath},
		{"too large", "pdf", "big.md", scan.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := c.Doc(t.Context(), tt.skill, tt.doc); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestReadFile(t *testing.T) {
	files := docFiles()
	files["pdf/big.bin"] = strings.Repeat("x", 2000)
	dir := t.TempDir()
	write(t, dir, files)
	tests := []struct {
		name, file, want string
		err              error
	}{
		{name: "bytes as they are", file: "a.md", want: "\uFEFFone\r\ntwo \xff\n"},
		{name: "any file", file: "scripts/s.md", want: "scripts/s.md"},
		{name: "hidden in the skill", file: ".hidden/h.md", want: ".hidden/h.md"},
		{name: "cleaned", file: "./a/../a/b.md", want: "b"},
		{name: "sibling", file: "../sibling/notes.md", err: ErrPath},
		{name: "above", file: "../shared.md", err: ErrPath},
		{name: "back into the skill", file: "../pdf/.hidden/h.md", want: ".hidden/h.md"},
		{name: "hidden above", file: "../.env", err: ErrPath},
		{name: "hidden folder above", file: "../.hidden/secret.md", err: ErrPath},
		{name: "out of the root", file: "../../x", err: ErrPath},
		{name: "absolute", file: "/etc/hosts", err: ErrPath},
		{name: "zero byte", file: "a\x00.md", err: ErrPath},
		{name: "missing", file: "nope", err: fs.ErrNotExist},
		{name: "below a file", file: "a.md/x", err: fs.ErrNotExist},
		{name: "folder", file: "a", err: scan.ErrNotRegular},
		{name: "nothing", file: "", err: scan.ErrNotRegular},
		{name: "too large", file: "big.bin", err: scan.ErrTooLarge},
	}
	for kind, root := range map[string]source.Root{"Dir": source.Dir(dir), "FS": source.FS("f", mapFS(files))} {
		c := mustOpen(t, []source.Root{root}, WithReading(source.Reading{MaxReadBytes: 1000}))
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				data, err := c.ReadFile(t.Context(), "pdf", tt.file)
				if !errors.Is(err, tt.err) || string(data) != tt.want {
					t.Errorf("ReadFile = %q, %v, want %q, %v", data, err, tt.want, tt.err)
				}
			})
		}
	}
}

func TestFiles(t *testing.T) {
	c := mustOpen(t, []source.Root{source.FS("f", mapFS(map[string]string{
		"pdf/SKILL.md": skillText("pdf", "Reads.", ""), "pdf/a.md": "", "pdf/a/b": "", "pdf/a-b": "", "pdf/.env": "",
		"pdf/.git/config": "", "pdf/node_modules/x.js": "", "pdf/dist/x.js": "",
	}))})
	want := []string{".env", "SKILL.md", "a-b", "a.md", "a/b", "dist/x.js"}
	for limit := range len(want) + 2 {
		files, cut, err := c.Files(t.Context(), "pdf", limit)
		if err != nil {
			t.Fatal(err)
		}
		n := limit
		if limit == 0 || limit > len(want) {
			n = len(want)
		}
		same(t, "files", want[:n], files)
		if cut != (n < len(want)) {
			t.Errorf("limit %d: cut = %v", limit, cut)
		}
	}
}

// TestNestedSkillsKeepTheirFiles checks that files of a nested skill do not belong to the skill
// around it.
func TestNestedSkillsKeepTheirFiles(t *testing.T) {
	c := mustOpen(t, []source.Root{source.FS("f", mapFS(map[string]string{
		"SKILL.md": skillText("outer", "Is the root.", ""), "doc.md": "",
		"inner/SKILL.md": skillText("inner", "Is inside.", ""), "inner/doc.md": "",
	}))})
	docs, err := c.Docs(t.Context(), "outer")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "docs", []string{"doc.md"}, docs)
	files, _, err := c.Files(t.Context(), "outer", 0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "files", []string{"SKILL.md", "doc.md"}, files)
}

func FuzzReach(f *testing.F) {
	for _, seed := range [][2]string{{"a/b", "../c"}, {".", "x"}, {"a", "../.git/x"}, {"a", "..//../x"}, {".claude/skills/a", "../b/x"}, {"a", `..\..\x`}, {"a", "in/x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, dir, file string) {
		if !fs.ValidPath(dir) || strings.ContainsRune(dir, 0) { // no file system lists a directory with such a name
			return
		}
		st := &state{areas: []area{{skills: map[string]string{dir: "a", scan.Below(dir, "in"): "b"}}}}
		full, ok := st.treePath(place{dir: dir}, file)
		if !ok {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(full)) || strings.ContainsRune(full, 0) {
			t.Errorf("reach(%q, %q) = %q leaves the root", dir, file, full)
		}
		if dir != "." && full != dir && !strings.HasPrefix(full, dir+"/") {
			t.Errorf("reach(%q, %q) = %q leaves the skill", dir, file, full)
		}
		if strings.HasPrefix(full+"/", scan.Below(dir, "in")+"/") {
			t.Errorf("reach(%q, %q) = %q is in another skill", dir, file, full)
		}
	})
}
