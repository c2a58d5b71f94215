//go:build unix

package workspace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// plant replaces a place of the workspace, as a command could.
func plant(t *testing.T, ws *workspace.Local, rel, target string) {
	t.Helper()
	path := filepath.Join(ws.Path(), rel)
	removeAll(t, path)
	must(t, os.Symlink(target, path))
}

// TestPlantedLinks: after a command has replaced directories and files with
// links, nothing is written, replaced or removed through them.
func TestPlantedLinks(t *testing.T) {
	for _, place := range []string{"out", "work", "work/inputs", "runs", "runs/tmp", "skills", "skills/pdf"} {
		for _, inside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s inside=%t", place, inside), func(t *testing.T) {
				target, check := outside(t)
				w := open(t)
				ws := of(t, w, "s")
				dir, _ := stage(t, ws, pdf, "1", pdfFiles())
				link := target
				if inside {
					other, _ := stage(t, ws, otherSkill, "1", pdfFiles())
					link = filepath.Join(ws.Path(), other)
					defer func(before int) {
						if _, err := os.Stat(link); err == nil && len(tree(t, link)) != before {
							t.Error("another skill was changed")
						}
					}(len(tree(t, link)))
				}
				plant(t, ws, place, link)
				stage(t, ws, pdf, "2", pdfFiles())
				_, _, err := ws.Inputs(t.Context(), []workspace.Input{
					{From: "artifact://secret", To: "out/secret"},
					{From: "artifact://secret", To: "work/deep/secret"},
					{From: "artifact://secret"},
					{From: "artifact://secret", To: "runs/tmp/secret"},
				}, workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"secret": {"staged"}}}})
				must(t, err)
				_, _, err = ws.Attach(t.Context(), []workspace.Attachment{{Name: "secret", Data: []byte("x")}}, workspace.Sources{})
				must(t, err)
				_, err = ws.Dir(dir, "$OUTPUT_DIR/deep/new")
				must(t, err)
				if read(t, filepath.Join(ws.Path(), "work/inputs/secret")) != "staged" {
					t.Error("not staged after the repair")
				}
				plant(t, ws, place, link)
				ws.Release()
				must(t, w.End("s"))
				check()
			})
		}
	}
}

func TestPlantedFiles(t *testing.T) {
	target, check := outside(t)
	ws := newWorkspace(t)
	for _, tt := range []struct {
		name  string
		plant func(path string) error
		want  error
	}{
		{"link to a file outside", func(p string) error { return os.Symlink(filepath.Join(target, "secret"), p) }, nil},
		{"link to a directory outside", func(p string) error { return os.Symlink(target, p) }, nil},
		{"dangling link", func(p string) error { return os.Symlink(filepath.Join(target, "new"), p) }, nil},
		{"hard link", func(p string) error { return os.Link(filepath.Join(target, "secret"), p) }, nil},
		{"pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }, nil},
		{"directory", func(p string) error { return os.Mkdir(p, 0o700) }, workspace.ErrTaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(ws.Path(), "work/inputs/a")
			must(t, os.RemoveAll(path))
			must(t, tt.plant(path))
			_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "artifact://a"}},
				workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a": {"staged"}}}})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v", err)
			}
			if tt.want == nil && read(t, path) != "staged" {
				t.Error("not replaced")
			}
			if names, _ := filepath.Glob(filepath.Join(ws.Path(), "work/inputs/.satchel*")); len(names) > 0 {
				t.Errorf("left %v", names)
			}
			check()
		})
	}
	t.Run("link on the way", func(t *testing.T) {
		must(t, os.Symlink(target, filepath.Join(ws.Path(), "work/way")))
		_, _, err := ws.Inputs(t.Context(), []workspace.Input{{From: "artifact://a", To: "work/way/secret"}},
			workspace.Sources{Artifacts: &memoryArtifacts{versions: map[string][]string{"a": {"staged"}}}})
		if !errors.Is(err, workspace.ErrPath) {
			t.Errorf("error %v", err)
		}
		check()
	})
}

// TestRemoval: a workspace can be removed whatever a command has made of it.
func TestRemoval(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, dir, target string){
		"links": func(t *testing.T, dir, target string) {
			must(t, os.Symlink(target, filepath.Join(dir, "out/abs")))
			must(t, os.Symlink("../../../../..", filepath.Join(dir, "out/up")))
			must(t, os.Link(filepath.Join(target, "secret"), filepath.Join(dir, "out/hard")))
		},
		"unreadable": func(t *testing.T, dir, _ string) {
			write(t, filepath.Join(dir, "work/a/b/c"), "c")
			for _, d := range []string{"work/a/b", "work/a", "work", "out", ""} {
				must(t, os.Chmod(filepath.Join(dir, d), 0))
			}
		},
		"not searchable": func(t *testing.T, dir, _ string) {
			write(t, filepath.Join(dir, "work/a/b/c"), "c")
			must(t, os.Chmod(filepath.Join(dir, "work/a/b"), 0o400))
			must(t, os.Chmod(filepath.Join(dir, "work/a"), 0o600))
		},
		"deep": func(t *testing.T, dir, _ string) {
			at, err := os.OpenRoot(filepath.Join(dir, "out"))
			must(t, err)
			for range 3000 { // deeper than any path can be long
				must(t, at.Mkdir("directory", 0o700))
				next, err := at.OpenRoot("directory")
				must(t, err)
				at.Close()
				at = next
			}
			at.Close()
		},
		"wide": func(t *testing.T, dir, _ string) {
			for i := range 1500 {
				must(t, os.Mkdir(filepath.Join(dir, "out", fmt.Sprint(i)), 0o700))
				write(t, filepath.Join(dir, "work", fmt.Sprint(i)), "")
			}
		},
		"special": func(t *testing.T, dir, _ string) {
			must(t, syscall.Mkfifo(filepath.Join(dir, "out/pipe"), 0o600))
			write(t, filepath.Join(dir, "out/\xff\n-rf *"), "")
			write(t, filepath.Join(dir, "out/"+strings.Repeat("n", 255)), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			target, check := outside(t)
			w := open(t)
			ws := of(t, w, "s")
			stage(t, ws, pdf, "1", pdfFiles())
			make(t, ws.Path(), target)
			ws.Release()
			must(t, w.End("s"))
			check()
			left, err := os.ReadDir(filepath.Dir(filepath.Dir(ws.Path())))
			if err != nil || len(left) != 1 { // only the lock is left
				t.Errorf("left %v, error %v", left, err)
			}
		})
	}
}

func TestRepairOfClosedDirectories(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	for _, d := range []string{"work/inputs", "work", "out", ""} {
		must(t, os.Chmod(filepath.Join(ws.Path(), d), 0))
	}
	_, err := ws.Dir(dir, "inputs/new")
	must(t, err)
	_, _, err = ws.Attach(t.Context(), []workspace.Attachment{{Name: "a", Data: []byte("a")}}, workspace.Sources{})
	must(t, err)
	if read(t, filepath.Join(ws.Path(), "work/inputs/a")) != "a" {
		t.Error("not staged")
	}
}
