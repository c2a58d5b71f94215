package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What new makes is a skill about which validate has nothing to say, and what it would
// overwrite stays.
func TestNew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some", "skills")
	for name, args := range map[string][]string{
		"pdf-filling":   {"--description", "Fills in PDF forms: \"quoted\", #1. Use when a form is to be filled in."},
		"table-reading": {"--scripts"},
	} {
		got := program(t, nil, "", append([]string{"new", name, "--dir", dir}, args...)...)
		file := filepath.Join(dir, name, "SKILL.md")
		if got.code != cli.ExitDone || got.out != file+"\n" {
			t.Fatalf("%s: %+v", name, got)
		}
		if got := program(t, nil, "", "validate", "--strict", filepath.Join(dir, name)); got.code != cli.ExitDone || strings.Contains(got.out+got.err, "warning") {
			t.Errorf("%s: %+v", name, got)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		got = program(t, nil, "", "new", name, "--dir", dir)
		if text, err := os.ReadFile(file); got.code != cli.ExitFailed || !strings.Contains(got.err, "is there already") || string(text) != "mine" {
			t.Errorf("%s, again: %+v, %q, %v", name, got, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "table-reading", "scripts", "run.sh")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"../out", "Upper", "a b", "a/b", "."} {
		if got := program(t, nil, "", "new", name, "--dir", dir); got.code != cli.ExitUsage {
			t.Errorf("%q: %+v", name, got)
		}
	}
}

// The guide's own line puts the skill where the guide's agent reads it.
func TestNewAsTheGuideHasIt(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "getting-started.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, line, found := strings.Cut(string(guide), "\nsatchel new ")
	line, _, _ = strings.Cut(line, "\n")
	if !found || !strings.Contains(string(guide), `WithSkillDirs("skills")`) {
		t.Fatal("the guide has no such line")
	}
	t.Chdir(t.TempDir())
	if got := program(t, nil, "", append([]string{"new"}, strings.Fields(line)...)...); got.code != cli.ExitDone {
		t.Errorf("program: got %+v, want code %v", got, cli.ExitDone)
	}
	if got := program(t, nil, "", "list", "--names", "skills"); got.code != cli.ExitDone || got.out != "commit-style\n" {
		t.Errorf("%+v", got)
	}
}
