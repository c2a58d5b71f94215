// Package catalogtest checks that an implementation of catalog.Source keeps every
// promise of that interface.
package catalogtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// Library is a source that the tests can change. They name skills by their front matter; the
// source may use any ids.
type Library struct {
	Source catalog.Source
	// Put writes a file of a skill, and creates the skill if it does not exist.
	Put func(t *testing.T, skill, path, text string)
	// Delete removes a skill.
	Delete func(t *testing.T, skill string)
}

// Source runs the conformance tests, each with a library of its own. open returns an empty
// library, which it closes in t.Cleanup.
func Source(t *testing.T, open func(t *testing.T) Library) {
	t.Helper()
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"scan/nothing", emptyScan},
		{"scan/entries are complete", completeEntries},
		{"scan/twice is the same", stableScan},
		{"scan/returns prev when nothing has changed", returnsPrev},
		{"scan/a revision changes exactly with its files", revisions},
		{"scan/a skill comes and goes", comesAndGoes},
		{"scan/leaves an earlier listing alone", leavesPrev},
		{"open/files are what was listed", listedFiles},
		{"open/unknown is gone", unknownIsGone},
		{"open/an old revision is kept or gone", oldRevision},
		{"context/cancelled", cancelled},
		{"parallel/scan and open", parallel},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, &fixture{open(t)}) })
	}
}

// fixture is a library with helpers for the tests.
type fixture struct{ Library }

func skillText(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n# %s\n", name, description, name)
}

// fill puts two skills, one with files.
func (s *fixture) fill(t *testing.T) {
	t.Helper()
	s.Put(t, "pdf", "SKILL.md", skillText("pdf", "Reads PDF files."))
	s.Put(t, "pdf", "references/forms.md", "Forms.\n")
	s.Put(t, "pdf", "scripts/fill.sh", "echo filled\n")
	s.Put(t, "csv", "SKILL.md", skillText("csv", "Reads tables."))
}

func (s *fixture) scan(t *testing.T, prev *source.Listing) *source.Listing {
	t.Helper()
	l, err := s.Source.Scan(t.Context(), prev)
	if err != nil || l == nil {
		t.Fatalf("scan: %v, %v", l, err)
	}
	return l
}

// entry returns the entry of the skill with that name in its front matter.
func entry(t *testing.T, l *source.Listing, name string) source.Entry {
	t.Helper()
	for _, e := range l.Entries {
		if strings.Contains(string(e.Head), "name: "+name+"\n") {
			return e
		}
	}
	t.Fatalf("no skill %q among %d", name, len(l.Entries))
	return source.Entry{}
}

func emptyScan(t *testing.T, s *fixture) {
	l := s.scan(t, nil)
	if len(l.Entries) != 0 {
		t.Errorf("an empty library lists %+v", l.Entries)
	}
	if again := s.scan(t, l); again != l {
		t.Error("an empty library has changed by itself")
	}
}

func completeEntries(t *testing.T, s *fixture) {
	s.fill(t)
	s.Put(t, "long", "SKILL.md", skillText("long", "Long.")+strings.Repeat("A long body.\n", 50_000))
	l := s.scan(t, nil)
	if len(l.Entries) != 3 {
		t.Fatalf("%d entries, want 3", len(l.Entries))
	}
	ids := map[string]bool{}
	for _, e := range l.Entries {
		if e.ID == "" || len(e.ID) > 256 || !utf8.ValidString(e.ID) || strings.ContainsFunc(e.ID, unicode.IsControl) {
			t.Errorf("id %q is not printable text of 1 to 256 bytes", e.ID)
		}
		if ids[e.ID] {
			t.Errorf("id %q is given twice", e.ID)
		}
		ids[e.ID] = true
		if e.Revision == "" {
			t.Errorf("%s has no revision", e.ID)
		}
		if head := string(e.Head); len(head) > 64<<10 || !strings.HasPrefix(head, "---\n") || !strings.Contains(head[3:], "\n---") {
			t.Errorf("the head of %s is %d bytes and not its front matter: %.80q", e.ID, len(head), head)
		}
	}
}

func stableScan(t *testing.T, s *fixture) {
	s.fill(t)
	if a, b := s.scan(t, nil), s.scan(t, nil); !reflect.DeepEqual(a, b) {
		t.Errorf("one scan gives\n%+v\nthe next\n%+v", a, b)
	}
}

func returnsPrev(t *testing.T, s *fixture) {
	s.fill(t)
	first := s.scan(t, nil)
	for range 3 {
		if again := s.scan(t, first); again != first {
			t.Fatal("nothing has changed, and prev was not returned")
		}
	}
	s.Put(t, "csv", "notes.md", "New.\n")
	second := s.scan(t, first)
	if second == first {
		t.Fatal("a new file is not seen")
	}
	if again := s.scan(t, second); again != second {
		t.Error("nothing has changed, and prev was not returned")
	}
	if third := s.scan(t, first); third == first {
		t.Error("an older prev is returned although files have changed since")
	}
}

func revisions(t *testing.T, s *fixture) {
	s.fill(t)
	before := s.scan(t, nil)
	for _, change := range []struct{ path, text string }{
		{"SKILL.md", skillText("pdf", "Reads and writes PDF files.")},
		{"SKILL.md", skillText("pdf", "Reads and writes PDF files.") + "More.\n"},
		{"references/forms.md", "FORMS.\n"}, // the same length as before
		{"references/new.md", ""},
	} {
		s.Put(t, "pdf", change.path, change.text)
		after := s.scan(t, before)
		if a, b := entry(t, before, "pdf"), entry(t, after, "pdf"); a.ID != b.ID || a.Revision == b.Revision {
			t.Errorf("after a change of %s: id %q, then %q; revision %q, then %q", change.path, a.ID, b.ID, a.Revision, b.Revision)
		}
		if a, b := entry(t, before, "csv"), entry(t, after, "csv"); !reflect.DeepEqual(a, b) {
			t.Errorf("after a change of another skill: %+v, then %+v", a, b)
		}
		before = after
	}
}

func comesAndGoes(t *testing.T, s *fixture) {
	s.fill(t)
	before := s.scan(t, nil)
	pdf := entry(t, before, "pdf")
	s.Delete(t, "pdf")
	after := s.scan(t, before)
	if after == before || len(after.Entries) != 1 {
		t.Fatalf("after a skill was deleted: %d entries", len(after.Entries))
	}
	s.fill(t)
	if again := entry(t, s.scan(t, after), "pdf"); again.ID != pdf.ID {
		t.Errorf("the id was %q and is %q now", pdf.ID, again.ID)
	}
}

func leavesPrev(t *testing.T, s *fixture) {
	s.fill(t)
	prev := s.scan(t, nil)
	copied := source.Listing{Diagnostics: append(prev.Diagnostics[:0:0], prev.Diagnostics...)}
	for _, e := range prev.Entries {
		e.Head, e.Files = append(e.Head[:0:0], e.Head...), append(e.Files[:0:0], e.Files...)
		copied.Entries = append(copied.Entries, e)
	}
	s.Put(t, "csv", "SKILL.md", skillText("csv", "Writes tables."))
	s.Delete(t, "pdf")
	s.scan(t, prev)
	if len(prev.Entries) != 2 || !reflect.DeepEqual(entry(t, prev, "csv").Head, entry(t, &copied, "csv").Head) || entry(t, prev, "pdf").ID == "" {
		t.Errorf("a scan has changed the listing before it: %+v", prev)
	}
}

func listedFiles(t *testing.T, s *fixture) {
	s.fill(t)
	e := entry(t, s.scan(t, nil), "pdf")
	fsys, err := s.Source.Open(t.Context(), e.ID, e.Revision)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"SKILL.md": skillText("pdf", "Reads PDF files."), "references/forms.md": "Forms.\n", "scripts/fill.sh": "echo filled\n",
	} {
		if data, err := fs.ReadFile(fsys, path); err != nil || string(data) != want {
			t.Errorf("%s is %q, %v", path, data, err)
		}
	}
	if _, err := fs.ReadFile(fsys, "none.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	found := 0
	err = fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found++
		}
		return err
	})
	if err != nil || found != 3 {
		t.Errorf("the tree has %d files, %v", found, err)
	}
	if e.Files == nil {
		return
	}
	if len(e.Files) != 3 {
		t.Errorf("%d files are listed, want 3", len(e.Files))
	}
	for _, f := range e.Files {
		data, err := fs.ReadFile(fsys, f.Path)
		sum := sha256.Sum256(data)
		if err != nil || int64(len(data)) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s is listed with %d bytes, %s, and is %d bytes, %x, %v", f.Path, f.Size, f.SHA256, len(data), sum, err)
		}
	}
}

func unknownIsGone(t *testing.T, s *fixture) {
	s.fill(t)
	e := entry(t, s.scan(t, nil), "pdf")
	for _, ref := range [][2]string{{"no such skill", e.Revision}, {"", ""}, {e.ID, "no such revision"}, {"../" + e.ID, e.Revision}} {
		if _, err := s.Source.Open(t.Context(), ref[0], ref[1]); !errors.Is(err, source.ErrGone) {
			t.Errorf("open %q: %v", ref, err)
		}
	}
}

func oldRevision(t *testing.T, s *fixture) {
	s.fill(t)
	before := s.scan(t, nil)
	e := entry(t, before, "pdf")
	s.Put(t, "pdf", "references/forms.md", "Other.\n")
	for _, what := range []string{"before a scan", "after a scan"} {
		fsys, err := s.Source.Open(t.Context(), e.ID, e.Revision)
		if errors.Is(err, source.ErrGone) {
			s.scan(t, before)
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		data, err := fs.ReadFile(fsys, "references/forms.md")
		if isGone := errors.Is(err, source.ErrGone) || errors.Is(err, source.ErrDigest); !isGone && (err != nil || string(data) != "Forms.\n") {
			t.Errorf("%s: the old revision has %q, %v", what, data, err)
		}
		s.scan(t, before)
	}
}

func cancelled(t *testing.T, s *fixture) {
	s.fill(t)
	e := entry(t, s.scan(t, nil), "pdf")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := s.Source.Scan(ctx, nil); !errors.Is(err, context.Canceled) || l != nil {
		t.Errorf("scan: %v, %v", l, err)
	}
	if fsys, err := s.Source.Open(ctx, e.ID, e.Revision); !errors.Is(err, context.Canceled) || fsys != nil {
		t.Errorf("open: %v, %v", fsys, err)
	}
}

func parallel(t *testing.T, s *fixture) {
	s.fill(t)
	listing := s.scan(t, nil)
	var workers sync.WaitGroup
	for i := range 8 {
		workers.Go(func() {
			for range 10 {
				if i%2 == 0 {
					if l, err := s.Source.Scan(t.Context(), listing); err != nil || l != listing {
						t.Errorf("scan: another listing, %v", err)
					}
					continue
				}
				for _, e := range listing.Entries {
					fsys, err := s.Source.Open(t.Context(), e.ID, e.Revision)
					if err != nil {
						t.Errorf("open %s: %v", e.ID, err)
						continue
					}
					if data, err := fs.ReadFile(fsys, "SKILL.md"); err != nil || !strings.HasPrefix(string(data), string(e.Head)) {
						t.Errorf("SKILL.md of %s: %d bytes, %v", e.ID, len(data), err)
					}
				}
			}
		})
	}
	workers.Wait()
}
