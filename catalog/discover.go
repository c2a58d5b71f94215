package catalog

import (
	"os"
	"path/filepath"
	"strings"
)

// maxAncestors bounds how many directories above the starting one are looked at.
const maxAncestors = 16

// discovery holds the settings of Discover.
type discovery struct {
	home, config string
}

// DiscoverOption changes where [Discover] looks.
type DiscoverOption func(*discovery)

// DiscoverHome sets the home directory of the user; "" leaves the user's roots out.
// The default is that of the process.
func DiscoverHome(dir string) DiscoverOption { return func(d *discovery) { d.home = dir } }

// DiscoverConfig sets the directory of the user's settings; "" leaves it out. The
// default is the variable XDG_CONFIG_HOME.
func DiscoverConfig(dir string) DiscoverOption { return func(d *discovery) { d.config = dir } }

// Discover returns the well-known roots for somebody who works in dir, all of them
// optional. In scope [Project]: .claude/skills and .agents/skills of dir and of the
// directories above it up to the root of its git work tree, the nearest first, at most
// 16 levels; without a work tree only those of dir. In scope [User]: ~/.claude/skills,
// ~/.agents/skills and $XDG_CONFIG_HOME/agents/skills.
//
// Project roots are searched only where [WithTrust] says so; it is asked about the
// project, which is the root of the work tree or else dir.
func Discover(dir string, opts ...DiscoverOption) []Root {
	d := discovery{config: os.Getenv("XDG_CONFIG_HOME")}
	d.home, _ = os.UserHomeDir()
	for _, opt := range opts {
		opt(&d)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	project := gitRoot(dir, maxAncestors)
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
			r := Dir(filepath.Join(at, filepath.FromSlash(name))).In(Project).Optional()
			r.project, r.display = project, display+"/"+name
			roots = append(roots, r)
		}
		if at == project {
			break
		}
	}
	user := func(at, display string) {
		r := Dir(at).In(User).Optional()
		r.display = display
		roots = append(roots, r)
	}
	if d.home != "" {
		user(filepath.Join(d.home, ".claude", "skills"), "user/.claude/skills")
		user(filepath.Join(d.home, ".agents", "skills"), "user/.agents/skills")
	}
	if filepath.IsAbs(d.config) {
		user(filepath.Join(d.config, "agents", "skills"), "user/config/agents/skills")
	}
	return dropRepeated(roots)
}

// dropRepeated leaves out roots with the path of an earlier one, as in a home directory
// that is a project.
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
