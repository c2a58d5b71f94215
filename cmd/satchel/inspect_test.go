package main

import (
	"encoding/json"
	"fmt"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspected is a line of satchel inspect --json, as another program reads it.
type inspected struct {
	Path         string
	Loaded       bool
	Name         string
	Description  string
	AllowedTools []string `json:"allowed_tools"`
	BodyBytes    int      `json:"body_bytes"`
	Diagnostics  []struct {
		File, Code, Severity, Message string
		Line                          int
	}
}

// inspections runs satchel inspect --json and decodes its lines.
func inspections(t *testing.T, stdin string, args ...string) (outcome, []inspected) {
	t.Helper()
	got := program(t, nil, stdin, append([]string{"inspect", "--json"}, args...)...)
	var all []inspected
	for line := range strings.Lines(got.out) {
		var r inspected
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, r)
	}
	return got, all
}

func codes(r inspected) []string {
	var codes []string
	for _, d := range r.Diagnostics {
		codes = append(codes, d.Code)
	}
	return codes
}

func TestInspectJSON(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"good/SKILL.md":  "---\nname: good\ndescription: Does <good> & more.\nallowed-tools: Read Bash(git:*)\n---\n\nBody: é\n",
		"other/SKILL.md": "---\nname: odd\ndescription: Has another name.\nmodel: x\n---\n",
		"bad/SKILL.md":   "---\nname: bad\n---\n",
		"none/SKILL.md":  "no front matter\n",
		"big/SKILL.md":   "---\nname: big\ndescription: d\n---\n" + strings.Repeat("x", 1<<20),
	})
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := func(name string) string { return filepath.Join(dir, name, "SKILL.md") }
	paths := []string{file("good"), file("other"), file("bad"), file("none"), file("big"), filepath.Join(dir, "empty"), file("missing")}

	got, all := inspections(t, "", paths...)
	if got.code != 0 || got.err != "" || len(all) != len(paths) {
		t.Fatalf("code %d, err %q, %d lines", got.code, got.err, len(all))
	}
	for i, r := range all {
		if want := i < 2; r.Path != paths[i] || r.Loaded != want {
			t.Errorf("%s: path %q, loaded %v", paths[i], r.Path, r.Loaded)
		}
	}
	good := all[0]
	if good.Name != "good" || good.Description != "Does <good> & more." || good.BodyBytes != len("Body: é") ||
		!slices.Equal(good.AllowedTools, []string{"Read", "Bash(git:*)"}) || len(good.Diagnostics) != 0 {
		t.Errorf("good = %+v", good)
	}
	if !strings.Contains(got.out, "<good> &") || strings.Contains(got.out, "null") {
		t.Errorf("JSON is escaped or has null: %s", got.out)
	}
	for i, want := range map[int]string{1: "name-mismatch", 2: "description-missing", 3: "frontmatter-missing", 4: "unreadable", 5: "unreadable", 6: "unreadable"} {
		if !slices.Contains(codes(all[i]), want) {
			t.Errorf("%s: codes %v, want %s", paths[i], codes(all[i]), want)
		}
	}

	for _, flag := range []string{"--strict", "--skills-ref"} {
		if _, all := inspections(t, "", flag, paths[1]); all[0].Loaded {
			t.Errorf("%s takes a name that is not the directory's", flag)
		}
	}
	if got := program(t, nil, "", "inspect", "--strict", "--skills-ref", paths[0]); got.code != cli.ExitUsage {
		t.Errorf("two modes at once: code %d", got.code)
	}
}

func TestInspectReadsPaths(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"a b/SKILL.md": "---\nname: a\ndescription: d\n---\n",
		"c/SKILL.md":   "---\nname: c\ndescription: d\n---\n",
	})
	a, c := filepath.Join(dir, "a b", "SKILL.md"), filepath.Join(dir, "c", "SKILL.md")
	_, all := inspections(t, c+"\n\n"+a, a, "-", c)
	var paths []string
	for _, r := range all {
		paths = append(paths, r.Path)
	}
	if !slices.Equal(paths, []string{a, c, a, c}) {
		t.Errorf("paths = %q", paths)
	}
	if got := program(t, nil, strings.Repeat("x", 64<<10+1), "inspect", "-"); got.code != cli.ExitFailed || !strings.Contains(got.err, "line is longer") {
		t.Errorf("long line: code %d, err %q", got.code, got.err)
	}
}

func TestInspectForPeople(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"good/SKILL.md": "---\nname: good\ndescription: d\n---\n",
		"bad/SKILL.md":  "---\nname: bad\n---\n",
	})
	good, bad := filepath.Join(dir, "good", "SKILL.md"), filepath.Join(dir, "bad", "SKILL.md")
	got := program(t, nil, "", "inspect", good)
	if got.code != 0 || got.out != good+": ok good\n" {
		t.Errorf("code %d, out %q", got.code, got.out)
	}
	got = program(t, nil, "", "inspect", bad, good)
	if got.code != cli.ExitFailed || !strings.Contains(got.out, bad+": not loaded\n  ") || !strings.HasSuffix(got.out, good+": ok good\n") {
		t.Errorf("code %d, out %q", got.code, got.out)
	}
}

// The directory's name is known for a path without one, too.
func TestInspectRelativePath(t *testing.T) {
	t.Chdir(filepath.Join(skillDir(t, map[string]string{
		"good/SKILL.md":       "---\nname: good\ndescription: d\n---\n",
		"good/inner/SKILL.md": "---\nname: good\ndescription: d\n---\n",
	}), "good", "inner"))
	_, all := inspections(t, "", "../SKILL.md", "SKILL.md", "./SKILL.md")
	for i, want := range []int{0, 1, 1} {
		if len(all[i].Diagnostics) != want {
			t.Errorf("%s: %v", all[i].Path, all[i].Diagnostics)
		}
	}
}

// Thousands of files take seconds at most: about 5,000 in one second.
func TestInspectManyInOrder(t *testing.T) {
	t.Parallel()
	const files = 2000
	dir := t.TempDir()
	var paths strings.Builder
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("s%d", i), "SKILL.md")
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("---\nname: s%d\ndescription: The skill.\nmetadata:\n  author: me\n---\n%s", i, strings.Repeat("A line of the body.\n", 200))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths.WriteString(path + "\n")
	}
	began := time.Now()
	_, all := inspections(t, paths.String(), "-")
	t.Logf("%d files in %v", files, time.Since(began))
	if len(all) != files {
		t.Fatalf("%d lines", len(all))
	}
	for i, r := range all {
		if !r.Loaded || r.Name != fmt.Sprintf("s%d", i) {
			t.Fatalf("line %d = %+v", i, r)
		}
	}
}

// A directory stands for the SKILL.md files in it, at every depth.
func TestInspectDirectory(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"a/SKILL.md":         "---\nname: a\ndescription: First.\n---\n",
		"deep/er/b/SKILL.md": "---\nname: b\ndescription: Second.\n---\n",
		".git/c/SKILL.md":    "---\nname: c\ndescription: No.\n---\n",
		"none/readme.md":     "x",
	})
	got := program(t, nil, "", "inspect", dir)
	if want := dir + "/a/SKILL.md: ok a\n" + dir + "/deep/er/b/SKILL.md: ok b\n"; got.code != cli.ExitDone || got.out != want {
		t.Errorf("code %d, out %q, want %q", got.code, got.out, want)
	}
	got = program(t, nil, "", "inspect", filepath.Join(dir, "none"))
	if got.code != cli.ExitFailed || !strings.Contains(got.out, "is a directory without a SKILL.md") {
		t.Errorf("code %d, out %q", got.code, got.out)
	}
}
