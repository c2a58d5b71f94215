package workspace_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

var _ workspace.Files = (*catalog.Catalog)(nil)

func TestStage(t *testing.T) {
	ws := newWorkspace(t)
	files := pdfFiles()
	dir, staged := stage(t, ws, pdf, "1", files)
	if dir != "skills/pdf" || !staged {
		t.Errorf("staged %q, %t", dir, staged)
	}
	got := tree(t, filepath.Join(ws.Path(), dir))
	delete(got, ".venv") // its mode depends on the umask
	want := map[string]string{
		".":                  "dr-xr-xr-x",
		"SKILL.md":           "-r--r--r-- ---\nname: pdf\n---\n",
		"scripts":            "dr-xr-xr-x",
		"scripts/run.sh":     "-r-xr-xr-x #!/bin/sh\necho hi\n",
		"bin":                "dr-xr-xr-x",
		"bin/tool":           "-r-xr-xr-x \x7fELF\x02",
		"reference":          "dr-xr-xr-x",
		"reference/forms.md": "-r--r--r-- # Forms\n",
		"out":                "-> ../../out",
		"work":               "-> ../../work",
		"inputs":             "-> ../../work/inputs",
	}
	if diff := differ(want, got); diff != "" {
		t.Error(diff)
	}
	write(t, filepath.Join(ws.Path(), dir, ".venv/bin/pip"), "pip")
	write(t, filepath.Join(ws.Path(), dir, "inputs/a"), "a")
	if read(t, filepath.Join(ws.Path(), "work/inputs/a")) != "a" {
		t.Error("inputs is not that of the workspace")
	}
	lists, reads := files.lists.Load(), files.reads.Load()
	if again, staged := stage(t, ws, pdf, "1", files); again != dir || staged {
		t.Errorf("second time: %q, %t", again, staged)
	}
	if lists != files.lists.Load() || reads != files.reads.Load() {
		t.Error("read for the second time")
	}
}

func TestStageOfCatalog(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n")
	write(t, filepath.Join(root, "pdf/scripts/run.py"), "print(1)\n")
	write(t, filepath.Join(root, "pdf/.venv/lib/x.py"), "x")
	must(t, os.Symlink("lib", filepath.Join(root, "pdf/.venv/lib64")))
	must(t, os.Symlink("missing", filepath.Join(root, "pdf/dangling")))
	must(t, os.Symlink("/etc/passwd", filepath.Join(root, "pdf/leak")))
	before := tree(t, root)
	c, err := catalog.Open(t.Context(), []source.Root{source.Dir(root)})
	must(t, err)
	defer c.Close()
	skills := c.Snapshot().Skills()
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, skills[0], "1", c)
	got := tree(t, filepath.Join(ws.Path(), dir))
	for _, want := range []string{"SKILL.md", "scripts/run.py", ".venv.skill/lib/x.py"} {
		if _, ok := got[want]; !ok {
			t.Errorf("%s is missing", want)
		}
	}
	for _, never := range []string{"dangling", "leak", ".venv/lib"} {
		if _, ok := got[never]; ok {
			t.Errorf("%s is staged", never)
		}
	}
	if diff := differ(before, tree(t, root)); diff != "" {
		t.Errorf("the source was changed: %s", diff)
	}
}

func TestStageKeepsOwnFilesAside(t *testing.T) {
	ws := newWorkspace(t)
	files := &skillFiles{files: map[string]string{
		"SKILL.md": "s", "out/template.txt": "own", "out.skill": "taken", "work": "a file", "sub/out/x": "deep",
	}}
	dir, done, err := ws.Stage(t.Context(), pdf, "1", files)
	must(t, err)
	got := tree(t, filepath.Join(ws.Path(), dir))
	for path, want := range map[string]string{
		"out":                      "-> ../../out",
		"work":                     "-> ../../work",
		"out.skill":                "-r--r--r-- taken",
		"out.skill_2/template.txt": "-r--r--r-- own",
		"work.skill":               "-r--r--r-- a file",
		"sub/out/x":                "-r--r--r-- deep",
	} {
		if got[path] != want {
			t.Errorf("%s is %q, not %q", path, got[path], want)
		}
	}
	want := []string{
		`the skill's own "out" is staged as "out.skill_2": that name belongs to the workspace`,
		`the skill's own "work" is staged as "work.skill": that name belongs to the workspace`,
	}
	if diff := differ(want, done.Warnings); diff != "" {
		t.Error(diff)
	}
	if _, done, err := ws.Stage(t.Context(), pdf, "1", files); err != nil || done.HasChecked || done.Copied || !slices.Equal(done.Renamed, []string{"out", "work"}) {
		t.Errorf("the second time: %+v, %v", done, err)
	}
}

// cutFiles is a skill with more files than are listed.
type cutFiles struct{ *skillFiles }

func (c cutFiles) Files(ctx context.Context, name string, limit int) ([]string, bool, error) {
	names, _, err := c.skillFiles.Files(ctx, name, limit)
	return names, true, err
}

func TestStageSaysThatFilesAreMissing(t *testing.T) {
	_, done, err := newWorkspace(t).Stage(t.Context(), pdf, "1", cutFiles{pdfFiles()})
	must(t, err)
	if want := []string{"not all files of the skill are staged: only the first 4"}; !slices.Equal(done.Warnings, want) {
		t.Errorf("warnings %q, want %q", done.Warnings, want)
	}
}

func TestStageReplaces(t *testing.T) {
	w := open(t)
	ws := of(t, w, "s")
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	running, err := os.OpenRoot(filepath.Join(ws.Path(), dir)) // an open handle stands for a running command
	must(t, err)
	defer running.Close()
	changed := pdfFiles()
	changed.files["SKILL.md"] = "new"
	delete(changed.files, "bin/tool")
	if same, staged := stage(t, ws, pdf, "2", changed); same != dir || !staged {
		t.Errorf("staged %q, %t", same, staged)
	}
	if got := read(t, filepath.Join(ws.Path(), dir, "SKILL.md")); got != "new" {
		t.Errorf("content %q", got)
	}
	if _, err := os.Stat(filepath.Join(ws.Path(), dir, "bin/tool")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an old file is there")
	}
	if _, err := running.Stat("bin/tool"); err != nil {
		t.Errorf("a running command lost its files: %v", err)
	}
	if _, staged := stage(t, ws, pdf, "1", pdfFiles()); !staged {
		t.Error("the first digest was taken to be still there")
	}
	of(t, w, "s").Release() // another holder remains
	if _, err := running.Stat("bin/tool"); err != nil {
		t.Errorf("removed while in use: %v", err)
	}
	ws.Release()
	if left := staged(t, ws); len(left) != 1 {
		t.Errorf("after the last release: %q", left)
	}
}

func TestStageAgainWhatIsGone(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	removeAll(t, filepath.Join(ws.Path(), dir))
	if _, staged := stage(t, ws, pdf, "1", pdfFiles()); !staged {
		t.Error("a removed skill was not staged again")
	}
	removeAll(t, filepath.Join(ws.Path(), dir))
	must(t, os.Symlink("/", filepath.Join(ws.Path(), dir)))
	if _, staged := stage(t, ws, pdf, "1", pdfFiles()); !staged {
		t.Error("a link was taken for the skill")
	}
	if read(t, filepath.Join(ws.Path(), dir, "reference/forms.md")) != "# Forms\n" {
		t.Error("the link is still there")
	}
}

func TestStageErrors(t *testing.T) {
	failure := errors.New("read fails")
	many := &skillFiles{files: map[string]string{"SKILL.md": strings.Repeat("x", 2000)}}
	for _, tt := range []struct {
		name   string
		skill  string
		digest string
		files  *skillFiles
		want   error
	}{
		{"no name", "", "1", pdfFiles(), workspace.ErrName},
		{"no load", "pdf", "", pdfFiles(), workspace.ErrName},
		{"climbing file", "pdf", "1", &skillFiles{files: map[string]string{"../../x": ""}}, workspace.ErrPath},
		{"absolute file", "pdf", "1", &skillFiles{files: map[string]string{"/etc/x": ""}}, workspace.ErrPath},
		{"hidden climb", "pdf", "1", &skillFiles{files: map[string]string{"a/../../x": ""}}, workspace.ErrPath},
		{"file and directory", "pdf", "1", &skillFiles{files: map[string]string{"a": "", "a/b": ""}}, fs.ErrExist},
		{"read error", "pdf", "1", &skillFiles{files: map[string]string{"a": ""}, beforeReading: func(string) error { return failure }}, failure},
		{"file too large", "pdf", "1", many, workspace.ErrTooLarge},
		{"workspace full", "pdf", "1", &skillFiles{files: map[string]string{"a": strings.Repeat("x", 900), "b": strings.Repeat("x", 900), "c": strings.Repeat("x", 900), "d": strings.Repeat("x", 900), "e": strings.Repeat("x", 900)}}, workspace.ErrFull},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ws := newWorkspace(t, workspace.WithMaxFileBytes(1000), workspace.WithMaxBytes(4000))
			dir, done, err := ws.Stage(t.Context(), core.Skill{Name: tt.skill}, tt.digest, tt.files)
			if !errors.Is(err, tt.want) || dir != "" || done.Copied {
				t.Errorf("%q, %v, error %v", dir, done, err)
			}
			if err != nil && strings.Contains(err.Error(), ws.Path()) {
				t.Errorf("the error shows a path of the host: %v", err)
			}
			if left := staged(t, ws); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
	t.Run("ended context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := newWorkspace(t).Stage(ctx, pdf, "1", pdfFiles()); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

func TestStageFailureKeepsTheOld(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	bad := pdfFiles()
	bad.files["SKILL.md"] = "new"
	bad.beforeReading = func(file string) error {
		if file == "scripts/run.sh" {
			return errors.New("read fails")
		}
		return nil
	}
	if _, _, err := ws.Stage(t.Context(), pdf, "2", bad); err == nil {
		t.Fatal("no error")
	}
	if _, staged := stage(t, ws, pdf, "1", pdfFiles()); staged {
		t.Error("the old copy was lost")
	}
	if read(t, filepath.Join(ws.Path(), dir, "reference/forms.md")) != "# Forms\n" {
		t.Error("the old copy is damaged")
	}
}

func TestStageOnceForMany(t *testing.T) {
	w := open(t)
	files := pdfFiles()
	var wg sync.WaitGroup
	var copies atomic.Int64
	for range 32 {
		wg.Go(func() {
			ws, err := w.Of(context.Background(), "s")
			if err != nil {
				t.Error(err)
				return
			}
			defer ws.Release()
			_, done, err := ws.Stage(context.Background(), pdf, "1", files)
			if err != nil {
				t.Error(err)
			}
			if done.Copied {
				copies.Add(1)
			}
		})
	}
	wg.Wait()
	if copies.Load() != 1 || files.lists.Load() != 1 {
		t.Errorf("%d copies, listed %d times", copies.Load(), files.lists.Load())
	}
}

// TestStageConcurrentDigests replaces a skill while others read it: what is in
// place is always complete.
func TestStageConcurrentDigests(t *testing.T) {
	ws := newWorkspace(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			digest := string(rune('a' + i%3))
			files := &skillFiles{files: map[string]string{"one": digest, "two": digest}}
			for range 10 {
				dir, _, err := ws.Stage(context.Background(), pdf, digest, files)
				if err != nil {
					t.Error(err)
					return
				}
				sub, err := ws.Root().OpenRoot(dir)
				if errors.Is(err, fs.ErrNotExist) {
					continue // the writer is between its two renames
				}
				if err != nil {
					t.Error(err)
					return
				}
				one, err1 := sub.ReadFile("one")
				two, err2 := sub.ReadFile("two")
				sub.Close()
				if err1 != nil || err2 != nil || string(one) != string(two) {
					t.Errorf("%q and %q, errors %v, %v", one, two, err1, err2)
				}
			}
		})
	}
	wg.Wait()
}

// What one skill has left in its .venv is not for another that gets its name.
func TestStageKeepsNoVenvOfAnotherSkill(t *testing.T) {
	ws := newWorkspace(t)
	first, second := core.Skill{Name: "pdf", ID: "dir:a/pdf"}, core.Skill{Name: "pdf", ID: "dir:b/pdf"}
	files := pdfFiles()
	for i, tt := range []struct {
		skill core.Skill
		load  string
		keeps bool
	}{{first, "1", false}, {first, "2", true}, {second, "3", false}, {second, "3", true}, {first, "1", false}} {
		dir, _ := stage(t, ws, tt.skill, tt.load, files)
		left := filepath.Join(ws.Path(), dir, ".venv/bin/pip")
		if _, err := os.Stat(left); (err == nil) != tt.keeps {
			t.Errorf("%d: %v", i, err)
		}
		write(t, left, "of "+tt.skill.ID)
	}
}
