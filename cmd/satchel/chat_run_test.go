package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// The variables that restrict what skill_run may start.
const envAllowed, envDenied = "SATCHEL_RUN_ALLOWED_COMMANDS", "SATCHEL_RUN_DENIED_COMMANDS"

// chatWithRuns has one model call and reports what is left in the directory of
// workspaces while the chat goes on, and after it.
func chatWithRuns(t *testing.T, args ...string) (got outcome, during, after int) {
	t.Helper()
	places := t.TempDir()
	script := func(satcheltest.Request) satcheltest.Response {
		during = instances(t, places)
		return satcheltest.Response{Text: "done"}
	}
	got = converse(t, script, "", append(append([]string{"chat", "--workspaces", places}, args...), "hi")...)
	return got, during, instances(t, places)
}

// instances counts the directories of workspaces in a base.
func instances(t *testing.T, base string) (n int) {
	t.Helper()
	entries, err := os.ReadDir(base)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			n++
		}
	}
	return n
}

func TestChatOpensAndClosesWorkspaces(t *testing.T) {
	skills := testSkills(t)
	for name, test := range map[string]struct {
		args   []string
		during int
		runs   bool
	}{
		"full":           {[]string{"--skills", skills}, 1, true},
		"knowledge only": {[]string{"--skills", skills, "--profile", "knowledge_only"}, 0, false},
		"no skills":      {nil, 0, false},
		"empty skills":   {[]string{"--skills", t.TempDir()}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, during, after := chatWithRuns(t, append(test.args, "-v")...)
			if got.code != 0 || during != test.during || after != 0 {
				t.Errorf("code %d, %d workspaces during and %d after the chat, err %q", got.code, during, after, got.err)
			}
			offered := false
			for _, tool := range got.requests[0].Tools {
				offered = offered || tool.Name == "skill_run"
			}
			warned := strings.Contains(got.err, "runs    commands run in a sandbox (namespaces)")
			if offered != test.runs || warned != test.runs {
				t.Errorf("skill_run offered %v, warned %v, want %v; err %q", offered, warned, test.runs, got.err)
			}
		})
	}
}

func TestChatRemovesWorkspacesAfterAnError(t *testing.T) {
	got, during, after := chatWithRuns(t, "--skills", testSkills(t), "--compact", "nosuch")
	if got.code != cli.ExitUsage || during != 0 || after != 0 {
		t.Errorf("code %d, %d workspaces during and %d after, err %q", got.code, during, after, got.err)
	}
}

// A file of --attach is announced in the user's message and staged for the first command, in both
// frameworks.
func TestChatAttach(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"sales.csv": "a,b\n1,2\n", "notes [x].md": "# n\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "sales.csv"), filepath.Join(dir, "second name")); err != nil {
		t.Fatal(err)
	}
	skills := skillDir(t, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\nRead.\n"})
	for _, framework := range []string{"eino", "langchaingo"} {
		plan := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{
			satcheltest.Load("pdf"),
			{Needs: []string{"[attached: work/inputs/sales.csv, text/csv, 8 bytes]", "[attached: work/inputs/notes "}, Calls: []core.ToolCall{satcheltest.ToolCall("skill_run", map[string]any{"skill": "pdf", "command": "cat inputs/sales.csv"})}},
		}, Needs: []string{`"stdout":"a,b\n1,2\n"`}, Answer: "done"})
		got := converse(t, plan, "", "chat", "--framework", framework, "--skills", skills, "--attach", filepath.Join(dir, "sales.csv"), "--attach", filepath.Join(dir, "notes [x].md"), "hi")
		if got.code != 0 || strings.TrimSpace(got.out) != "done" {
			t.Errorf("%s: code %d: %s%s", framework, got.code, got.out, got.err)
		}
	}
	for _, args := range [][]string{
		{"--skills", skills, "--attach", filepath.Join(dir, "none")},
		{"--skills", skills, "--attach", dir},
		{"--skills", skills, "--profile", "knowledge_only", "--attach", filepath.Join(dir, "sales.csv")},
	} {
		if got := converse(t, satcheltest.Plan(), "", append(append([]string{"chat"}, args...), "hi")...); got.code != cli.ExitUsage || !strings.Contains(got.err, "--attach") {
			t.Errorf("%q: code %d: %s", args, got.code, got.err)
		}
	}
}
