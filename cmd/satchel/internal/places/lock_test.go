package places_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

func open(t *testing.T, files map[string]string) (*catalog.Catalog, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	c, err := catalog.Open(t.Context(), []source.Root{source.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const pdf = "---\nname: pdf\ndescription: Reads.\n---\nBody.\n"

func TestLock(t *testing.T) {
	c, dir := open(t, map[string]string{"pdf/SKILL.md": pdf, "pdf/references/a.md": "a", "pdf/b.md": "b"})
	now, err := places.LockOf(t.Context(), c, "pdf", "https://example.com/x.zip")
	if err != nil || len(now.Files) != 3 {
		t.Fatalf("LockOf: got %+v, error %v, want 3 entries", now, err)
	}
	if _, err := places.ReadLock(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	var l places.Lock
	l.Put(now)
	l.Put(now)
	if err := l.Write(dir); err != nil {
		t.Fatal(err)
	}
	read, err := places.ReadLock(dir)
	if err != nil || !reflect.DeepEqual(*read, l) || len(read.Skills) != 1 || read.Differences(now) != nil {
		t.Errorf("%+v, %v", read, err)
	}
	put(t, dir, "pdf/references/a.md", "A")
	put(t, dir, "pdf/new.md", "new")
	if err := os.Remove(filepath.Join(dir, "pdf/b.md")); err != nil {
		t.Fatal(err)
	}
	if now, err = places.LockOf(t.Context(), c, "pdf", ""); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`skill "pdf": new.md is not what satchel.lock has`,
		`skill "pdf": references/a.md is not what satchel.lock has`,
		`skill "pdf": b.md is missing, and satchel.lock has it`,
	}
	if got := read.Differences(now); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if got := read.Differences(places.LockedSkill{Name: "x"}); len(got) != 1 || got[0] != `skill "x" is not in satchel.lock` {
		t.Errorf("%q", got)
	}
}

func TestInstaller(t *testing.T) {
	c, dir := open(t, map[string]string{"p/.agents/skills/pdf/SKILL.md": pdf, "p/.agents/skills/pdf/a.md": "a"})
	sum := sha256.Sum256([]byte("a.md" + "a" + "SKILL.md" + pdf)) // a sorts before S, as in the order of a language
	put(t, dir, "p/skills-lock.json", fmt.Sprintf(`{"version":1,"skills":{"pdf":{"source":"o/r","sourceType":"github","computedHash":%q}}}`, hex.EncodeToString(sum[:])))
	i, err := places.ReadInstaller(filepath.Join(dir, "p/.agents/skills"))
	if err != nil || i["pdf"].Source != "o/r" {
		t.Fatalf("ReadInstaller: got %+v, error %v, want Source %q", i, err, "o/r")
	}
	if ok, err := i["pdf"].Matches(t.Context(), c, "pdf"); err != nil || !ok {
		t.Errorf("%v, %v", ok, err)
	}
	put(t, dir, "p/.agents/skills/pdf/a.md", "b")
	if ok, err := i["pdf"].Matches(t.Context(), c, "pdf"); err != nil || ok {
		t.Errorf("%v, %v", ok, err)
	}
	if none, err := places.ReadInstaller(t.TempDir()); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"skills":[{"name":"pdf","source":"","sha256":"x","files":[{"path":"SKILL.md","sha256":"y","size":1}]}]}`))
	f.Add([]byte(`{"version":1,"skills":{"pdf":{"source":"o/r","computedHash":"x"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if l, err := places.ParseLock(data); err == nil {
			for _, s := range l.Skills {
				if _, ok := l.Find(s.Name); !ok || l.Differences(s) != nil && len(s.Files) == 0 {
					t.Errorf("%+v is not found", s)
				}
			}
		}
		if i, err := places.ParseInstaller(data); err != nil && i != nil {
			t.Error("both a file and an error")
		}
	})
}
