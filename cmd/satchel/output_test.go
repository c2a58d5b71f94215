package main

import (
	"bytes"
	"encoding/json"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onTerminal runs the program as if a person read its output in a terminal of some width.
func onTerminal(t *testing.T, width int, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, cli.Console{
		In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" },
		Watched: true, Colour: true, Attended: true, Width: width,
	})
	return outcome{code: code, out: out.String(), err: errs.String()}
}

func TestTablesKeepToTheTerminal(t *testing.T) {
	long := strings.Repeat("word 技能 ", 30)
	skills := skillDir(t, map[string]string{
		"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads pages. " + long + "\n---\nB\n",
		"技能/SKILL.md":  "---\nname: 技能\ndescription: Reads pages. " + long + "\n---\nB\n",
	})
	for _, args := range [][]string{{"list", skills}, {"search", "--skills", skills, "reads pages"}} {
		for _, width := range []int{40, 60, 200} {
			got := onTerminal(t, width, append(args, "--color", "never")...)
			if got.code != cli.ExitDone || !strings.Contains(got.out, "pdf") {
				t.Fatalf("%v: code %d, err %q", args, got.code, got.err)
			}
			for line := range strings.Lines(got.out) {
				if n := cli.Columns(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%v in %d columns: a line has %d: %q", args, width, n, line)
				}
			}
		}
		piped := program(t, nil, "", args...)
		if !strings.Contains(piped.out, "Reads pages. word") || strings.Contains(piped.out, "\x1b") {
			t.Errorf("%v: piped output %q", args, piped.out)
		}
	}
}

func TestColor(t *testing.T) {
	skills := testSkills(t)
	if got := onTerminal(t, 80, "list", skills); !strings.HasPrefix(got.out, "\x1b[1mNAME") {
		t.Errorf("no colour on a terminal: %q", got.out)
	}
	if got := onTerminal(t, 80, "list", "--color", "never", skills); strings.Contains(got.out, "\x1b") {
		t.Errorf("--color never: %q", got.out)
	}
	if got := program(t, nil, "", "--color", "always", "inspect", skills); !strings.Contains(got.out, "\x1b[32mok pdf\x1b[0m") {
		t.Errorf("--color always: %q", got.out)
	}
	if got := onTerminal(t, 80, "list", "--json", skills); strings.Contains(got.out, "\x1b") {
		t.Errorf("colours in JSON: %q", got.out)
	}
}

func TestProgressIsForTerminals(t *testing.T) {
	skills := testSkills(t)
	for _, args := range [][]string{
		{"install", "--dir", filepath.Join(t.TempDir(), "a"), skills},
		{"search", "--skills", skills, "pdf"},
		{"list", skills},
	} {
		got := onTerminal(t, 80, args...)
		if got.code != cli.ExitDone || !strings.Contains(got.err, "\r\x1b[Kreading ") || !strings.HasSuffix(strings.Split(got.err, "4 skills")[0], "\r\x1b[K") {
			t.Errorf("%v: code %d, err %q", args, got.code, got.err)
		}
		if args[0] == "install" {
			args[2] += "-again"
		}
		if got := program(t, nil, "", args...); got.code != cli.ExitDone || strings.Contains(got.err, "\x1b") || strings.Contains(got.err, "reading") {
			t.Errorf("%v, piped: code %d, err %q", args, got.code, got.err)
		}
	}
}

// Commands that print data print it as JSON too, a list as one object a line.
func TestJSONOfCommands(t *testing.T) {
	skills, dir := testSkills(t), t.TempDir()
	library := "sqlite:" + filepath.Join(dir, "library.db")
	at := func(args ...string) []string { return append(args, "--library", library) }
	installed := filepath.Join(dir, "installed")
	if err := os.Mkdir(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args  []string
		lines int
		has   string
	}{
		{[]string{"version", "--json"}, 1, "go"},
		{[]string{"new", "--json", "--dir", filepath.Join(dir, "new"), "one"}, 1, "path"},
		{[]string{"install", "--json", "--dir", installed, skills}, 3, "sha256"},
		{[]string{"update", "--json", "--dir", installed}, 3, "status"},
		{[]string{"lock", "--json", installed}, 1, "skills"},
		{[]string{"pack", "--json", "-o", filepath.Join(dir, "p.tar.gz"), skills}, 1, "sha256"},
		{[]string{"trust", "--json", "--trust-file", filepath.Join(dir, "trusted.json"), filepath.Join(dir, "project")}, 1, "project"},
		{[]string{"diff", "--json", filepath.Join(skills, "pdf"), filepath.Join(skills, "xlsx")}, 1, "added"},
		{[]string{"search", "--lines", "--skills", skills, "reads"}, 2, "score"},
		{at("library", "import", "--json", skills), 3, "versionRef"},
		{at("library", "history", "--json", "pdf"), 1, "versionRef"},
		{at("library", "diff", "--json", "pdf"), 1, "diff"},
		{at("library", "restore", "--json", "pdf", "v1"), 1, "versionRef"},
		{at("library", "log", "--json"), 3, "outcome"},
		{at("library", "export", "--json", "pdf", filepath.Join(dir, "exported")), 1, "dir"},
	} {
		got := program(t, nil, "", test.args...)
		if got.code != cli.ExitDone || strings.Count(got.out, "\n") < test.lines {
			t.Errorf("%v: code %d, out %q, err %q", test.args, got.code, got.out, got.err)
		}
		for line := range strings.Lines(got.out) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Errorf("%v: %v: %q", test.args, err, line)
			} else if _, ok := object[test.has]; !ok {
				t.Errorf("%v: no field %s: %q", test.args, test.has, line)
			}
		}
	}
}

func TestDoctorKeepsToTheTerminal(t *testing.T) {
	const width = 60
	for line := range strings.Lines(onTerminal(t, width, "doctor", "--color", "never").out) {
		if n := cli.Columns(strings.TrimSuffix(line, "\n")); n > width {
			t.Errorf("a line has %d columns: %q", n, line)
		}
	}
}
