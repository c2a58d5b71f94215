package workspace

import (
	"fmt"
	"path"
	"strings"
)

const targetHint = "give a path below work/, out/ or runs/ (inputs/ stands for work/inputs/)"

// resolveTarget returns the path of the workspace that an input goes to. To is
// what the caller wrote, base the last element of the source's path: without
// to, and after a to that ends with "/", it is the name.
func resolveTarget(to, base string) (string, error) {
	given := to
	switch {
	case to == "":
		to = inputsDir + "/" + base
	case strings.HasSuffix(to, "/"):
		to += base
	}
	if err := checkRelative(to); err != nil {
		return "", fmt.Errorf("target %q: %w; %s", given, err, targetHint)
	}
	to, _, err := expand(to)
	if err != nil {
		return "", fmt.Errorf("target %q: %w", given, err)
	}
	to = alias(path.Clean(to))
	if !isWritable(to) || !strings.Contains(to, "/") {
		return "", fmt.Errorf("target %q: %w: %s", given, ErrPath, targetHint)
	}
	return to, nil
}

// alias reads inputs/x as work/inputs/x: a skill knows its inputs by the link.
func alias(rel string) string {
	if rel == "inputs" || strings.HasPrefix(rel, "inputs/") {
		return "work/" + rel
	}
	return rel
}
