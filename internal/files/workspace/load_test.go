package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// Stage computes the fingerprint of a skill's files once for each load, and copies them only if
// they have changed.
func TestStageBelongsToALoad(t *testing.T) {
	ws := newWorkspace(t)
	files := &skillFiles{files: map[string]string{"SKILL.md": "s", "x.py": "v1"}}
	for i, step := range []struct {
		edit, load string
		want       workspace.Staging
		content    string
	}{
		{"", "1", workspace.Staging{HasChecked: true, Copied: true}, "v1"},
		{"", "1", workspace.Staging{}, "v1"},
		{"v2", "1", workspace.Staging{}, "v1"},
		{"", "1", workspace.Staging{}, "v1"},
		{"", "2", workspace.Staging{HasChecked: true, Copied: true}, "v2"},
		{"", "2", workspace.Staging{}, "v2"},
		{"", "3", workspace.Staging{HasChecked: true}, "v2"},
		{"", "3", workspace.Staging{}, "v2"},
		{"", "2", workspace.Staging{}, "v2"},
		{"", "1", workspace.Staging{HasChecked: true}, "v2"}, // an agent that has not loaded the skill again
		{"", "1", workspace.Staging{}, "v2"},
		{"v3", "2", workspace.Staging{}, "v2"},
		{"", "4", workspace.Staging{HasChecked: true, Copied: true}, "v3"},
	} {
		if step.edit != "" {
			files.files["x.py"] = step.edit
		}
		lists, reads, prints := files.lists.Load(), files.reads.Load(), files.prints.Load()
		dir, done, err := ws.Stage(t.Context(), pdf, step.load, files)
		must(t, err)
		if diff := differ(step.want, done); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
		if got := read(t, filepath.Join(ws.Path(), dir, "x.py")); got != step.content {
			t.Errorf("step %d: %s is staged", i, got)
		}
		looked, copied := files.prints.Load() > prints, files.lists.Load() > lists || files.reads.Load() > reads
		if looked != step.want.HasChecked || copied != step.want.Copied {
			t.Errorf("step %d: looked %t, read %t", i, looked, copied)
		}
	}
}

// If the old files are gone, the new ones replace them, and the result says so.
func TestStageNewerFilesForALoad(t *testing.T) {
	ws := newWorkspace(t)
	files := &skillFiles{files: map[string]string{"x.py": "v1"}}
	dir, _ := stage(t, ws, pdf, "1", files)
	removeAll(t, filepath.Join(ws.Path(), dir))
	files.files["x.py"] = "v2"
	_, done, err := ws.Stage(t.Context(), pdf, "1", files)
	must(t, err)
	if diff := differ(workspace.Staging{HasChecked: true, Copied: true, IsNewer: true}, done); diff != "" {
		t.Error(diff)
	}
	removeAll(t, filepath.Join(ws.Path(), dir))
	if _, done, err = ws.Stage(t.Context(), pdf, "1", files); err != nil || done.IsNewer || done.ChangedPath != "." {
		t.Errorf("the same files: %+v, %v", done, err)
	}
}

// Many agents have many loads; the number that is remembered is bounded.
func TestStageRemembersTheLatestLoads(t *testing.T) {
	ws := newWorkspace(t)
	files := pdfFiles()
	for i := range 100 {
		stage(t, ws, pdf, fmt.Sprint(i), files)
	}
	for load, looked := range map[string]bool{"99": false, "50": false, "0": true} {
		if _, done, err := ws.Stage(t.Context(), pdf, load, files); err != nil || done.HasChecked != looked || done.Copied {
			t.Errorf("load %s: %+v, %v", load, done, err)
		}
	}
}

// failingPrint has no fingerprint.
type failingPrint struct{ *skillFiles }

func (failingPrint) Fingerprint(context.Context, string) (string, error) {
	return "", errors.New("no fingerprint")
}

func TestStageWithoutFingerprint(t *testing.T) {
	ws := newWorkspace(t)
	if _, _, err := ws.Stage(t.Context(), pdf, "1", failingPrint{pdfFiles()}); err == nil {
		t.Error("no error")
	}
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	if again, done, err := ws.Stage(t.Context(), pdf, "1", failingPrint{pdfFiles()}); err != nil || again != dir || !unstaged(done) {
		t.Errorf("of a load that is staged: %q, %+v, %v", again, done, err)
	}
}

func TestStageKeepsTheExecBit(t *testing.T) {
	ws := newWorkspace(t)
	files := &skillFiles{
		files: map[string]string{"plain": "echo hi", "group": "x", "script": "#!/bin/sh", "elf": "\x7fELF", "text": "#", "none": ""},
		modes: map[string]fs.FileMode{"plain": 0o700, "group": 0o654, "script": 0o600, "elf": 0o600, "text": 0o644},
	}
	dir, _ := stage(t, ws, pdf, "1", files)
	for file, want := range map[string]fs.FileMode{"plain": 0o555, "group": 0o444, "script": 0o555, "elf": 0o555, "text": 0o444, "none": 0o444} {
		info, err := os.Lstat(filepath.Join(ws.Path(), dir, file))
		if err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
}

// Nothing but the workspace's own limit bounds a skill's files.
func TestStageLargeFile(t *testing.T) {
	root := t.TempDir()
	large := bytes.Repeat([]byte("x"), 20<<20)
	write(t, filepath.Join(root, "pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n")
	must(t, os.WriteFile(filepath.Join(root, "pdf/model.bin"), large, 0o600))
	c, err := catalog.Open(t.Context(), []source.Root{source.Dir(root)})
	must(t, err)
	defer c.Close()
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", c)
	if got, err := os.ReadFile(filepath.Join(ws.Path(), dir, "model.bin")); err != nil || !bytes.Equal(got, large) {
		t.Errorf("staged %d bytes, %v", len(got), err)
	}
	_, _, err = newWorkspace(t, workspace.WithMaxFileBytes(10<<20)).Stage(t.Context(), pdf, "1", c)
	if !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
}
