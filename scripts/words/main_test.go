package main

import (
	"strings"
	"testing"
)

func TestCheckFile(t *testing.T) {
	long := strings.Repeat("word ", maxWords+1)
	for name, tt := range map[string]struct{ source, want string }{
		"plain":               {"// F returns nothing.\nfunc F() {}", ""},
		"no comment":          {"func F() {}", ""},
		"long":                {"// F is " + long + ".\nfunc F() {}", "33 words: F is word"},
		"two sentences":       {"// F is " + strings.Repeat("word ", 20) + ". It is " + strings.Repeat("word ", 20) + "\nfunc F() {}", ""},
		"code does not count": {"// F runs:\n//\n//\t" + long + "\nfunc F() {}", ""},
		"a phrase":            {"// F is for whoever calls it.\nfunc F() {}", `"whoever" has a plainer form`},
		"a decision":          {"// F works. Decision 12 says why.\nfunc F() {}", `"Decision 12" has a plainer form`},
		"inside":              {"func F() {\n\t// nobody comes here\n}", `"nobody" has a plainer form`},
		"as long as":          {"// F works as long as G does.\nfunc F() {}", `"as long as" has a plainer form`},
		"who":                 {"// F is for who calls it.\nfunc F() {}", `"for who" has a plainer form`},
		"a chain":             {"// F returns what is left of what came.\nfunc F() {}", "has a plainer form"},
		"a colon":             {"// F is " + strings.Repeat("word ", 20) + ": " + strings.Repeat("word ", 20) + "\nfunc F() {}", "43 words"},
		"a list":              {"// F has:\n//\n//   - " + strings.Repeat("word ", 20) + "\n//   - " + strings.Repeat("word ", 20) + "\nfunc F() {}", ""},
		"output of examples":  {"func F() {\n\t// Output:\n\t// " + long + "\n}", ""},
		"a type":              {"// This is one.\ntype T int", "the comment of T does not begin with its name"},
		"an article":          {"// A T is one.\ntype T int", ""},
		"a value":             {"// This is one.\nvar v int", "the comment of v does not begin with its name"},
		"exported in a group": {"var (\n\t// This is one.\n\tV int\n)", "the comment of V does not begin with its name"},
		"heading in a group":  {"// Limits of all.\nvar (\n\t// These are some.\n\tv int\n)", ""},
		"another name":        {"// This returns nothing.\nfunc F() {}", "the comment of F does not begin with its name"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := checkFile("x.go", []byte("package x\n\n"+tt.source+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(found, "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := checkFile("x.go", []byte("nothing")); err == nil {
		t.Error("a file that is no Go is accepted")
	}
}
