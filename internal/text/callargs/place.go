package callargs

import (
	"path"
	"slices"
	"strings"
)

// variables are the directories of a workspace that commands know by a variable, relative
// to it.
var variables = map[string]string{"WORKSPACE_DIR": "", "SKILLS_DIR": "skills/", "WORK_DIR": "work/", "OUTPUT_DIR": "out/", "RUN_DIR": "runs/"}

// InWorkspace returns a path relative to the workspace if it begins with a variable of
// commands, such as $OUTPUT_DIR/x. A path may also begin with a folder that commands see
// beside their skill: inputs, out or work.
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

// Below returns an absolute path relative to the workspace that commands see at the path
// at. If that is in the root directory, its folders are there too, as links.
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

// ThroughLinks returns the path in the workspace to which a path in the folder of a skill
// leads through one of the links there: skills/x/out/y is out/y.
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

// clean returns path.Clean of a path, with the slash at its end. A path with ".." stays as
// it is, and the caller refuses it.
func clean(p string) string {
	if p == "" || strings.Contains(p, "..") {
		return p
	}
	if c := path.Clean(p); c == "/" || !strings.HasSuffix(p, "/") {
		return c
	}
	return path.Clean(p) + "/"
}
