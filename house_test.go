package satchel_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/satchel-go/satchel"

// arrows says what each room may import of this module. A room that is not
// listed here has no place in the house yet: decide on one first.
var arrows = map[string][]string{
	"core":                       {},
	"skillmd":                    {"core"},
	"catalog":                    {"core", "skillmd", "internal/plainfile"},
	"session":                    {"core", "internal/durable"},
	"session/sessiontest":        {"core", "session"},
	"loadmode":                   {"core", "session"},
	"processors":                 {"core", "session", "loadmode"},
	"artifacts":                  {"core", "internal/durable"},
	"artifacts/artifactstest":    {"core", "artifacts"},
	"outputs":                    {"core", "internal/plainfile"},
	"executor":                   {"core", "executor/reexec", "internal/cgroup", "internal/seccomp", "internal/shellcmd/lookpath"},
	"executor/reexec":            {},
	"executor/executortest":      {"core", "executor"},
	"workspace":                  {"core", "artifacts", "internal/plainfile"},
	"internal/cgroup":            {},
	"internal/durable":           {"internal/plainfile"},
	"internal/plainfile":         {},
	"internal/redact":            {},
	"internal/seccomp":           {},
	"internal/shellcmd":          {"internal/shellcmd/lookpath"},
	"internal/shellcmd/lookpath": {},
	"terminal":                   {"core", "executor", "internal/redact"},
	"permission":                 {"core", "skillmd", "internal/shellcmd"},
	"tools":                      {"core", "skillmd", "catalog", "session", "loadmode", "permission", "workspace", "executor", "terminal", "outputs", "artifacts", "internal/redact", "internal/shellcmd", "internal/shellcmd/lookpath"},
	".":                          {"core", "skillmd", "catalog", "session", "loadmode", "permission", "processors", "tools", "terminal", "executor", "workspace", "artifacts"},
	"adapter/eino":               {"core", "."},
	"adapter/langchaingo":        {"core", "."},
	"internal/mortal":            {},
	"internal/wire":              {},
	"internal/evasion":           {},
}

// outside says which modules a room may import beside the standard library.
var outside = map[string][]string{
	"skillmd":               {"gopkg.in/yaml.v3", "golang.org/x/text"},
	"permission":            {"github.com/bmatcuk/doublestar/v4"},
	"outputs":               {"github.com/bmatcuk/doublestar/v4", "github.com/gabriel-vasile/mimetype"},
	"artifacts":             {"golang.org/x/sys"},
	"executor":              {"golang.org/x/sys", "github.com/creack/pty"},
	"executor/executortest": {"golang.org/x/sys"},
	"workspace":             {"golang.org/x/sys"},
	"internal/cgroup":       {"golang.org/x/sys"},
	"internal/seccomp":      {"golang.org/x/net"},
	"internal/shellcmd":     {"mvdan.cc/sh/v3"},
	"adapter/eino":          {"github.com/cloudwego/eino", "github.com/eino-contrib/jsonschema"},
	"adapter/langchaingo":   {"github.com/tmc/langchaingo"},
}

// TestArrowsPointDown keeps the rooms of the root module where the design puts
// them: a room imports rooms below it and never its neighbours.
func TestArrowsPointDown(t *testing.T) {
	rooms := 0
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != "." && (strings.HasPrefix(name, ".") || name == "testdata" || isModule(dir)) {
			return filepath.SkipDir
		}
		room := filepath.ToSlash(dir)
		for _, imported := range imports(t, dir) {
			checkArrow(t, room, imported)
		}
		if _, listed := arrows[room]; listed {
			rooms++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if rooms < 8 {
		t.Errorf("found %d rooms: is this the root of the module?", rooms)
	}
}

func checkArrow(t *testing.T, room, imported string) {
	t.Helper()
	allowed, listed := arrows[room]
	if !listed {
		t.Errorf("room %s imports %s but is not part of the house", room, imported)
		return
	}
	if inside, ok := strings.CutPrefix(imported, module); ok {
		if inside = path.Clean(strings.TrimPrefix(inside, "/")); inside == "" {
			inside = "."
		}
		if !slices.Contains(allowed, inside) {
			t.Errorf("room %s must not import %s", room, inside)
		}
		return
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return // the standard library
	}
	if !slices.ContainsFunc(outside[room], func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
		t.Errorf("room %s must not import %s", room, imported)
	}
}

func isModule(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "go.mod"))
	return dir != "." && len(found) > 0
}

// imports lists what the files of a directory import, tests left out.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, name)
		}
	}
	return all
}
