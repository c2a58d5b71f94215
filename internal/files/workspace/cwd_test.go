package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestDir(t *testing.T) {
	ws := newWorkspace(t)
	dir, _ := stage(t, ws, pdf, "1", pdfFiles())
	stage(t, ws, otherSkill, "1", pdfFiles())
	must(t, os.Symlink("/", filepath.Join(ws.Path(), "out/root")))
	must(t, os.Symlink("../work", filepath.Join(ws.Path(), "out/back")))
	for _, tt := range []struct {
		cwd, want string
		err       error
	}{
		{"", "skills/pdf", nil},
		{".", "skills/pdf", nil},
		{"scripts", "skills/pdf/scripts", nil},
		{"./scripts/", "skills/pdf/scripts", nil},
		{".venv", "skills/pdf/.venv", nil},
		{"out", "out", nil},
		{"out/new/one", "out/new/one", nil},
		{"inputs", "work/inputs", nil},
		{"work/inputs", "work/inputs", nil},
		{"$WORK_DIR", "work", nil},
		{"${WORK_DIR}/new", "work/new", nil},
		{"$OUTPUT_DIR/", "out", nil},
		{"$RUN_DIR/x", "runs/x", nil},
		{"$WORKSPACE_DIR", ".", nil},
		{"$SKILLS_DIR/other", "skills/other", nil},
		{"$SKILLS_DIR/", "skills", nil},
		{"out/back", "out/back", nil},
		{"missing", "", workspace.ErrNotExist},
		{"$SKILLS_DIR/missing", "", workspace.ErrNotExist},
		{"$WORKSPACE_DIR/missing", "", workspace.ErrNotExist},
		{"SKILL.md", "", workspace.ErrNotRegular},
		{"SKILL.md/x", "", workspace.ErrNotExist},
		{"..", "", workspace.ErrPath},
		{"scripts/../..", "", workspace.ErrPath},
		{"$WORK_DIR/../..", "", workspace.ErrPath},
		{"/etc", "", workspace.ErrPath},
		{"$HOME", "", workspace.ErrPath},
		{"$WORK_DIRX", "", workspace.ErrPath},
		{"${WORK_DIR", "", workspace.ErrPath},
		{"$", "", workspace.ErrPath},
		{"out/root", "", workspace.ErrPath},
		{"out/root/etc", "", workspace.ErrPath},
		{"a\x00b", "", workspace.ErrPath},
		{`scripts\..`, "", workspace.ErrPath},
		{strings.Repeat("x/", 600), "", workspace.ErrPath},
	} {
		t.Run(tt.cwd, func(t *testing.T) {
			got, err := ws.Dir(dir, tt.cwd)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Fatalf("%q, error %v", got, err)
			}
			if err != nil {
				return
			}
			if info, err := os.Stat(filepath.Join(ws.Path(), got)); err != nil || !info.IsDir() {
				t.Errorf("not a directory: %v", err)
			}
		})
	}
	for _, bad := range []string{"", "skills", "skills/", "skills/..", "skills/a/b", "out", "/skills/pdf", "skills/.satchel-old-1"} {
		if got, err := ws.Dir(bad, ""); !errors.Is(err, workspace.ErrPath) {
			t.Errorf("skill directory %q: %q, error %v", bad, got, err)
		}
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("API_KEY", "secret")
	system := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	rest := []string{
		"HOME=/ws/runs/home", "TMPDIR=/ws/runs/tmp", "LANG=C.UTF-8",
		"WORKSPACE_DIR=/ws", "SKILLS_DIR=/ws/skills", "WORK_DIR=/ws/work", "OUTPUT_DIR=/ws/out", "RUN_DIR=/ws/runs",
	}
	for _, tt := range []struct {
		name, skill, dir string
		want             []string
	}{
		{"skill", "pdf", "skills/pdf", append(append([]string{"PATH=/ws/skills/pdf/.venv/bin:" + system, "HOME=/ws/runs/home/pdf"}, rest[1:]...), "SKILL_NAME=pdf")},
		{"none", "", "", append([]string{"PATH=" + system}, rest...)},
		{"hostile", "a\x00\nb", "skills/../..", append(append([]string{"PATH=" + system}, rest...), "SKILL_NAME=ab")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := differ(tt.want, workspace.Env("/ws", tt.skill, tt.dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
