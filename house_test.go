package satchel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
	"core":                            {},
	"internal/text/skilltext":         {},
	"internal/text/skillneeds":        {"core", "internal/text/printable"},
	"skillmd":                         {"core", "internal/text/printable", "internal/text/skillneeds", "internal/text/skilltext", "internal/text/skillargs"},
	"internal/text/skillargs":         {},
	"internal/text/search":            {},
	"catalog":                         {"internal/text/skilltext", "catalog/internal/scan", "catalog/source", "core", "skillmd", "internal/text/search", "internal/files/durable", "internal/files/lazyfs", "internal/lru", "internal/files/plainfile", "internal/warnlog", "internal/text/skillargs"},
	"catalog/source":                  {"catalog/internal/scan", "core", "internal/archive", "internal/files/plainfile", "internal/text/plainjson", "internal/text/skilltext", "skillmd"},
	"catalog/internal/scan":           {"internal/text/skillneeds", "internal/text/skilltext", "core", "skillmd", "internal/files/plainfile", "internal/text/printable", "internal/text/skillargs"},
	"internal/archive":                {"internal/files/plainfile"},
	"catalog/catalogtest":             {"core", "catalog", "catalog/source"},
	"session":                         {"core", "internal/files/durable", "internal/lru"},
	"session/sessiontest":             {"core", "session"},
	"loadmode":                        {},
	"internal/engine/steps":           {"core", "internal/engine/state", "internal/engine/lifetime", "internal/text/prompttext", "internal/text/skilltext", "loadmode", "processors"},
	"internal/engine/lifetime":        {"internal/engine/state", "internal/text/prompttext", "internal/text/search", "loadmode"},
	"internal/text/prompttext":        {"internal/text/printable"},
	"internal/testing/goldentest":     {},
	"processors":                      {"core", "internal/engine/state", "internal/text/prompttext"},
	"artifacts":                       {"core", "internal/files/durable"},
	"artifacts/artifactstest":         {"core", "artifacts"},
	"outputs":                         {},
	"internal/files/collect":          {"core", "internal/text/braces", "internal/files/plainfile", "outputs"},
	"executor":                        {},
	"executor/internal/family":        {"executor"},
	"executor/internal/process":       {"executor", "executor/internal/family"},
	"executor/local":                  {"executor", "executor/internal/family", "executor/internal/process", "internal/text/shellcmd/lookpath"},
	"executor/sandbox":                {"executor", "executor/internal/family", "executor/internal/process", "executor/internal/reexec", "internal/linux/cgroup", "internal/lru", "internal/files/plainfile", "internal/linux/seccomp"},
	"executor/internal/reexec":        {},
	"executor/remote":                 {"executor", "internal/text/shellcmd/lookpath"},
	"executor/executortest":           {"core", "executor"},
	"executor/egress":                 {"internal/text/redact"},
	"workspace":                       {"artifacts", "internal/files/workspace"},
	"internal/files/workspace":        {"core", "artifacts", "internal/files/plainfile"},
	"internal/linux/cgroup":           {},
	"internal/files/durable":          {"internal/files/plainfile"},
	"internal/fairqueue":              {},
	"internal/files/lazyfs":           {},
	"internal/lru":                    {},
	"internal/files/plainfile":        {},
	"internal/text/redact":            {"internal/text/plainjson"},
	"internal/linux/seccomp":          {},
	"internal/text/shellcmd":          {"internal/text/shellcmd/lookpath"},
	"internal/text/shellcmd/lookpath": {},
	"internal/files/deps":             {"internal/files/workspace", "internal/text/printable"},
	"internal/engine/terminal":        {"core", "executor", "internal/text/plainjson", "internal/text/printable", "internal/text/redact"},
	"permission":                      {},
	"internal/engine/judging":         {"internal/text/skilltext", "core", "permission", "skillmd", "internal/text/braces", "internal/text/printable", "internal/text/shellcmd"},
	"internal/text/callargs":          {"internal/text/printable"},
	"internal/text/plainjson":         {},
	"internal/text/braces":            {},
	"internal/text/printable":         {"internal/text/plainjson"},
	"internal/warnlog":                {},
	"tools":                           {"catalog", "core", "internal/text/callargs", "permission"},
	"internal/engine/skilltools":      {"internal/engine/needs", "internal/text/skilltext", "catalog", "core", "internal/text/callargs", "internal/files/collect", "internal/engine/state", "internal/engine/lifetime", "internal/text/plainjson", "internal/text/printable", "internal/text/search", "internal/text/prompttext", "loadmode", "session", "skillmd", "internal/engine/terminal", "tools", "internal/text/skillargs"},
	"internal/engine/needs":           {"core", "catalog"},
	"tools/run":                       {"internal/fairqueue", "internal/engine/needs", "internal/engine/skilltools", "artifacts", "catalog", "core", "internal/files/deps", "executor", "executor/egress", "internal/text/callargs", "internal/files/collect", "internal/engine/state", "internal/engine/hostfiles", "internal/lru", "internal/text/plainjson", "internal/text/printable", "internal/text/redact", "internal/text/shellcmd", "internal/text/shellcmd/lookpath", "internal/files/workspace", "outputs", "permission", "internal/engine/terminal", "tools", "workspace", "internal/text/search"},
	"adapter":                         {"internal/engine/callctx", "core"},
	"internal/testing/chattest":       {"core", "adapter", "internal/engine/state", "session", ".", "executor/sandbox", "skillmd"},
	"internal/engine/callctx":         {"core"},
	"internal/engine/state":           {"catalog", "core", "internal/lru", "internal/text/prompttext", "loadmode", "session"},
	"internal/engine/view":            {"internal/engine/needs", "internal/engine/callctx", "internal/engine/skilltools", "catalog", "catalog/source", "core", "internal/engine/state", "internal/engine/lifetime", "internal/lru", "internal/engine/steps", "internal/text/prompttext", "internal/files/workspace", "loadmode", "processors", "session", "tools", "internal/engine/judging"},
	"internal/engine/call":            {"internal/engine/needs", "internal/engine/callctx", "internal/engine/skilltools", "adapter", "artifacts", "catalog", "core", "executor", "executor/sandbox", "internal/engine/state", "internal/engine/steps", "internal/engine/view", "internal/text/printable", "internal/files/workspace", "loadmode", "permission", "processors", "session", "internal/engine/terminal", "tools", "tools/run", "workspace", "internal/engine/judging", "internal/text/search"},
	"internal/engine/turn":            {"internal/engine/callctx", "internal/engine/skilltools", "adapter", "catalog", "core", "internal/engine/call", "internal/engine/state", "internal/engine/view", "internal/engine/hostfiles", "internal/engine/lifetime", "internal/engine/steps", "loadmode", "tools"},
	"internal/engine/hostfiles":       {"artifacts", "core", "internal/engine/state", "internal/engine/steps", "internal/files/workspace", "workspace"},
	".":                               {"internal/engine/needs", "internal/engine/callctx", "internal/engine/skilltools", "adapter", "catalog", "catalog/source", "core", "internal/engine/call", "internal/engine/state", "internal/engine/turn", "internal/engine/view", "internal/engine/steps", "internal/warnlog", "loadmode", "permission", "processors", "session", "skillmd", "internal/engine/terminal", "tools", "tools/run", "internal/engine/judging", "internal/text/prompttext"},
	"adapter/eino":                    {"core", "adapter", "internal/lru", "internal/text/printable", "."},
	"adapter/langchaingo":             {"core", "adapter", "internal/lru", "."},
	"internal/testing/crashtest":      {},
	"satcheltest":                     {"core"},
	"internal/tracing/line":           {},
	"internal/tracing/tracelog":       {"internal/tracing/line"},
	"internal/tracing/page":           {"internal/tracing/line", "internal/tracing/tracelog"},
	"internal/testing/bypasstest":     {},
	"internal/testing/browsertest":    {},
	"internal/testing/servertest":     {},
	"internal/text/packed":            {},
	"internal/testing/walktest":       {},
	"internal/testing/wiretest":       {"core", ".", "executor/local", "loadmode", "processors", "tools", "internal/text/plainjson"},

	"eval": {"catalog", "core", "executor", "executor/local", "internal/engine/turn", "internal/files/collect", "internal/files/plainfile", "internal/files/workspace", "internal/text/skillneeds", "loadmode", "skillmd"},

	"cmd/satchel-runner": {"executor", "executor/local", "executor/remote", "executor/sandbox"},

	"docs/picture":    {},
	"docs/apidoc":     {},
	"scripts/publish": {},
	"scripts/words":   {},
}

// outside says which modules a room may import beside the standard library.
var outside = map[string][]string{
	"internal/text/search":      {"github.com/blevesearch/snowballstem", "golang.org/x/text"},
	"catalog/internal/scan":     {"github.com/fsnotify/fsnotify"},
	"internal/archive":          {"golang.org/x/net", "golang.org/x/text"},
	"skillmd":                   {"gopkg.in/yaml.v3"},
	"eval":                      {"gopkg.in/yaml.v3"},
	"internal/text/skillneeds":  {"gopkg.in/yaml.v3"},
	"internal/text/skilltext":   {"gopkg.in/yaml.v3", "golang.org/x/text"},
	"internal/engine/judging":   {"github.com/bmatcuk/doublestar/v4"},
	"internal/files/collect":    {"github.com/bmatcuk/doublestar/v4", "github.com/gabriel-vasile/mimetype"},
	"artifacts":                 {"golang.org/x/sys"},
	"internal/files/plainfile":  {"golang.org/x/sys"},
	"executor/internal/family":  {"golang.org/x/sys"},
	"executor/internal/process": {"golang.org/x/sys", "github.com/creack/pty"},
	"executor/local":            {"golang.org/x/sys"},
	"executor/sandbox":          {"golang.org/x/sys"},
	"executor/executortest":     {"golang.org/x/sys"},
	"cmd/satchel-runner":        {"golang.org/x/sys"},
	"executor/egress":           {"golang.org/x/net"},
	"internal/files/workspace":  {"golang.org/x/sys"},
	"internal/linux/cgroup":     {"golang.org/x/sys"},
	"internal/linux/seccomp":    {"golang.org/x/net"},
	"internal/text/shellcmd":    {"mvdan.cc/sh/v3"},
	"adapter/eino":              {"github.com/cloudwego/eino", "github.com/eino-contrib/jsonschema"},
	"adapter/langchaingo":       {"github.com/tmc/langchaingo"},
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
		return // a package of the standard library
	}
	if !slices.ContainsFunc(outside[room], func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
		t.Errorf("room %s must not import %s", room, imported)
	}
}

// TestHouseOneGoroutine holds what the Makefile says of the rooms that it does not run
// under the race detector.
func TestHouseOneGoroutine(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(makefile), "\nSERIAL := ")
	list, _, _ = strings.Cut(list, "\n#")
	list = strings.NewReplacer("\\\n", " ", "$(addprefix ./internal/,", " ./internal/", ")", " ").Replace(list)
	rooms := 0
	for _, room := range strings.Fields(list) {
		if !strings.HasPrefix(room, "./") {
			room = "./internal/" + room
		}
		room, deep := strings.CutSuffix(room, "/...")
		err := filepath.WalkDir(room, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if rooms++; path != room && !deep {
					return filepath.SkipDir
				}
				return err
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				return startsNone(t, path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if rooms < 10 {
		t.Errorf("found %d rooms in %q", rooms, list)
	}
}

// startsNone complains of the goroutines that a file starts.
func startsNone(t *testing.T, file string) error {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s starts a goroutine", set.Position(n.Pos()))
		case *ast.SelectorExpr:
			if n.Sel.Name == "Go" || n.Sel.Name == "AfterFunc" {
				t.Errorf("%s may start a goroutine", set.Position(n.Pos()))
			}
		}
		return true
	})
	return nil
}

// TestHouseShortTests holds that whatever does less with -short, as under the race
// detector, is among the tests that the Makefile runs in full.
func TestHouseShortTests(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(makefile), "\nPLAYS  := ")
	list, _, _ = strings.Cut(list, "\n")
	found := 0
	err = filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") || file == "house_test.go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		_, rest, short := strings.Cut(string(text), "testing.Short()")
		if !short {
			return nil
		}
		found++
		before := strings.TrimSuffix(string(text), rest)
		name, _, _ := strings.Cut(before[strings.LastIndex(before, "\nfunc Test")+len("\nfunc Test"):], "(")
		room := "./" + path.Dir(filepath.ToSlash(file))
		if strings.Contains(rest, "testing.Short()") || !strings.Contains(list, name) || !strings.Contains(list, room) && !strings.Contains(list, path.Dir(room)+"/...") {
			t.Errorf("%s: Test%s in %s is not among %s", file, name, room, list)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("found %d tests, %v", found, err)
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
