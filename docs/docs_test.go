// Package docs_test keeps README.md and the guides true: the code that they quote
// is compiled and tested where it comes from, and what they link to exists.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// maxSnippet and maxFile bound in lines what is quoted, so that it is read.
const maxSnippet, maxFile = 15, 55

// quote is a block of code with the file, and the part of it, that it says it
// comes from; file is "" where it does not say.
type quote struct{ file, part, code string }

// quotes finds the blocks of Go code, and all blocks that follow a line such as
// <!-- from examples/run/main.go#runner -->, with nothing but blank lines between.
func quotes(page string) ([]quote, error) {
	block := regexp.MustCompile("(?m)(?:^<!-- from ([^\\s#]+)(?:#(\\S+))? -->\\s*\n)?^```(\\w*)\n((?s:.*?))^```(?:\n|$)")
	var all []quote
	for _, found := range block.FindAllStringSubmatch(page, -1) {
		if found[1] != "" || found[3] == "go" {
			all = append(all, quote{found[1], found[2], found[4]})
		}
	}
	if said := len(regexp.MustCompile(`(?m)^<!-- from `).FindAllString(page, -1)); said > len(all) {
		return nil, fmt.Errorf("%d comments announce code, %d blocks follow", said, len(all))
	}
	return all, nil
}

// snippet returns the lines between "// snippet: PART" and "// end snippet",
// without the indentation of the first; without a part, a whole short file.
func snippet(source, part string) (string, error) {
	if part == "" {
		if n := strings.Count(source, "\n"); n == 0 || n > maxFile {
			return "", fmt.Errorf("the file has %d lines, want 1 to %d, or name a part", n, maxFile)
		}
		return source, nil
	}
	region := regexp.MustCompile(`(?m)^(\t*)// snippet: `+regexp.QuoteMeta(part)+`\n((?s:.*?))^\t*// end snippet$`).FindAllStringSubmatch(source, -1)
	if len(region) != 1 {
		return "", fmt.Errorf("there are %d snippets %q, want 1", len(region), part)
	}
	if n := strings.Count(region[0][2], "\n"); n == 0 || n > maxSnippet {
		return "", fmt.Errorf("the snippet %q has %d lines, want 1 to %d", part, n, maxSnippet)
	}
	lines := strings.SplitAfter(region[0][2], "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], region[0][1])
	}
	return strings.Join(lines, ""), nil
}

// pages are the texts for users, by their paths from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*.md", "cmd/satchel/*.md", "benchmark/*.md"} {
		found, err := fs.Glob(os.DirFS(".."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			all[name] = read(t, name)
		}
	}
	return all
}

// read reads a file of the repository and no other.
func read(t *testing.T, name string) string {
	t.Helper()
	root, err := os.OpenRoot("..")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	text, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPagesQuoteTestedCode compares byte for byte. Every block of Go says where it
// comes from.
func TestPagesQuoteTestedCode(t *testing.T) {
	for name, page := range pages(t) {
		found, err := quotes(page)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, q := range found {
			if q.file == "" {
				t.Errorf("%s has Go code that does not come from a file:\n%s", name, q.code)
				continue
			}
			if code, err := snippet(read(t, q.file), q.part); err != nil {
				t.Errorf("%s: %s: %v", name, q.file, err)
			} else if q.code != code {
				t.Errorf("%s quotes %s#%s as\n%s\nbut it is\n%s", name, q.file, q.part, q.code, code)
			}
		}
	}
}

// README.md has the programs that scripts/release-check.sh compiles.
func TestReadmeHasBothPrograms(t *testing.T) {
	page := read(t, "README.md")
	for _, file := range []string{"examples/first-eino/main.go", "examples/first-langchaingo/main.go"} {
		if !strings.Contains(page, "<!-- from "+file+" -->\n```go\n// Command ") {
			t.Errorf("README.md has no program from %s", file)
		}
	}
}

// TestGuidesBeginWithATask: the line below the title says what the reader wants to do.
// The other pages of docs/ are for those who work on Satchel.
func TestGuidesBeginWithATask(t *testing.T) {
	for name, page := range pages(t) {
		switch base, inDocs := strings.CutPrefix(name, "docs/"); {
		case !inDocs, base == "architecture.md", base == "decisions.md", base == "next.md":
		default:
			if lines := strings.SplitN(page, "\n", 4); len(lines) < 4 || !strings.HasPrefix(lines[2], "*You ") || !strings.HasSuffix(lines[2], ".*") {
				t.Errorf("%s begins with no task: %q", name, lines)
			}
		}
	}
}

// TestGuidesAskQuestions holds the pages in which a reader looks for one answer.
func TestGuidesAskQuestions(t *testing.T) {
	for _, name := range []string{"dependencies", "events", "going-on", "library", "permissions", "production", "prompt-caches", "running-commands", "scale", "server", "skills"} {
		found := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(read(t, "docs/"+name+".md"), -1)
		if len(found) == 0 {
			t.Errorf("docs/%s.md has no headings", name)
		}
		for _, h := range found {
			if !strings.HasSuffix(h[1], "?") {
				t.Errorf("docs/%s.md has a heading that is no question: %s", name, h[1])
			}
		}
	}
}

// TestPagesHaveNoIndentedCode keeps code in fences, where TestPagesQuoteTestedCode finds it.
func TestPagesHaveNoIndentedCode(t *testing.T) {
	fenced, indented := regexp.MustCompile("(?ms)^```.*?^```$"), regexp.MustCompile(`(?m)^\n {4}\S.*$`)
	for name, page := range pages(t) {
		if code := indented.FindString(fenced.ReplaceAllString(page, "")); code != "" {
			t.Errorf("%s has code outside of a fence: %s", name, strings.TrimSpace(code))
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinksLead tries every link to a file of the repository, and to a heading.
func TestLinksLead(t *testing.T) {
	for name, page := range pages(t) {
		for _, found := range link.FindAllStringSubmatch(page, -1) {
			to, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := name
			if to != "" {
				target = path.Join(path.Dir(name), to)
			}
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s: %v", name, found[1], err)
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links to %s: no such heading", name, found[1])
			}
		}
	}
}

// anchors are the names that a page's headings have in links.
func anchors(page string) []string {
	var all []string
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		all = append(all, strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} -]`).ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

// TestArchitectureNamesFiles looks for every Go file and room in code style that
// docs/architecture.md names.
func TestArchitectureNamesFiles(t *testing.T) {
	page, checked := read(t, "docs/architecture.md"), 0
	for _, found := range regexp.MustCompile("`([\\w./-]+(?:\\.go|/))(?:[:#][^`]*)?`").FindAllStringSubmatch(page, -1) {
		checked++
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(found[1]))); err != nil {
			t.Errorf("docs/architecture.md names %s: %v", found[1], err)
		}
	}
	if checked < 30 {
		t.Errorf("only %d names were checked", checked)
	}
}

// floors are the folders below internal/ that hold rooms of one kind.
var floors = []string{"engine", "files", "linux", "testing", "text"}

// TestArchitectureNamesRooms looks for every room below internal/ in docs/architecture.md.
func TestArchitectureNamesRooms(t *testing.T) {
	page, checked := read(t, "docs/architecture.md"), 0
	look := func(dir string) {
		rooms, err := fs.ReadDir(os.DirFS(".."), dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, room := range rooms {
			if checked++; !strings.Contains(page, "`"+dir+"/"+room.Name()+"/") && !slices.Contains(floors, room.Name()) {
				t.Errorf("docs/architecture.md does not name %s/%s", dir, room.Name())
			}
		}
	}
	look("internal")
	for _, floor := range floors {
		look("internal/" + floor)
	}
	if checked < 30 {
		t.Errorf("only %d rooms were checked", checked)
	}
}

// TestOptionsAreListed compares the table of options with the options that there are,
// and looks for every option that a page names.
func TestOptionsAreListed(t *testing.T) {
	root, all := map[string]bool{}, map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (With\w+)\(.*?(\) Option \{)?$`)
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			all[found[1]] = true
			if found[2] != "" && filepath.Dir(name) == ".." {
				root[found[1]] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	table := read(t, "docs/going-on.md")
	_, table, _ = strings.Cut(table, "## Which options does `satchel.New` have?")
	for name := range root {
		if !strings.Contains(table, "`"+name+"(") {
			t.Errorf("docs/going-on.md does not list the option %s", name)
		}
	}
	all["WithTools"] = true // an option of Eino's models
	for name, page := range pages(t) {
		prose := regexp.MustCompile("(?ms)^```go$.*?^```$").ReplaceAllString(page, "") // the compiler checks code blocks
		if strings.HasPrefix(name, "docs/from-") {
			prose = regexp.MustCompile(`(?m)^\| [^|]*\|`).ReplaceAllString(prose, "") // the first column names options of the other library
		}
		for _, found := range regexp.MustCompile(`\bWith[A-Z]\w+`).FindAllString(prose, -1) {
			if !all[found] && name != "CHANGELOG.md" && name != "docs/api.md" {
				t.Errorf("%s names %s, which does not exist", name, found)
			}
		}
	}
}

// Decisions are numbered from 1 without a gap and have a date. Comments name
// decisions that exist.
func TestDecisionsAreNumbered(t *testing.T) {
	page := read(t, "docs/decisions.md")
	entries := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(page, -1)
	for i, e := range entries {
		if !regexp.MustCompile(fmt.Sprintf(`^%d\. .+ \(20\d\d-\d\d-\d\d\)$`, i+1)).MatchString(e[1]) {
			t.Errorf("docs/decisions.md has %q, want number %d and a date", e[1], i+1)
		}
	}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, found := range regexp.MustCompile(`decision (\d+)`).FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`(?m)^## ` + found[1] + `\. `).MatchString(page) {
				t.Errorf("%s names decision %s, which does not exist", name, found[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestQuotes(t *testing.T) {
	const from = "<!-- from a/main.go -->\n"
	for _, tc := range []struct {
		name, page string
		want       []quote
		fails      bool
	}{
		{"no code", "# Title\n\n```sh\nx\n```\n", nil, false},
		{"no source", "# Title\n\n```go\nx := 1\n```\n", []quote{{"", "", "x := 1\n"}}, false},
		{"one", "Text\n\n" + from + "```go\n\tx := 1\n}\n```\nText\n", []quote{{"a/main.go", "", "\tx := 1\n}\n"}}, false},
		{"a part", "<!-- from a/main.go#b -->\n```go\nx\n```\n", []quote{{"a/main.go", "b", "x\n"}}, false},
		{"blank line and end of file", from + "\n```go\nx\n```", []quote{{"a/main.go", "", "x\n"}}, false},
		{"two", from + "```go\nx\n```\n" + from + "```go\ny\n```\n", []quote{{"a/main.go", "", "x\n"}, {"a/main.go", "", "y\n"}}, false},
		{"another language", from + "```markdown\nx\n```\n", []quote{{"a/main.go", "", "x\n"}}, false},
		{"text between", from + "Text\n", nil, true},
		{"no end", from + "```go\nx\n", nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := quotes(tc.page)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) || (err != nil) != tc.fails {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	const end = "\t// end snippet\n"
	for _, tc := range []struct {
		name, source, part, want string
		fails                    bool
	}{
		{"dedented", "\t// snippet: a\n\ta {\n\n\t\tb\n\t}\n" + end, "a", "a {\n\n\tb\n}\n", false},
		{"one of two", "\t// snippet: a\n\tx\n" + end + "\t// snippet: b\n\ty\n" + end, "b", "y\n", false},
		{"whole file", "x\n", "", "x\n", false},
		{"long file", strings.Repeat("x\n", maxFile+1), "", "", true},
		{"no file", "", "", "", true},
		{"none", "x\n", "a", "", true},
		{"empty", "\t// snippet: a\n" + end, "a", "", true},
		{"no end", "\t// snippet: a\n\ta\n", "a", "", true},
		{"twice", strings.Repeat("\t// snippet: a\n\ta\n"+end, 2), "a", "", true},
		{"longest", "\t// snippet: a\n" + strings.Repeat("\ta\n", maxSnippet) + end, "a", strings.Repeat("a\n", maxSnippet), false},
		{"too long", "\t// snippet: a\n" + strings.Repeat("\ta\n", maxSnippet+1) + end, "a", "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := snippet(tc.source, tc.part)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// TestEventsAreListed compares the tables of docs/events.md with the kinds that there are, and
// the fields that a row names with those of core.Event.
func TestEventsAreListed(t *testing.T) {
	page, kinds := read(t, "docs/events.md"), map[string]string{} // kinds maps each kind to its constant in core
	for _, found := range regexp.MustCompile(`(?m)^\t(\w+)\s+EventKind = "([\w.]+)"`).FindAllStringSubmatch(read(t, "core/event.go"), -1) {
		kinds[found[2]] = "core." + found[1]
	}
	if len(kinds) < 30 {
		t.Fatalf("found %d kinds", len(kinds))
	}
	event := reflect.TypeFor[core.Event]()
	for _, row := range regexp.MustCompile("(?m)^\\| `?([\\w.]*)`? \\| `(\\w+\\.\\w+)` \\| ([^|]*)\\|").FindAllStringSubmatch(page, -1) {
		if constant, ok := kinds[row[2]]; !ok || constant != row[1] {
			t.Errorf("docs/events.md has %q as %q, want %q", row[2], row[1], constant)
		}
		delete(kinds, row[2])
		for _, field := range regexp.MustCompile("`([A-Z]\\w+)`").FindAllStringSubmatch(row[3], -1) {
			if _, ok := event.FieldByName(field[1]); !ok {
				t.Errorf("docs/events.md has the field %s of %s, which does not exist", field[1], row[1])
			}
		}
	}
	for kind := range kinds {
		t.Errorf("docs/events.md does not list %s", kind)
	}
}
