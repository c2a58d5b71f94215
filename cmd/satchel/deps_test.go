package main

import (
	"bytes"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
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
		code := run(t.Context(), []string{"deps", "--cache", cache, skill}, cli.Console{In: strings.NewReader(""), Out: &out, Err: &stderr, Env: func(string) string { return "" }})
		if code != cli.ExitFailed || out.Len() > 0 || !strings.Contains(stderr.String(), test.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit %d, output %q, errors %q, want %q on one line", test.file, code, &out, &stderr, test.want)
		}
	}
}
