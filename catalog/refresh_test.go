package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
)

func TestRefresh(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"pdf/SKILL.md":  skillText("pdf", "Reads PDF files.", "Body.\n"),
		"xls/SKILL.md":  skillText("xls", "Reads tables.", "Body.\n"),
		"gone/SKILL.md": skillText("gone", "Goes away.", "Body.\n"),
	})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	first := c.Snapshot()

	refresh := func(t *testing.T) *Snapshot {
		t.Helper()
		s, err := c.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s != c.Snapshot() {
			t.Error("Refresh returned another snapshot than the current one")
		}
		return s
	}
	t.Run("nothing changed", func(t *testing.T) {
		if s := refresh(t); s != first {
			t.Error("a new snapshot")
		}
	})
	t.Run("only a body changed", func(t *testing.T) {
		write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads PDF files.", "Another body.\n")})
		if s := refresh(t); s != first {
			t.Error("a new snapshot")
		}
	})
	t.Run("edited, added, deleted", func(t *testing.T) {
		write(t, dir, map[string]string{
			"pdf/SKILL.md": skillText("pdf", "Writes PDF files.", "Body.\n"),
			"csv/SKILL.md": skillText("csv", "Is new.", "Body.\n"),
		})
		if err := os.RemoveAll(filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
		s := refresh(t)
		var got []string
		for _, skill := range s.Skills() {
			got = append(got, skill.Name+": "+skill.Description)
		}
		if want := []string{"csv: Is new.", "pdf: Writes PDF files."}; !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) || s.Len() != 3 {
			t.Errorf("skills %q, want %q and one more", got, want)
		}
		if s.Digest() == first.Digest() {
			t.Error("the digest is the same")
		}
		if first.Len() != 3 {
			t.Error("the old snapshot has changed")
		}
	})
	t.Run("an edit of the same size within one tick", func(t *testing.T) {
		file := filepath.Join(dir, "hot", "SKILL.md")
		now := time.Now()
		for _, description := range []string{"Version one.", "Version two."} {
			write(t, dir, map[string]string{"hot/SKILL.md": skillText("hot", description, "")})
			if err := os.Chtimes(file, now, now); err != nil {
				t.Fatal(err)
			}
			if skill, _ := refresh(t).Skill("hot"); skill.Description != description {
				t.Errorf("description %q, want %q", skill.Description, description)
			}
		}
	})
	t.Run("replaced by rename, same size and time", func(t *testing.T) {
		write(t, dir, map[string]string{
			"mv/SKILL.md": skillText("mv", "Version one.", ""),
			"mv/new":      skillText("mv", "Version two.", ""),
		})
		refresh(t)
		file, other := filepath.Join(dir, "mv", "SKILL.md"), filepath.Join(dir, "mv", "new")
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(other, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, file); err != nil {
			t.Fatal(err)
		}
		if skill, _ := refresh(t).Skill("mv"); skill.Description != "Version two." {
			t.Errorf("description %q", skill.Description)
		}
	})
	t.Run("the root is missing for a moment", func(t *testing.T) {
		before := c.Snapshot()
		if err := os.Rename(dir, dir+".away"); err != nil {
			t.Fatal(err)
		}
		s, err := c.Refresh(t.Context())
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("error %v does not name the root", err)
		}
		if len(s.Skills()) != len(before.Skills()) || c.Snapshot() != s {
			t.Error("the skills have changed")
		}
		last := s.Diagnostics()[len(s.Diagnostics())-1]
		if e, ok := errors.AsType[*RootError](err); !ok || e.Finding != last || last.Code != CodeSourceFailed || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error %#v, finding %v", err, last)
		}
		if again, err := c.Refresh(t.Context()); again != s || err == nil {
			t.Errorf("a second Refresh: a new snapshot %v, error %v", again != s, err)
		}
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Fatal(err)
		}
		if s := refresh(t); len(s.Diagnostics()) != len(before.Diagnostics()) || len(s.Skills()) != len(before.Skills()) {
			t.Errorf("%d skills, findings %v", len(s.Skills()), s.Diagnostics())
		}
	})
}

// TestRefreshParsesOnlyWhatChanged compares the records before and after. A record that was not
// parsed again shares its diagnostics with the old one.
func TestRefreshParsesOnlyWhatChanged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a/SKILL.md": skillText("other-a", "Has a finding.", ""),
		"b/SKILL.md": skillText("other-b", "Has a finding.", ""),
	})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	before := c.state.Load().roots[0].live.Known
	write(t, dir, map[string]string{"b/SKILL.md": skillText("other-b", "Has changed a lot.", "")})
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := c.state.Load().roots[0].live.Known
	for file, kept := range map[string]bool{"a/SKILL.md": true, "b/SKILL.md": false} {
		if got := &before[file].Diagnostics[0] == &after[file].Diagnostics[0]; got != kept {
			t.Errorf("%s: record kept = %v, want %v", file, got, kept)
		}
	}
}

func TestRootIsSwapped(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"v1/pdf/SKILL.md": skillText("pdf", "The same.", "Body one.\n"), "v1/pdf/doc.md": "one",
		"v2/pdf/SKILL.md": skillText("pdf", "The same.", "Body two.\n"), "v2/pdf/doc.md": "two",
	})
	current := filepath.Join(base, "current")
	point := func(target string) {
		t.Helper()
		link := filepath.Join(base, "next")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, current); err != nil {
			t.Fatal(err)
		}
	}
	point("v1")
	c := mustOpen(t, []source.Root{source.Dir(current)})
	check := func(body, doc string) {
		t.Helper()
		_, content, err := c.Body(t.Context(), "pdf")
		if err != nil || strings.TrimSpace(content.Text) != body {
			t.Errorf("body %q, %v, want %q", content.Text, err, body)
		}
		content, err = c.Doc(t.Context(), "pdf", "doc.md")
		if err != nil || content.Text != doc {
			t.Errorf("doc %q, %v, want %q", content.Text, err, doc)
		}
	}
	check("Body one.", "one")
	point("v2")
	check("Body one.", "one") // the catalog keeps the old directory open until the refresh
	before := c.Snapshot()
	s, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s != before {
		t.Error("a new snapshot, though names, descriptions and places are the same")
	}
	if err := os.RemoveAll(filepath.Join(base, "v1")); err != nil {
		t.Fatal(err)
	}
	check("Body two.", "two")
}

// TestConcurrentUse swaps and edits the directory while goroutines read. They must never get parts
// of two versions. The race detector finds other faults.
func TestConcurrentUse(t *testing.T) {
	base := t.TempDir()
	const skills = 20
	for _, version := range []string{"v0", "v1"} {
		files := map[string]string{}
		for i := range skills {
			name := fmt.Sprintf("s%02d", i)
			files[version+"/"+name+"/SKILL.md"] = skillText(name, "In "+version+".", "Body "+version+".\n")
			files[version+"/"+name+"/doc.md"] = "Doc " + version
		}
		write(t, base, files)
	}
	current := filepath.Join(base, "current")
	if err := os.Symlink("v0", current); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, []source.Root{source.Dir(current)})
	ctx := t.Context()
	var readers, writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(base, "next")
			if err := os.Symlink(fmt.Sprintf("v%d", i%2), next); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(next, current); err != nil {
				t.Error(err)
				return
			}
			if _, err := c.Refresh(ctx); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for worker := range 8 {
		readers.Go(func() {
			for i := range 60 {
				name := fmt.Sprintf("s%02d", (i*7+worker)%skills)
				if _, content, err := c.Body(ctx, name); err != nil || !strings.HasPrefix(strings.TrimSpace(content.Text), "Body v") {
					t.Errorf("Body(%s) = %q, %v", name, content.Text, err)
				}
				if content, err := c.Doc(ctx, name, "doc.md"); err != nil || !strings.HasPrefix(content.Text, "Doc v") {
					t.Errorf("Doc(%s) = %q, %v", name, content.Text, err)
				}
				if files, _, err := c.Files(ctx, name, 0); err != nil || len(files) != 2 {
					t.Errorf("Files(%s) = %q, %v", name, files, err)
				}
				if data, err := c.ReadFile(ctx, name, "doc.md"); err != nil || len(data) != 6 {
					t.Errorf("ReadFile(%s) = %q, %v", name, data, err)
				}
				if s := c.Snapshot(); s.Len() != skills {
					t.Errorf("%d skills", s.Len())
				}
				if worker == 0 && i%10 == 0 {
					if _, err := c.Refresh(ctx); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writer.Wait()
}
