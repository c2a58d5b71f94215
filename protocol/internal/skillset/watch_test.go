package skillset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
	"github.com/satchel-go/satchel/skillmd"
)

// writeFiles writes files below a directory.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// waitForSkills waits until the set has exactly these skills and versions.
func waitForSkills(t *testing.T, s *skillset.Set, want ...string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		list, _ := s.List("ann", "")
		got = ""
		for _, k := range list {
			got += k.ID() + "@" + k.Version + " "
		}
		if strings.TrimSpace(got) == strings.Join(want, " ") {
			return
		}
	}
	t.Fatalf("the set has %q, want %q", got, want)
}

func skill(name, version string) map[string]string {
	return map[string]string{name + "/SKILL.md": plain, name + "/skill.toml": manifest(name, version), name + "/deep/er/a.txt": "x"}
}

// TestWatch changes a directory in all the ways that people, tools and deployments do.
func TestWatch(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "skills")
	writeFiles(t, dir, skill("a", "1.0.0"))
	src, err := source.Open(t.Context(), source.Dir(dir), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := skillset.Open(t.Context(), "", src)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := make(chan skillmd.Diagnostic, 100)
	stop := s.Watch(func(all []skillmd.Diagnostic) {
		for _, d := range all {
			found <- d
		}
	})
	defer stop()
	waitForSkills(t, s, "a@1.0.0")
	writeFiles(t, dir, skill("b", "1.0.0")) // the files arrive one by one
	waitForSkills(t, s, "a@1.0.0", "b@1.0.0")
	writeFiles(t, dir, map[string]string{"b/skill.toml": manifest("b", "1.1.0")})
	waitForSkills(t, s, "a@1.0.0", "b@1.1.0")
	digest := s.Digest("ann")
	writeFiles(t, dir, map[string]string{"b/deep/er/a.txt": "y"})
	for deadline := time.Now().Add(20 * time.Second); s.Digest("ann") == digest; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a file deep in a skill has changed, and its digest has not")
		}
	}
	writeFiles(t, dir, map[string]string{"broken/SKILL.md": "no front matter", "broken/skill.toml": "name ="})
	if d := <-found; !strings.Contains(d.File, "broken") {
		t.Errorf("got %+v, want it to contain %q", d, "broken")
	}
	writeFiles(t, base, skill("next/a", "2.0.0")) // the skill is replaced by a rename
	writeFiles(t, filepath.Join(base, "next"), map[string]string{"a/skill.toml": manifest("a", "2.0.0")})
	for _, move := range [][2]string{{"skills/a", "old"}, {"next/a", "skills/a"}} {
		if err := os.Rename(filepath.Join(base, move[0]), filepath.Join(base, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	waitForSkills(t, s, "a@2.0.0", "b@1.1.0")
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, s, "a@2.0.0")
	away := filepath.Join(base, "away") // the root directory itself is moved away
	if err := os.Rename(dir, away); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, s)
	if err := os.Rename(away, dir); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, s, "a@2.0.0")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, s)
	writeFiles(t, dir, skill("c", "1.0.0"))
	waitForSkills(t, s, "c@1.0.0")
	if err := os.Rename(dir, away); err != nil { // the root becomes a link to a release
		t.Fatal(err)
	}
	if err := os.Symlink("away", dir); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, away, skill("d", "1.0.0"))
	waitForSkills(t, s, "c@1.0.0", "d@1.0.0")
	stop()
	stop2 := s.Watch(nil)
	stop2()
}

// TestTwoShelves has two servers on one directory of created skills.
func TestTwoShelves(t *testing.T) {
	base := t.TempDir()
	one, two := open(t, base, nil), open(t, base, nil)
	defer two.Watch(nil)()
	if _, err := one.Create(t.Context(), "ann", draft("0.1.0", "x")); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, two, "user.ann.save@0.1.0")
	if _, err := two.Create(t.Context(), "ann", draft("0.1.0", "x")); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if _, err := two.Create(t.Context(), "ann", draft("0.1.0", "y")); !errors.Is(err, skillset.ErrExists) {
		t.Errorf("other bytes: %v", err)
	}
	if _, err := two.Create(t.Context(), "ann", draft("0.2.0", "y")); err != nil {
		t.Error(err)
	}
	if err := one.RefreshIfOld(t.Context()); err != nil {
		t.Error(err)
	}
	waitForSkills(t, one, "user.ann.save@0.2.0", "user.ann.save@0.1.0")
	var all sync.WaitGroup
	results := make(chan error, 16)
	for i := range 16 {
		all.Go(func() {
			_, err := []*skillset.Set{one, two}[i%2].Create(t.Context(), "ann", draft("0.3.0", fmt.Sprint("z", i)))
			results <- err
		})
	}
	all.Wait()
	made := 0
	for range 16 {
		if err := <-results; err == nil {
			made++
		} else if !errors.Is(err, skillset.ErrExists) {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d of 16 have created one version", made)
	}
	if err := os.RemoveAll(filepath.Join(base, "t616e6e", "user.ann.save", "0.1.0")); err != nil {
		t.Fatal(err)
	}
	waitForSkills(t, two, "user.ann.save@0.3.0", "user.ann.save@0.2.0")
}
