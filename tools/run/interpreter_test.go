package run

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of the guide is the one in the code.
func TestInterpretersAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../docs/running-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`\\..*`) \\| `(.*)` \\|$").FindAllStringSubmatch(string(guide), -1) {
		for ext := range strings.SplitSeq(row[1], ", ") {
			documented[strings.Trim(ext, "`")] = strings.Fields(row[2])
		}
	}
	if !maps.EqualFunc(documented, interpreters, slices.Equal) {
		t.Errorf("docs/running-commands.md has %v, want %v", documented, interpreters)
	}
}

func TestInterpreter(t *testing.T) {
	own := map[string][]string{".jl": {"julia"}, ".py": {"pypy", "-u"}}
	for name, want := range map[string]string{
		"a.sh": "[bash]", "b/A.SH": "[bash]", "x.jl": "[julia]", "x.PY": "[pypy -u]", "x": "[]", "x.unknown": "[]", ".sh": "[bash]", "a.sh/b": "[]",
	} {
		if got := fmt.Sprint(interpreter(name, own)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := extensions(own); got != ".cjs, .jl, .js, .lua, .mjs, .php, .pl, .ps1, .py, .r, .rb, .sh, .ts" {
		t.Errorf("extensions %s", got)
	}
}

func TestShebang(t *testing.T) {
	for line, want := range map[string]string{
		"#!/bin/sh\n": "[sh]", "#! /usr/bin/env  python3\r\n": "[python3]", "#!/usr/bin/env -S python3 -u\n": "[python3 -u]",
		"#!/usr/bin/env -i A=1 -u B bash -e": "[bash -e]", "#!/opt/x/python9": "[python9]", "#!": "[]", "#!/usr/bin/env\n": "[]",
		"# !/bin/sh": "[]", "": "[]", "\xef\xbb\xbf#!/bin/sh\n": "[]",
	} {
		if got := fmt.Sprint(shebang(line)); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
