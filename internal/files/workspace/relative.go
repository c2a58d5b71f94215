package workspace

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxPath = 1024 // bytes of a path from outside

// checkRelative checks a slash-separated path from outside by its text alone. The path must be
// relative and valid UTF-8 of at most 1024 bytes, without control characters and ".."
// elements. It must not contain backslashes, which separate elements on one system and are
// part of a name on others.
func checkRelative(p string) error {
	switch {
	case p == "":
		return fmt.Errorf("%w: it is empty", ErrPath)
	case len(p) > maxPath:
		return fmt.Errorf("%w: it is longer than %d bytes", ErrPath, maxPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("%w: it holds control characters or invalid UTF-8", ErrPath)
	case strings.Contains(p, `\`):
		return fmt.Errorf("%w: use / between the elements", ErrPath)
	case path.IsAbs(p):
		return fmt.Errorf("%w: it must be relative", ErrPath)
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Errorf("%w: it must not contain ..", ErrPath)
	case !filepath.IsLocal(filepath.FromSlash(p)):
		return fmt.Errorf("%w: it leaves its place", ErrPath)
	}
	return nil
}

// variables are the names with which a path may begin, and their directories in
// the workspace. [Env] gives commands the same.
var variables = []struct{ name, dir string }{
	{"WORKSPACE_DIR", "."},
	{"SKILLS_DIR", skillsDir},
	{"WORK_DIR", workDir},
	{"OUTPUT_DIR", outDir},
	{"RUN_DIR", runsDir},
}

const variableHint = "$WORK_DIR, $OUTPUT_DIR, $SKILLS_DIR, $RUN_DIR or $WORKSPACE_DIR"

// expand replaces a leading $NAME or ${NAME} and reports whether there was one.
func expand(p string) (string, bool, error) {
	after, ok := strings.CutPrefix(p, "$")
	if !ok {
		return p, false, nil
	}
	first, rest, _ := strings.Cut(after, "/")
	name := first
	if inner, ok := strings.CutPrefix(first, "{"); ok {
		name, ok = strings.CutSuffix(inner, "}")
		if !ok {
			name = ""
		}
	}
	for _, v := range variables {
		if v.name == name {
			return path.Join(v.dir, strings.TrimLeft(rest, "/")), true, nil
		}
	}
	return "", false, fmt.Errorf("%w: it may begin with %s", ErrPath, variableHint)
}
