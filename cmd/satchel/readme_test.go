package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestReadmeNamesEachCommand looks for a row of each command in README.md.
func TestReadmeNamesEachCommand(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, kong.Name("satchel"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, command := range parser.Model.Leaves(true) {
		seen++
		if name := strings.TrimPrefix(command.FullPath(), "satchel "); !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("README.md has no row of %s", name)
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands", seen)
	}
}
