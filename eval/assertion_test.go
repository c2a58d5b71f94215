package eval

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/local"
)

func TestParseAssertion(t *testing.T) {
	tests := []struct {
		assertion string
		isCheck   bool
		err       string
	}{
		{"file:out/*.csv", true, ""},
		{"json:work/a.json#/total=3", true, ""},
		{"json:work/a.json#=3", true, ""},
		{"regex:(?i)total", true, ""},
		{"exit:0", true, ""},
		{"script:evals/check.sh", true, ""},
		{"The answer names the total: 42", false, ""},
		{"file: a table of the totals is there", false, ""},
		{"The table has 3 rows", false, ""},
		{"file:/etc/passwd", false, "absolute"},
		{"file:../../x", false, ""},
		{"json:a.json", false, "FILE#/POINTER=VALUE"},
		{"json:a.json#total=3", false, "FILE#/POINTER=VALUE"},
		{"json:a.json#/total", false, "FILE#/POINTER=VALUE"},
		{"json:/etc/passwd#=1", false, "want a path in the workspace"},
		{"json:../a.json#=1", false, "want a path in the workspace"},
		{"regex:(", false, "missing closing"},
		{"exit:x", false, "exit code"},
		{"exit:256", false, "exit code"},
		{"script:../check.sh", false, "folder of the skill"},
		{"script:/bin/sh", false, "folder of the skill"},
	}
	for _, test := range tests {
		t.Run(test.assertion, func(t *testing.T) {
			c, err := parseAssertion(test.assertion)
			isWrong := test.err != "" || strings.HasPrefix(test.assertion, "file:..")
			if isWrong != (err != nil) || err != nil && (!errors.Is(err, errAssertion) || !strings.Contains(err.Error(), test.err)) {
				t.Fatalf("error %v, want one with %q", err, test.err)
			}
			if (c != nil) != test.isCheck {
				t.Errorf("check %v, want one: %v", c, test.isCheck)
			}
		})
	}
}

// workspaceOf writes files into a new directory.
func workspaceOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	dir := workspaceOf(t, map[string]string{
		"out/a.csv":        "1,2",
		"work/result.json": `{"total": 3, "name": "x", "list": [{"a/b": true}, 1.0], "~t": null, "big": 9007199254740993, "wide": 1e2}`,
		"work/broken.json": `{"total": 3`,
		"work/two.json":    `{} {}`,
	})
	outside := workspaceOf(t, map[string]string{"secret.json": `{"total": 3}`})
	for link, to := range map[string]string{"work/link.json": outside + "/secret.json", "work/dir": outside, "work/zero": "/dev/zero"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	three := 3
	tests := []struct {
		assertion string
		passed    bool
		evidence  string
	}{
		{"file:out/*.csv", true, "out/a.csv (3 bytes)"},
		{"file:out/*.tsv", false, "no file matches"},
		{"file:**/*.json", true, "work/result.json"},
		{"file:out/none.csv", false, "no file matches"},
		{"file:work/link.json", false, `no file matches; "work/link.json": not collected: symbolic links`},
		{"file:work/dir/secret.json", false, `no file matches; "work/dir": not collected: symbolic links`},
		{"file:out", false, `no file matches; "out": is a directory`},
		{"json:work/result.json#/total=3", true, "the value is 3"},
		{"json:work/result.json#/total=3.0", true, "3"},
		{"json:./work//result.json#/total=3", true, "the value is 3"},
		{"file:./out/*.csv", true, "out/a.csv (3 bytes)"},
		{"json:work/result.json#/total=4", false, "the value is 3"},
		{"json:work/result.json#/name=x", true, `"x"`},
		{"json:work/result.json#/name=\"x\"", true, `"x"`},
		{"json:work/result.json#/list/0/a~1b=true", true, "true"},
		{"json:work/result.json#/list/1=1", true, "1.0"},
		{"json:work/result.json#/list/01=1", false, "no such value"},
		{"json:work/result.json#/list/-=1", false, "no such value"},
		{"json:work/result.json#/list/2=1", false, "no such value"},
		{"json:work/result.json#/list=[{\"a/b\":true},1]", true, "["},
		{"json:work/result.json#/~0t=null", true, "null"},
		{"json:work/result.json#/big=9007199254740992", false, "9007199254740993"},
		{"json:work/result.json#/wide=100", true, "1e2"},
		{"json:work/result.json#/total/x=1", false, "no such value"},
		{"json:work/result.json#=1", false, "the value is {"},
		{"json:work/broken.json#/total=3", false, "not JSON"},
		{"json:work/two.json#={}", false, "more follows"},
		{"json:work/none.json#/total=3", false, "no such file"},
		{"json:work/link.json#/total=3", false, "not a plain file"},
		{"json:work/dir/secret.json#/total=3", false, "not a plain file"},
		{"json:work/zero#/total=3", false, "not a plain file"},
		{"json:work#/total=3", false, "want a file"},
		{"regex:^The total is \\d+", true, "The total is 3"},
		{"regex:none", false, "no match"},
		{"exit:3", true, "exit code 3"},
		{"exit:0", false, "exit code 3"},
	}
	subject := subject{Dir: dir, Answer: "The total is 3.", ExitCode: &three}
	for _, test := range tests {
		t.Run(test.assertion, func(t *testing.T) {
			c, err := parseAssertion(test.assertion)
			if err != nil || c == nil {
				t.Fatalf("check %v, error %v", c, err)
			}
			got, err := c.Run(t.Context(), subject)
			if err != nil {
				t.Fatal(err)
			}
			if got.Passed != test.passed || !strings.Contains(got.Evidence, test.evidence) {
				t.Errorf("got %v, want %v with %q", got, test.passed, test.evidence)
			}
		})
	}
}

// A file larger than the bound is not read into memory.
func TestLargeJSON(t *testing.T) {
	dir := workspaceOf(t, map[string]string{"a.json": ""})
	if err := os.Truncate(filepath.Join(dir, "a.json"), 1<<40); err != nil {
		t.Fatal(err)
	}
	c, err := parseAssertion("json:a.json#/x=1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Run(t.Context(), subject{Dir: dir})
	if err != nil || got.Passed || !strings.Contains(got.Evidence, "more than 16 MiB") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNothingRan(t *testing.T) {
	for assertion, want := range map[string]string{
		"exit:0":         "no command ran",
		"file:a":         "no workspace",
		"json:a#=1":      "no workspace",
		"script:a.sh":    "no workspace",
		"regex:anything": "no match",
	} {
		c, err := parseAssertion(assertion)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Run(t.Context(), subject{}); err != nil || got.Passed || !strings.Contains(got.Evidence, want) {
			t.Errorf("%s: got %v, %v, want %q", assertion, got, err, want)
		}
	}
}

func TestScript(t *testing.T) {
	skill := workspaceOf(t, map[string]string{
		"SKILL.md":        "---\nname: x\n---\n",
		"evals/good.sh":   "#!/bin/sh\ngrep -q 42 \"$ANSWER_FILE\" && test -f out/a.csv && test -f \"$SKILL_DIR/SKILL.md\"\n",
		"evals/bad.sh":    "echo 'three rows are missing' >&2; exit 2\n",
		"evals/writes.sh": "echo x > \"$SKILL_DIR/SKILL.md\"\n",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(skill, "evals/link.sh")); err != nil {
		t.Fatal(err)
	}
	runs, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := workspaceOf(t, map[string]string{"out/a.csv": "1"})
	tests := []struct {
		file     string
		passed   bool
		evidence string
	}{
		{"evals/good.sh", true, "exit code 0"},
		{"evals/bad.sh", false, "exit code 2: three rows are missing"},
		{"evals/writes.sh", true, "exit code 0"},
		{"evals/none.sh", false, "no such file"},
		{"evals/link.sh", false, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			c, err := parseAssertion("script:" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Run(t.Context(), subject{Dir: dir, Answer: "It is 42.", SkillDir: skill, Executor: runs})
			if err != nil || got.Passed != test.passed || !strings.Contains(got.Evidence, test.evidence) {
				t.Errorf("got %v, %v, want %v with %q", got, err, test.passed, test.evidence)
			}
		})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the workspace has %v, %v, want out alone", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(skill, "SKILL.md")); err != nil || string(text) == "x\n" {
		t.Errorf("the skill was changed: %q, %v", text, err)
	}
}

func TestScriptIsCancelled(t *testing.T) {
	skill := workspaceOf(t, map[string]string{"wait.sh": "sleep 60\n"})
	runs, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseAssertion("script:wait.sh")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Run(ctx, subject{Dir: t.TempDir(), SkillDir: skill, Executor: runs}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}
