package judging

import (
	"strings"
	"testing"
	"unicode"
)

// Why no pattern is for a command, and how it can be said more plainly.
func TestReasons(t *testing.T) {
	var j Judge
	list := lists("a: Bash(echo:*) Bash(cd:*) Write(out/**)")
	for text, want := range map[string]string{
		"echo `id`":               "it has a backquote; use $(…), or leave it out of the text",
		"echo ok <&-id":           "it has a target of <& or >& that is no descriptor; use >&2, <&0 or >&- with a blank after it, and >file 2>&1 for a file",
		"echo ok &> x":            "it has a redirection that not every shell has (&>); use >file 2>&1",
		"[[ -n x && -n y ]]":      "it has an operator, a bracket or a line end inside [[ ]]; use several [ ], joined by && or ||",
		"eval echo":               `it has "eval", which takes shell text or changes what names mean`,
		"$X ok":                   "it has a command whose name is not literal",
		"echo $'a'":               "it has $'…'; use plain quotes",
		"cat <<E\n$X\nE":          "it has a here-document in which something is expanded; quote its delimiter",
		"echo 'ok":                "it is no shell text that can be read: 1:6: reached EOF without closing quote `'`",
		"echo ok\x00":             "it is no shell text that can be read: it holds a NUL byte or a carriage return",
		"cd /x; echo > out/y":     "its path is relative, and the text changes the directory; use an absolute path, or write before that in a call of its own",
		"X=1 echo ok":             `it sets the variable "X"`,
		"X=$Y echo ok":            `it sets the variable "X"`,
		strings.Repeat("a;", 300): "it has more than 256 commands",
		"echo $((" + strings.Repeat("x.", 200) + "))": "it is no shell text that can be read: ",
	} {
		v := j.decide(shell(text), list)
		if told := "(no pattern matches: " + want; v.Outcome != Denied || !strings.Contains(v.Reason, strings.TrimSuffix(told, ": ")) || len(v.Reason) > 600 {
			t.Errorf("%.40q: %s", text, v.Reason)
		}
	}
	u := shell("echo > out/y")
	u.Dir = "work"
	if v := j.decide(u, list); !strings.Contains(v.Reason, "(no pattern matches: its path is relative to cwd; use an absolute path, or leave out cwd)") {
		t.Error(v.Reason)
	}
}

// Entries of lists are text from outside: answers show them escaped.
func TestReasonsArePrintable(t *testing.T) {
	lists := []List{{Skill: "a", Rules: Rules([]string{"Bash(ls \u202e:*)", "Re\u2066ad", strings.Repeat("é", 100)})}}
	judge := Judge{}
	v := judge.decide(shell("id \u2028\u200b"), lists)
	if v.Outcome != Denied {
		t.Fatalf("decide: got %+v, want Outcome %v", v, Denied)
	}
	for _, text := range []string{v.Reason, judge.Allowed(lists)} {
		if strings.ContainsFunc(text, func(r rune) bool {
			return r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		}) {
			t.Errorf("%+q", text)
		}
		if !strings.Contains(text, `ls \u202e`) || !strings.Contains(text, `Re\u2066ad`) {
			t.Errorf("entries are not told: %s", text)
		}
	}
}
