package source

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
)

// Discover returns the well-known roots of a user who works in dir, all of them optional.
// Those in scope [core.ScopeProject] are .claude/skills and .agents/skills of dir and of the
// directories above it, the nearest first. They end at the root of the git work tree, or after
// 16 levels; without a work tree they are those of dir alone. Those in scope [core.ScopeUser] are
// ~/.claude/skills, ~/.agents/skills and $XDG_CONFIG_HOME/agents/skills.
//
// env returns the environment variables that say where the user's directories are: HOME
// (USERPROFILE on Windows) and XDG_CONFIG_HOME. Roots of directories without a variable are left
// out. Nil stands for os.Getenv.
//
// Project roots are searched only if catalog.WithTrust allows it. Their [Root.Project] is the root
// of the work tree, or else dir.
func Discover(dir string, env func(name string) string) []Root {
	if env == nil {
		env = os.Getenv
	}
	home, config := env(homeVariable()), env("XDG_CONFIG_HOME")
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	project := scan.GitRoot(dir, maxAncestors)
	if project == "" {
		project = dir
	}
	var roots []Root
	for at := dir; ; at = filepath.Dir(at) {
		display := "project"
		if rel, err := filepath.Rel(project, at); err == nil && rel != "." {
			display += "/" + filepath.ToSlash(rel)
		}
		for _, name := range []string{".claude/skills", ".agents/skills"} {
			r := Dir(filepath.Join(at, filepath.FromSlash(name))).In(core.ScopeProject).Optional()
			r.project, r.display = project, display+"/"+name
			roots = append(roots, r)
		}
		if at == project {
			break
		}
	}
	user := func(at, display string) {
		r := Dir(at).In(core.ScopeUser).Optional()
		r.display = display
		roots = append(roots, r)
	}
	if home != "" {
		user(filepath.Join(home, ".claude", "skills"), "user/.claude/skills")
		user(filepath.Join(home, ".agents", "skills"), "user/.agents/skills")
	}
	if filepath.IsAbs(config) {
		user(filepath.Join(config, "agents", "skills"), "user/config/agents/skills")
	}
	return dropRepeated(roots)
}

// dropRepeated drops roots with the path of an earlier one. There are some if the home directory
// is a project.
func dropRepeated(roots []Root) []Root {
	seen := make(map[string]bool, len(roots))
	out := roots[:0]
	for _, r := range roots {
		if key := strings.TrimSuffix(r.path, string(filepath.Separator)); !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}

// homeVariable returns the name of the environment variable with the user's home directory.
func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}
