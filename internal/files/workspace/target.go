package workspace

import (
	"fmt"
	"path"
	"strings"
)

const targetHint = "give a path below work/, out/ or runs/ (inputs/ stands for work/inputs/)"

// resolveTarget returns the path in the workspace to which an input goes. To is
// what the caller wrote; base is the last element of the source's path, which is
// the name if to is empty or ends with "/".
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

// alias reads inputs/x as work/inputs/x, because a skill knows its inputs by the
// link.
func alias(rel string) string {
	if rel == "inputs" || strings.HasPrefix(rel, "inputs/") {
		return "work/" + rel
	}
	return rel
}

// Touches returns the host path that an input would read and the workspace path that it would
// write. host is "" if it reads none; to is "" if its source or target is invalid.
func Touches(in Input) (host, to string) {
	src, err := parseSource(in.From)
	if err != nil {
		return "", ""
	}
	if src.scheme == schemeHost {
		host = src.path
	}
	to, err = resolveTarget(in.To, src.base())
	if err != nil {
		to = ""
	}
	return host, to
}
