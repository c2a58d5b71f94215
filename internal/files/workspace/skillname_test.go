package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

func TestSkillDirName(t *testing.T) {
	for _, tt := range []struct{ name, prefix string }{
		{"pdf", "pdf"},
		{"web-search-2", "web-search-2"},
		{"PDF", "pdf_"},
		{"Pdf", "pdf_"},
		{"../../../victim", "victim_"},
		{"a/b", "a-b_"},
		{"-rf", "rf_"},
		{"a--b", "a--b"},
		{"salesforce.leads.sync_all", "salesforce.leads.sync_all"},
		{"a.b_0123456789ab", "a-b-0123456789ab_"},
		{"a..b", "a-b_"},
		{"a.con", "a-con_"},
		{"a_", "a_"},
		{strings.Repeat("a", 129), strings.Repeat("a", 40) + "_"},
		{"con", "con_"},
		{"com1", "com1_"},
		{".venv", "venv_"},
		{"日本語", "skill_"},
		{"a\x00b", "a-b_"},
		{strings.Repeat("a", 64), strings.Repeat("a", 64)},
		{strings.Repeat("a", 65), strings.Repeat("a", 65)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := workspace.SkillDirName(tt.name)
			if exact := !strings.HasSuffix(tt.prefix, "_"); exact && got != tt.prefix ||
				!exact && (!strings.HasPrefix(got, tt.prefix) || len(got) != len(tt.prefix)+12) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestStageHostileNames(t *testing.T) {
	_, check := outside(t)
	ws := newWorkspace(t)
	dirs := map[string]string{}
	for _, name := range []string{"../../../victim", "..", ".", "/", "a/b", "PDF", "pdf", "pDF", "\x00", "con", strings.Repeat("x", 5000)} {
		dir, _, err := ws.Stage(t.Context(), core.Skill{Name: name}, "1", pdfFiles())
		if err != nil {
			t.Errorf("%.20q: %v", name, err)
			continue
		}
		if other, taken := dirs[strings.ToLower(dir)]; taken {
			t.Errorf("%q and %q share %q", name, other, dir)
		}
		dirs[strings.ToLower(dir)] = name
		if info, err := os.Lstat(filepath.Join(ws.Path(), dir)); err != nil || !info.IsDir() || strings.Count(dir, "/") != 1 {
			t.Errorf("%q is in %q: %v", name, dir, err)
		}
	}
	entries, err := os.ReadDir(ws.Path())
	if err != nil || len(entries) != 4 {
		t.Errorf("top of the workspace: %v, %v", entries, err)
	}
	check()
}
