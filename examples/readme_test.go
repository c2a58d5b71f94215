// Package examples_test keeps the README of the module above honest: the code
// that it quotes from the examples is the code that is tested here.
package examples_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// maxSnippet bounds a snippet in lines: a README quotes what fits at a glance.
const maxSnippet = 15

// quote is a fenced Go block and the file that it says it comes from.
type quote struct {
	file string
	code string
}

// quotes finds the blocks that follow a line such as
// <!-- from examples/eino-adk/main.go -->, with nothing but blank lines between.
func quotes(readme string) ([]quote, error) {
	from := regexp.MustCompile(`(?m)^<!-- from examples/(\S+) -->$`)
	block := regexp.MustCompile("^\\s*\n```go\n((?s:.*?))```(?:\n|$)")
	var all []quote
	for _, at := range from.FindAllStringSubmatchIndex(readme, -1) {
		file := readme[at[2]:at[3]]
		code := block.FindStringSubmatch(readme[at[1]:])
		if code == nil {
			return nil, fmt.Errorf("no Go block follows the comment about %q", file)
		}
		all = append(all, quote{file, code[1]})
	}
	return all, nil
}

// snippet returns the lines between the comments "// snippet:" and
// "// end snippet", without the indentation of the first.
func snippet(source string) (string, error) {
	region := regexp.MustCompile(`(?m)^(\t*)// snippet:.*\n((?s:.*?))^\t*// end snippet$`).FindAllStringSubmatch(source, -1)
	if len(region) != 1 {
		return "", fmt.Errorf("there are %d snippets, want 1", len(region))
	}
	if n := strings.Count(region[0][2], "\n"); n == 0 || n > maxSnippet {
		return "", fmt.Errorf("the snippet has %d lines, want 1 to %d", n, maxSnippet)
	}
	lines := strings.SplitAfter(region[0][2], "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], region[0][1])
	}
	return strings.Join(lines, ""), nil
}

// TestReadmeQuotesTheExamples compares byte for byte.
func TestReadmeQuotesTheExamples(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found, err := quotes(string(readme))
	if err != nil {
		t.Fatal(err)
	}
	quoted := map[string]bool{}
	for _, q := range found {
		quoted[q.file] = true
		source, err := readExample(q.file)
		if err != nil {
			t.Error(err)
			continue
		}
		code, err := snippet(source)
		if err != nil {
			t.Errorf("examples/%s: %v", q.file, err)
		} else if q.code != code {
			t.Errorf("README.md quotes examples/%s as\n%s\nbut its snippet is\n%s", q.file, q.code, code)
		}
	}
	for _, file := range []string{"eino-adk/main.go", "langchaingo-functions/main.go"} {
		if !quoted[file] {
			t.Errorf("README.md has no Go block after <!-- from examples/%s -->", file)
		}
	}
}

// readExample reads a file of this module and no other.
func readExample(file string) (_ string, err error) {
	root, err := os.OpenRoot(".")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	source, err := root.ReadFile(file)
	return string(source), err
}

func TestQuotes(t *testing.T) {
	const comment = "<!-- from examples/a/main.go -->\n"
	for _, tc := range []struct {
		name, readme string
		want         []quote
		fails        bool
	}{
		{"none", "# Title\n\n```go\nx := 1\n```\n", nil, false},
		{"one", "Text\n\n" + comment + "```go\n\tx := 1\n}\n```\nText\n", []quote{{"a/main.go", "\tx := 1\n}\n"}}, false},
		{"blank line and end of file", comment + "\n```go\nx\n```", []quote{{"a/main.go", "x\n"}}, false},
		{"two", comment + "```go\nx\n```\n" + comment + "```go\ny\n```\n", []quote{{"a/main.go", "x\n"}, {"a/main.go", "y\n"}}, false},
		{"text between", comment + "Text\n```go\nx\n```\n", nil, true},
		{"another language", comment + "```sh\nx\n```\n", nil, true},
		{"no end", comment + "```go\nx\n", nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := quotes(tc.readme)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) || (err != nil) != tc.fails {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

func TestSnippet(t *testing.T) {
	const end = "\t// end snippet\n"
	for _, tc := range []struct {
		name, source, want string
		fails              bool
	}{
		{"dedented", "\t// snippet: skills\n\ta {\n\n\t\tb\n\t}\n" + end, "a {\n\n\tb\n}\n", false},
		{"none", "x\n", "", true},
		{"empty", "\t// snippet:\n" + end, "", true},
		{"no end", "\t// snippet:\n\ta\n", "", true},
		{"two", strings.Repeat("\t// snippet:\n\ta\n"+end, 2), "", true},
		{"longest", "\t// snippet:\n" + strings.Repeat("\ta\n", maxSnippet) + end, strings.Repeat("a\n", maxSnippet), false},
		{"too long", "\t// snippet:\n" + strings.Repeat("\ta\n", maxSnippet+1) + end, "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := snippet(tc.source)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}
