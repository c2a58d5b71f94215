package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHelpAndUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		out  string
		err  string
	}{
		"help":           {[]string{"--help"}, 0, "Talk to a model:", ""},
		"help as a word": {[]string{"help"}, 0, "Talk to a model:", ""},
		"help of a verb": {[]string{"help", "library", "diff"}, 0, "Usage: satchel library diff", ""},
		"help of chat":   {[]string{"chat", "--help"}, 0, "tool_result  id, name, result", ""},
		"help of list":   {[]string{"list", "--help"}, 0, "docs (how many", ""},
		"nothing":        {nil, cli.ExitUsage, "", "expected one of"},
		"unknown":        {[]string{"dance"}, cli.ExitUsage, "", "dance"},
		"unknown flag":   {[]string{"chat", "--loud"}, cli.ExitUsage, "", "--loud"},
		"bad framework":  {[]string{"chat", "--framework", "other", "hi"}, cli.ExitUsage, "", "eino"},
		"nothing to see": {[]string{"inspect"}, cli.ExitUsage, "", "<path>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := program(t, nil, "", test.args...)
			if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) {
				t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
			}
		})
	}
}

func TestIsTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if cli.IsTerminal(file) || cli.IsTerminal(null) {
		t.Error("a file or the null device counts as a terminal")
	}
}
