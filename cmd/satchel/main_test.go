package main

import (
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
		"help of chat":   {[]string{"chat", "--help"}, 0, "tool_result  id, name, result", ""},
		"help of list":   {[]string{"list", "--help"}, 0, "docs (how many", ""},
		"nothing":        {nil, exitUsage, "", "expected one of"},
		"unknown":        {[]string{"dance"}, exitUsage, "", "dance"},
		"unknown flag":   {[]string{"chat", "--loud"}, exitUsage, "", "--loud"},
		"bad framework":  {[]string{"chat", "--framework", "other", "hi"}, exitUsage, "", "eino"},
		"nothing to see": {[]string{"inspect"}, exitUsage, "", "<path>"},
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
	if isTerminal(file) || isTerminal(null) {
		t.Error("a file or the null device counts as a terminal")
	}
}
