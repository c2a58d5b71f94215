//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// TestServedPlaces names places that are no directories: the error says what to do instead.
func TestServedPlaces(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.zip", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("gone", "lost"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("a.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]string{
		"http://127.0.0.1:1/a.zip":       "address not allowed: only https: is, unless the host allows another",
		"https://127.0.0.1:1/repo@v1":    "satchel install copies its skills into a directory",
		"git+file:///srv/skills.git":     "satchel install copies its skills into a directory",
		"https://skills.example.com/a/b": "is none of the three forms",
		"a.zip":                          "archive refused: it is neither zip nor tar nor a SKILL.md",
		"a.txt":                          "it is neither a directory nor an archive",
		"nowhere":                        "there is no such directory; make it, or name another",
		"lost":                           `open root "PLACE": the link to gone leads nowhere; remove it, or put back what it leads to: file does not exist`,
	} {
		for _, command := range [][]string{{"serve", "--stdio"}, {"mcp"}} {
			code, _, errs := invoke(t, "", append(command, "--skills", place)...)
			want := strings.ReplaceAll(want, "PLACE", place)
			if code != cli.ExitUsage || !strings.Contains(errs, "--skills "+place+": ") || !strings.Contains(errs, want) {
				t.Errorf("%v %s: %d %s", command, place, code, errs)
			}
		}
	}
}

// TestServeWithoutPackages names a directory of packages that is not there.
func TestServeWithoutPackages(t *testing.T) {
	dir, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	for _, command := range [][]string{{"serve", "--stdio"}, {"mcp"}} {
		code, _, errs := invoke(t, "", append(command, "--skills", dir, "--unsafe-local", "--deps", gone)...)
		if want := "--deps: there is no directory " + gone + ": satchel deps --cache " + gone; code != cli.ExitUsage || !strings.Contains(errs, want) {
			t.Errorf("%v: %d %s", command, code, errs)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("it was made")
	}
}

// TestFindingsNameTheirRoot serves two roots whose last folder has one name: each finding says
// which file it is about, and what to do, in words of the command line.
func TestFindingsNameTheirRoot(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one/skills/bad/SKILL.md":    "no front matter",
		"one/skills/good/SKILL.md":   "---\nname: good\ndescription: x\n---\n",
		"two/skills/good/SKILL.md":   "---\nname: good\ndescription: x\n---\n",
		"two/skills/toml/SKILL.md":   "---\nname: toml\ndescription: x\n---\n",
		"two/skills/toml/skill.toml": "name =\n",
		"two/skills/x/SKILL.md":      "---\nname: x\ndescription: x\n---\n",
		"two/skills/x/skill.toml":    "name = \"y\"\nversion = \"1.0.0\"\ndescription = \"x\"\n",
		"far/f/SKILL.md":             "---\nname: f\ndescription: x\n---\n",
	} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"one/skills/gone": "/nowhere", "two/skills/out": filepath.Join(dir, "far")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	one, two := filepath.Join(dir, "one/skills"), filepath.Join(dir, "two/skills")
	code, _, errs := invoke(t, "", "mcp", "--unsafe-local", "--skills", one, "--skills", two)
	if code != cli.ExitDone {
		t.Fatal(code, errs)
	}
	for _, want := range []string{
		one + "/bad/SKILL.md: error not-a-skill: ",
		one + "/gone: warning link-not-followed: the link to /nowhere is not followed: nothing is there; remove the link, or put back what it leads to",
		two + "/good: warning name-collision: \"good\" 0.0.0 is there already: left out; give it another name or version",
		two + "/toml/skill.toml:1: error skill-toml: skill.toml:1: toml: unexpected character U+000A at start of value; correct it: without that the skill is not served",
		two + "/out: warning link-not-followed: links to directories and out of the root are not followed here (1, the first to " + filepath.Join(dir, "far") + "); name the target as a place of skills, or put a copy here",
		two + `/x: warning not-served: not served by MCP: the name in its SKILL.md is "x": want "y"`,
	} {
		if !strings.Contains("\n"+errs, "\n"+want) {
			t.Errorf("no line %q in\n%s", want, errs)
		}
	}
}
