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
