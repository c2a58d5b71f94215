package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestHosting(t *testing.T) {
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(t.Context(), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"turn.begun", "skill.loaded commit-style\n", "loaded: commit-style\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
}
