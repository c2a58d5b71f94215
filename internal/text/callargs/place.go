package callargs

import (
	"path"
	"slices"
	"strings"
)

// variables maps the variables of commands to directories of a workspace, relative to it.
var variables = map[string]string{"WORKSPACE_DIR": "", "SKILLS_DIR": "skills/", "WORK_DIR": "work/", "OUTPUT_DIR": "out/", "RUN_DIR": "runs/"}

// InWorkspace returns a path relative to the workspace, if p names one. Such a path begins with a
// variable of commands, as in $OUTPUT_DIR/x, or with a link in a skill's folder: inputs, out or
// work.
func InWorkspace(p string) (rel string, ok bool) {
	p = clean(p)
	first, rest, below := strings.Cut(p, "/")
	if !below {
		return "", false
	}
	if name, ok := strings.CutPrefix(first, "$"); ok {
		if strings.HasPrefix(name, "{") && strings.HasSuffix(name, "}") {
			name = name[1 : len(name)-1]
		}
		dir, ok := variables[name]
		return dir + rest, ok
	}
	return p, slices.Contains([]string{"inputs", "out", "work"}, first)
}

// Below returns an absolute path relative to the workspace. at is the path at which commands see
// the workspace. If its parent is the root directory, the root directory also has links to the
// workspace's folders.
func Below(at, p string) (rel string, ok bool) {
	if at == "" || p == "" {
		return "", false
	}
	p = clean(p)
	rest, below := strings.CutPrefix(p, strings.TrimSuffix(at, "/"))
	if below && (rest == "" || rest[0] == '/') {
		return strings.TrimPrefix(rest, "/"), true
	}
	if !path.IsAbs(p) {
		return "", false
	}
	first, _, _ := strings.Cut(p[1:], "/")
	return p[1:], path.Dir(at) == "/" && slices.Contains([]string{"skills", "work", "out", "runs"}, first)
}

// ThroughLinks resolves the links in a skill's folder: skills/x/out/y becomes out/y. Other paths
// are returned unchanged.
func ThroughLinks(rel string) string {
	at := strings.SplitN(rel, "/", 4)
	if len(at) < 3 || at[0] != "skills" {
		return rel
	}
	switch at[2] {
	case "out", "work":
	case "inputs":
		at[2] = "work/inputs"
	default:
		return rel
	}
	return strings.Join(at[2:], "/")
}

// clean returns path.Clean of a path and keeps a slash at its end. It does not change a path with
// "..", so that the caller can refuse it.
func clean(p string) string {
	if p == "" || strings.Contains(p, "..") {
		return p
	}
	if c := path.Clean(p); c == "/" || !strings.HasSuffix(p, "/") {
		return c
	}
	return path.Clean(p) + "/"
}
