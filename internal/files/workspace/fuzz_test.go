package workspace_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

var seeds = []string{
	"", ".", "..", "/", "a", "work", "work/a", "inputs/a", "out/../../x", "$WORK_DIR/x", "${OUTPUT_DIR}/a/", "$WORKSPACE_DIR/../x",
	"$WORKSPACE_DIR//etc", "${", "$", "a\\..\\b", "work//a", "./work/./a", "runs/\x00", "skills/pdf/SKILL.md", "out\n", "c:/x", "\xff",
}

func FuzzTarget(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "base.txt")
		f.Add("", s)
	}
	f.Fuzz(func(t *testing.T, to, base string) {
		got, err := workspace.ResolveTarget(to, base)
		if err != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(got)) || path.Clean(got) != got || strings.ContainsAny(got, "\x00\\\n") {
			t.Errorf("%q, %q: %q", to, base, got)
		}
		first, rest, _ := strings.Cut(got, "/")
		if first != "work" && first != "out" && first != "runs" || rest == "" {
			t.Errorf("%q, %q is outside of the allowed places: %q", to, base, got)
		}
	})
}

func FuzzSource(f *testing.F) {
	for _, s := range seeds {
		for _, scheme := range []string{"artifact://", "host://", "host:///", "workspace://", "skill://", "skill://pdf/", "x://", ""} {
			f.Add(scheme + s)
		}
	}
	f.Fuzz(func(t *testing.T, from string) {
		scheme, skill, got, base, err := workspace.ParseSource(from)
		if err != nil {
			return
		}
		switch scheme {
		case "artifact":
		case "host":
			if !path.IsAbs(got) || path.Clean(got) != got {
				t.Errorf("%q: %q", from, got)
			}
		case "workspace", "skill":
			if !filepath.IsLocal(filepath.FromSlash(got)) || path.Clean(got) != got {
				t.Errorf("%q: %q", from, got)
			}
			if scheme == "skill" && (skill == "" || strings.Contains(skill, "/")) {
				t.Errorf("%q: skill %q", from, skill)
			}
		default:
			t.Errorf("%q: scheme %q", from, scheme)
		}
		if strings.Contains(strings.TrimPrefix(base, "/"), "/") {
			t.Errorf("%q: base %q", from, base)
		}
	})
}

func FuzzCwd(f *testing.F) {
	for _, s := range seeds {
		f.Add("skills/pdf", s)
		f.Add(s, "")
		f.Add("skills/"+s, "a")
	}
	f.Fuzz(func(t *testing.T, skillDir, cwd string) {
		got, err := workspace.ResolveCwd(skillDir, cwd)
		if err != nil {
			return
		}
		if got == "" || !filepath.IsLocal(filepath.FromSlash(got)) || strings.Contains(got, "\x00") {
			t.Errorf("%q, %q: %q", skillDir, cwd, got)
		}
		first, _, _ := strings.Cut(got, "/")
		if !strings.HasPrefix(cwd, "$") && first != "skills" && first != "work" && first != "out" {
			t.Errorf("%q, %q: %q", skillDir, cwd, got)
		}
	})
}

func FuzzNames(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Add("segments.of_an.id")
	f.Add(". .hidden")
	f.Fuzz(func(t *testing.T, name string) {
		dir := workspace.SkillDirName(name)
		if dir != strings.ToLower(dir) || !filepath.IsLocal(dir) || strings.ContainsAny(dir, "/\\ ") || strings.Contains("."+dir+".", "..") || len(dir) > 128 || dir[0] == '-' {
			t.Errorf("skill %q: %q", name, dir)
		}
		file := workspace.SafeName(name)
		if file == "" {
			return
		}
		if !filepath.IsLocal(file) || strings.ContainsAny(file, "/\\\x00\n") || len(file) > 255 || file[0] == '.' || file[0] == '-' {
			t.Errorf("file %q: %q", name, file)
		}
	})
}
