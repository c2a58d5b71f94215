package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDepsRefuses(t *testing.T) {
	for _, test := range []struct{ file, text, want string }{
		{"requirements.txt", "pypdf\n-r other.txt\n", `requirements.txt, line 2: "-r other.txt": options are not taken`},
		{"package.json", `{"dependencies":{"a":"github:b/c"}}`, `package.json: dependencies: "a": "github:b/c"`},
		{"notes.txt", "none", "has neither requirements.txt nor package.json"},
	} {
		skill, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
		if err := os.WriteFile(filepath.Join(skill, test.file), []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, stderr bytes.Buffer
		code := run(t.Context(), []string{"deps", "--cache", cache, skill}, console{in: strings.NewReader(""), out: &out, err: &stderr, env: func(string) string { return "" }})
		if code != exitFailed || out.Len() > 0 || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, output %q, errors %q, want %q on one line", test.file, code, &out, &stderr, test.want)
		}
	}
}

func TestProgressIsPrintable(t *testing.T) {
	var out bytes.Buffer
	p := &printableLines{to: &out}
	for _, part := range []string{"Coll", "ecting a\n\n", "\x1b[2Jb\r\n", "end"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	p.flush()
	if got := out.String(); strings.ContainsAny(got, "\x1b\r") || !strings.HasPrefix(got, "  Collecting a\n") || !strings.HasSuffix(got, "\n  end\n") {
		t.Errorf("got %q", got)
	}
}
