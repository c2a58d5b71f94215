package skillmd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/skillmd"
)

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		name, fields string
		want         []string
		hint         string
		codes        []skillmd.Code
	}{
		{"none", "", nil, "", nil},
		{"list", "arguments: [from, to]\n", []string{"from", "to"}, "", nil},
		{"block", "arguments:\n  - from\n  - to\n", []string{"from", "to"}, "", nil},
		{"text", "arguments: from, to-dir  x\n", []string{"from", "to-dir", "x"}, "", nil},
		{"maps", "arguments:\n  - name: from\n    description: A file.\n  - to\n", []string{"from", "to"}, "", nil},
		{"empty", "arguments:\n", nil, "", nil},
		{"hint", "argument-hint: '[file] [--all]'\n", nil, "[file] [--all]", nil},
		{"hint without quotes", "argument-hint: [file, to]\n", nil, "[file, to]", nil},
		{"hint on two lines", "argument-hint: |\n  a\n  b\n", nil, "a b", nil},
		{"a map", "arguments: {from: text}\n", nil, "", []skillmd.Code{"arguments-type"}},
		{"an item that is none", "arguments: [from, {x: y}]\n", []string{"from", ""}, "", []skillmd.Code{"arguments-type"}},
		{"names of no placeholder", "arguments: [from, 1st, ARGUMENTS]\n", []string{"from", "1st", "ARGUMENTS"}, "", []skillmd.Code{"arguments-name"}},
		{"many", "arguments: [" + strings.Repeat("a,", 10_000) + "]\n", slices.Repeat([]string{"a"}, 64), "", []skillmd.Code{"arguments-many"}},
		{"as many as are read", "arguments: [" + strings.Repeat("a,", 64) + "]\n", slices.Repeat([]string{"a"}, 64), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, found, err := skillmd.Parse([]byte("---\nname: a\ndescription: d\n" + tt.fields + "---\nBody.\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := doc.Arguments(); !slices.Equal(got, tt.want) {
				t.Errorf("arguments %q, want %q", got, tt.want)
			}
			if got := doc.ArgumentHint(); got != tt.hint {
				t.Errorf("hint %q, want %q", got, tt.hint)
			}
			if got := codes(found); !slices.Equal(got, tt.codes) {
				t.Errorf("diagnostics %v, want %v", got, tt.codes)
			}
		})
	}
}

// Advise finds commands that other programs run, each with its line, and nothing else.
func TestAdviseCommands(t *testing.T) {
	text := "---\nname: a\ndescription: d\n---\n\nState: !`git status`\n!`pwd` and (!`ls`)\n\n```!\nls\n```\nWow!`code` a! `b` !``\n" + strings.Repeat("!`x`\n", 100)
	doc, _, err := skillmd.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, d := range doc.Advise([]byte(text)) {
		if d.Code == "command-not-run" {
			lines = append(lines, d.Line)
		}
	}
	if want := []int{6, 7, 9, 13}; len(lines) < 4 || !slices.Equal(lines[:4], want) || len(lines) > 10 {
		t.Errorf("lines %v, want %v at first", lines, want)
	}
}
