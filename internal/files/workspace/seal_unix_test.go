//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// changeAs makes a change in the way a command could. Root ignores modes. The owner first
// gives himself the permission, and takes it back afterwards.
func changeAs(t *testing.T, root bool, dir string, change func(dir string) error) {
	t.Helper()
	if !root {
		for _, d := range []string{dir, filepath.Join(dir, "reference"), filepath.Join(dir, "reference/forms.md")} {
			info, err := os.Lstat(d)
			must(t, err)
			must(t, os.Chmod(d, info.Mode().Perm()|0o200))
		}
	}
	must(t, change(dir))
	if !root {
		_ = os.Chmod(filepath.Join(dir, "reference/forms.md"), 0o444)
		_ = os.Chmod(filepath.Join(dir, "reference"), 0o555)
		_ = os.Chmod(dir, 0o555)
	}
}

// overwrite replaces the content of a file with some of the same length and
// restores its times.
func overwrite(file string) error {
	info, err := os.Lstat(file)
	if err != nil {
		return err
	}
	data := []byte(strings.Repeat("x", int(info.Size())))
	return errors.Join(os.WriteFile(file, data, 0o444), os.Chtimes(file, time.Time{}, info.ModTime()))
}

// moveAway makes room for something else at path.
func moveAway(path string) (string, error) {
	away := filepath.Join(filepath.Dir(filepath.Dir(path)), "away")
	return away, os.Rename(path, away)
}

func TestStageAgainWhatWasChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(dir string) error
		want   string // the path that is reported, "*" for any path
	}{
		{"file written", func(d string) error { return overwrite(d + "/reference/forms.md") }, "reference/forms.md"},
		{"file replaced", func(d string) error {
			f := d + "/reference/forms.md"
			info, err := os.Lstat(f)
			return errors.Join(err, os.WriteFile(d+"/../../work/f", []byte("# Xorms\n"), 0o444),
				os.Chtimes(d+"/../../work/f", time.Time{}, info.ModTime()), os.Rename(d+"/../../work/f", f))
		}, "*"},
		{"file added", func(d string) error { return os.WriteFile(d+"/reference/new.md", []byte("new"), 0o444) }, "reference"},
		{"file added at the top", func(d string) error { return os.WriteFile(d+"/usercustomize.py", []byte("new"), 0o444) }, "."},
		{"file removed", func(d string) error { return os.Remove(d + "/reference/forms.md") }, "reference"},
		{"hard link", func(d string) error { return os.Link(d+"/reference/forms.md", d+"/../../work/second") }, "reference/forms.md"},
		{"hard link that is gone again", func(d string) error {
			return errors.Join(os.Link(d+"/reference/forms.md", d+"/../../work/second"), overwrite(d+"/../../work/second"), os.Remove(d+"/../../work/second"))
		}, "reference/forms.md"},
		{"mode", func(d string) error { return os.Chmod(d+"/reference/forms.md", 0o555) }, "reference/forms.md"},
		{"link of the skill", func(d string) error {
			return errors.Join(os.Remove(d+"/out"), os.Symlink("../../work", d+"/out"))
		}, "."},
		{"directory for a link to a copy", func(d string) error {
			return errors.Join(exec.Command("cp", "-a", d+"/reference", d+"/../../work/copy").Run(), os.Chmod(d+"/reference", 0o755),
				os.Rename(d+"/reference", d+"/../../work/away"), os.Symlink("../../work/copy", d+"/reference"))
		}, "."},
		{"directory for a pipe", func(d string) error {
			return errors.Join(os.Chmod(d+"/reference", 0o755), os.Rename(d+"/reference", d+"/../../work/away"), syscall.Mkfifo(d+"/reference", 0o600))
		}, "."},
		{"skill for a copy", func(d string) error {
			away, err := moveAway(d)
			return errors.Join(err, exec.Command("cp", "-a", away, d).Run(), overwrite(d+"/reference/forms.md"))
		}, "."},
		{"skill for a link", func(d string) error {
			away, err := moveAway(d)
			return errors.Join(err, overwrite(away+"/reference/forms.md"), os.Symlink(away, d))
		}, "."},
		{"skill for a pipe", func(d string) error {
			_, err := moveAway(d)
			return errors.Join(err, syscall.Mkfifo(d, 0o600))
		}, "."},
	} {
		for _, root := range []bool{false, true} {
			if root && os.Geteuid() != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/root=%t", tt.name, root), func(t *testing.T) {
				log, text := captureLog()
				ws := newWorkspace(t, workspace.WithLogger(log))
				dir, _ := stage(t, ws, pdf, "1", pdfFiles())
				path := filepath.Join(ws.Path(), dir)
				want := tree(t, path)
				changeAs(t, root, path, tt.change)
				again, done, err := ws.Stage(t.Context(), pdf, "1", pdfFiles())
				must(t, err)
				if again != dir || !done.Copied || root && tt.want != "*" && done.ChangedPath != tt.want {
					t.Errorf("staged %q, %+v", again, done)
				}
				if diff := differ(want, tree(t, path)); diff != "" {
					t.Error(diff)
				}
				if !strings.Contains(text(), "changed and is staged again") {
					t.Errorf("log: %s", text())
				}
				if _, done, err := ws.Stage(t.Context(), pdf, "1", pdfFiles()); err != nil || !unstaged(done) {
					t.Errorf("the third time: %+v, %v", done, err)
				}
			})
		}
	}
}

// What commands may do with a staged skill does not count as a change.
func TestUseIsNoChange(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	path := filepath.Join(ws.Path(), dir)
	out, err := exec.Command("sh", "-c", "cd '"+path+"' && find . -type f | xargs cat && sh scripts/run.sh && mkdir -p .venv/bin && echo x > .venv/bin/x && echo y > out/y && rm -r .venv/bin").CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	if _, done, err := ws.Stage(t.Context(), pdf, "1", pdfFiles()); err != nil || !unstaged(done) {
		t.Errorf("staged again: %+v, %v", done, err)
	}
}

// A change shows however soon after staging it is made.
func TestChangeAtOnce(t *testing.T) {
	ws := newWorkspace(t)
	files := &skillFiles{files: map[string]string{"a": "one"}}
	for round := range 100 {
		dir, _ := stage(t, ws, pdf, "1", files)
		file := filepath.Join(ws.Path(), dir, "a")
		must(t, os.Chmod(file, 0o644))
		must(t, overwrite(file))
		must(t, os.Chmod(file, 0o444))
		if _, done, err := ws.Stage(t.Context(), pdf, "1", files); err != nil || done.ChangedPath != "a" {
			t.Fatalf("round %d: %+v, %v", round, done, err)
		}
	}
}

// The writable .venv belongs to the commands: it stays, and everything else is
// replaced.
func TestStagingAnewKeepsVenv(t *testing.T) {
	w := open(t)
	ws := of(t, w, "s")
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	path := filepath.Join(ws.Path(), dir)
	write(t, filepath.Join(path, ".venv/bin/tool"), "installed")
	for _, digest := range []string{"1", "2", "2"} {
		must(t, os.Chmod(path, 0o755))
		write(t, filepath.Join(path, "evil.py"), "evil")
		if _, staged := stage(t, ws, pdf, digest, pdfFiles()); !staged {
			t.Fatal("not staged again")
		}
		if got := read(t, filepath.Join(path, ".venv/bin/tool")); got != "installed" {
			t.Errorf(".venv has %q", got)
		}
		if _, err := os.Lstat(filepath.Join(path, "evil.py")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the added file: %v", err)
		}
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != 0o555 {
			t.Errorf("directory: %v, %v", info.Mode(), err)
		}
	}
	t.Run("a link is not kept", func(t *testing.T) {
		target, check := outside(t)
		must(t, os.Chmod(path, 0o755))
		must(t, os.RemoveAll(filepath.Join(path, ".venv")))
		must(t, os.Symlink(target, filepath.Join(path, ".venv")))
		stage(t, ws, pdf, "2", pdfFiles())
		if info, err := os.Lstat(filepath.Join(path, ".venv")); err != nil || !info.IsDir() {
			t.Errorf(".venv: %v, %v", info, err)
		}
		check()
	})
	ws.Release()
	if left := staged(t, ws); len(left) != 1 {
		t.Errorf("after the last release: %q", left)
	}
}

// An input from another skill has what that skill contains, not what a command
// made of it.
func TestInputOfChangedSkill(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	must(t, os.Chmod(filepath.Join(ws.Path(), dir, "reference/forms.md"), 0o644))
	must(t, overwrite(filepath.Join(ws.Path(), dir, "reference/forms.md")))
	in := []workspace.Input{{From: "skill://pdf/reference/forms.md"}}
	if _, _, err := ws.Inputs(t.Context(), in, workspace.Sources{}); !errors.Is(err, workspace.ErrSource) {
		t.Errorf("without a way to stage it: %v", err)
	}
	_, _, err := ws.Inputs(t.Context(), in, workspace.Sources{StageSkill: func(ctx context.Context, _ string) error {
		_, _, err := ws.Stage(ctx, pdf, "1", pdfFiles())
		return err
	}})
	must(t, err)
	if got := read(t, filepath.Join(ws.Path(), "work/inputs/forms.md")); got != "# Forms\n" {
		t.Errorf("content %q", got)
	}
}
