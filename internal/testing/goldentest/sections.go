// Package goldentest reads and writes golden files that consist of sections.
package goldentest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Update is the flag -update, with which tests write the golden files.
var Update = flag.Bool("update", false, "write the golden files anew")

// Section is one part of a golden file: a line "-- head --" and the text after it.
type Section struct{ Head, Text string }

// Read reads a golden file. about is the text before the first section, which describes the file.
func Read(t testing.TB, file string) (about string, sections []Section) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		head, ok := strings.CutPrefix(line, "-- ")
		if head, end := strings.CutSuffix(head, " --\n"); ok && end {
			sections = append(sections, Section{Head: head})
		} else if n := len(sections); n > 0 {
			sections[n-1].Text += line
		} else {
			about += line
		}
	}
	for i := range sections {
		sections[i].Text = strings.TrimSuffix(sections[i].Text, "\n")
	}
	return about, sections
}

// Write writes a golden file.
func Write(t *testing.T, file, about string, sections []Section) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString(about)
	for _, s := range sections {
		fmt.Fprintf(&b, "-- %s --\n%s\n", s.Head, s.Text)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Text returns the text of sections in a golden file.
func Text(sections []Section) string {
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "-- %s --\n%s\n", s.Head, s.Text)
	}
	return b.String()
}
