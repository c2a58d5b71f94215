package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestInputDirectories(t *testing.T) {
	t.Run("left out", func(t *testing.T) {
		a := newInputWorkspace(t)
		must(t, os.Symlink("two", filepath.Join(a.host, "data/link")))
		must(t, os.Symlink("/", filepath.Join(a.host, "data/a/root")))
		staged, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: a.hostURL("data")}}, a.from)
		must(t, err)
		if len(warnings) != 1 || !strings.Contains(warnings[0], "2 links left out") || staged[0].Size != 6 {
			t.Errorf("warnings %q, staged %v", warnings, staged)
		}
	})
	t.Run("merged", func(t *testing.T) {
		a := newInputWorkspace(t)
		write(t, filepath.Join(a.ws.Path(), "work/inputs/data/a/mine"), "mine")
		write(t, filepath.Join(a.ws.Path(), "work/inputs/data/two"), "old")
		_, _, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: a.hostURL("data")}}, a.from)
		must(t, err)
		for path, want := range map[string]string{"a/mine": "mine", "a/one": "one", "two": "two"} {
			if got := read(t, filepath.Join(a.ws.Path(), "work/inputs/data", path)); got != want {
				t.Errorf("%s is %q", path, got)
			}
		}
	})
	t.Run("too deep", func(t *testing.T) {
		a := newInputWorkspace(t)
		write(t, filepath.Join(a.host, strings.Repeat("d/", 17)+"f"), "")
		if _, _, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: a.hostURL("d")}}, a.from); !errors.Is(err, workspace.ErrTooLarge) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("innermost host directory counts", func(t *testing.T) {
		outer := t.TempDir()
		write(t, filepath.Join(outer, "secret"), "s")
		write(t, filepath.Join(outer, "in/a"), "a")
		must(t, os.Symlink("../secret", filepath.Join(outer, "in/link")))
		ws := newWorkspace(t, workspace.WithHostDirs(filepath.Join(outer, "in"), outer))
		_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "host://" + filepath.ToSlash(outer) + "/in/link"}}, workspace.Sources{})
		if !errors.Is(err, workspace.ErrPath) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("what others are staging", func(t *testing.T) {
		a := newInputWorkspace(t)
		for _, file := range []string{"work/from/.satchel-new-1", "work/from/deep/.satchel-new-2", "work/from/deep/whole"} {
			write(t, filepath.Join(a.ws.Path(), file), "half")
		}
		staged, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: "workspace://work/from", To: "work/to"}}, a.from)
		must(t, err)
		if len(warnings) > 0 || staged[0].Size != 4 {
			t.Errorf("staged %v, warnings %q", staged, warnings)
		}
		if got := tree(t, filepath.Join(a.ws.Path(), "work/to")); len(got) != 3 {
			t.Errorf("brought %v", got)
		}
	})
	t.Run("whole skill", func(t *testing.T) {
		a := newInputWorkspace(t)
		staged, warnings, err := a.ws.Inputs(t.Context(), []workspace.Input{{From: "skill://pdf"}}, a.from)
		must(t, err)
		if staged[0].Name != "work/inputs/pdf" || len(warnings) != 1 || !strings.Contains(warnings[0], "3 links") {
			t.Errorf("staged %v, warnings %q", staged, warnings)
		}
	})
}

func TestInputIsNeverALink(t *testing.T) {
	a := newInputWorkspace(t)
	_, _, err := a.ws.Inputs(t.Context(), []workspace.Input{
		{From: a.hostURL("in.csv"), Mode: workspace.ModeLink},
		{From: a.hostURL("run.sh"), Mode: workspace.ModeLink},
		{From: "skill://pdf/SKILL.md", Mode: workspace.ModeLink},
	}, a.from)
	must(t, err)
	for name, mode := range map[string]fs.FileMode{"in.csv": 0o644, "run.sh": 0o755, "SKILL.md": 0o644} {
		path := filepath.Join(a.ws.Path(), "work/inputs", name)
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("mode of %s is %v", name, info.Mode())
		}
		must(t, os.WriteFile(path, []byte("written by a command"), 0))
	}
	if got := read(t, filepath.Join(a.host, "in.csv")); got != "1,2\n" {
		t.Errorf("the source is %q", got)
	}
	if got := read(t, filepath.Join(a.ws.Path(), "skills/pdf/SKILL.md")); !strings.HasPrefix(got, "---") {
		t.Errorf("the skill is %q", got)
	}
}
