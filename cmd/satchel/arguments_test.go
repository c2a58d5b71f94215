package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// show prints the body as it is written, or as a load with arguments shows it.
func TestShowArguments(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"merge/SKILL.md": "---\nname: merge\ndescription: Merges.\narguments: from to\nargument-hint: '[from] [to]'\n---\n\nMerge $from into ${to}: $ARGUMENTS, $5 left.\n",
		"plain/SKILL.md": "---\nname: plain\ndescription: Plain.\n---\n\nCosts $5.\n",
	})
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"as written", []string{"merge"}, "Merge $from into ${to}: $ARGUMENTS, $5 left.\n"},
		{"with arguments", []string{"merge", "--arguments", "'a b' c"}, "Merge a b into c: 'a b' c,  left.\n"},
		{"without any", []string{"merge", "--arguments", ""}, "Merge  into : $ARGUMENTS, $5 left.\n"},
		{"nothing to replace", []string{"plain", "--arguments", "a b"}, "Costs $5.\n\nARGUMENTS: a b\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := program(t, nil, "", append([]string{"show", "--skills", dir}, tt.args...)...)
			if got.code != 0 || !strings.HasSuffix(got.out, "\n\n"+tt.want) {
				t.Errorf("exit code %d, %s\n%s", got.code, got.err, got.out)
			}
		})
	}
	got := program(t, nil, "", "show", "--skills", dir, "merge", "--arguments", "a\nb")
	if got.code != cli.ExitUsage || !strings.Contains(got.err, "--arguments: cannot use the arguments: they contain U+000A") {
		t.Errorf("a line end: exit code %d, %s", got.code, got.err)
	}
	var s struct {
		Arguments    []string
		ArgumentHint string `json:"argument_hint"`
		Body         string
	}
	got = program(t, nil, "", "show", "--skills", dir, "merge", "--json", "--arguments", "a b")
	if err := json.Unmarshal([]byte(got.out), &s); err != nil || strings.Join(s.Arguments, " ") != "from to" || s.ArgumentHint != "[from] [to]" || s.Body != "Merge a into b: a b,  left." {
		t.Errorf("%v, %+v", err, s)
	}
}

// The tool command loads with arguments, and a prompt of it names them.
func TestToolArguments(t *testing.T) {
	dir := skillDir(t, map[string]string{"merge/SKILL.md": "---\nname: merge\ndescription: Merges.\n---\n\nMerge $ARGUMENTS.\n"})
	got := program(t, nil, "", "tool", "--view", "--skills", dir, "skill_load", `{"skill":"merge","arguments":"a b"}`)
	if got.code != 0 || !strings.Contains(got.out, "Merge a b.") {
		t.Errorf("exit code %d, %s\n%s", got.code, got.err, got.out)
	}
}

// A person who names a skill with arguments that it cannot use sees why it is not loaded, and so does
// the model.
func TestChatRefusedArguments(t *testing.T) {
	dir := skillDir(t, map[string]string{"merge/SKILL.md": "---\nname: merge\ndescription: Merges.\n---\n\nMerge $ARGUMENTS.\n"})
	const why = "cannot use the arguments: they have 5000 bytes, and at most 4096 are allowed"
	prompt := "/merge " + strings.Repeat("a", 5000) + "\n"
	for _, framework := range frameworks {
		for flags, want := range map[string]string{
			"":       `satchel: a skill that the message names is not loaded: skill "merge": ` + why,
			"--json": `{"event":"diagnostic","turn":1,"diagnostic":"a skill that the message names is not loaded: skill \"merge\": ` + why,
		} {
			got := converse(t, satcheltest.Plan(satcheltest.Turn{Answer: "no"}), prompt, append([]string{"chat", "--framework", framework, "--skills", dir, "--mentions", "slash"}, strings.Fields(flags)...)...)
			out := got.err
			if flags != "" {
				out = got.out
			}
			if got.code != 0 || strings.Count(out, want) != 1 {
				t.Errorf("%s %s: exit code %d, %s\n%s", framework, flags, got.code, got.err, got.out)
			}
			if r := got.requests[0]; !r.Contains(`<skills_not_loaded>not loaded: merge (skill "merge": ` + why + `)</skills_not_loaded>`) {
				t.Errorf("%s: the model gets\n%s", framework, r.Prompt())
			}
		}
	}
}

// A text that was delivered with arguments stays as it was when the conversation goes on in the other framework,
// after the file has changed.
func TestChatOtherFrameworkKeepsTexts(t *testing.T) {
	for i, framework := range frameworks {
		files := map[string]string{"merge/SKILL.md": "---\nname: merge\ndescription: Merges.\n---\n\nMerge $ARGUMENTS.\n"}
		dir, store := skillDir(t, files), t.TempDir()
		flags := []string{"chat", "--skills", dir, "--store", store, "--resume", "talk", "--load-mode", "session", "--framework"}
		script := func() satcheltest.Script {
			return satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Do("skill_load", map[string]any{"skill": "merge", "arguments": "a b"})}, Answer: "ok"}, satcheltest.Turn{Answer: "on"})
		}
		if got := converse(t, script(), "", append(flags, framework, "hi")...); got.code != 0 {
			t.Fatalf("exit code %d, %s", got.code, got.err)
		}
		if err := os.WriteFile(filepath.Join(dir, "merge", "SKILL.md"), []byte(strings.Replace(files["merge/SKILL.md"], "Merge $", "Join $", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		got := converse(t, script(), "", append(flags, frameworks[1-i], "more")...)
		if got.code != 0 || !got.requests[0].Contains("Merge a b.") || got.requests[0].Contains("Join") {
			t.Errorf("%s first: exit code %d, %s\n%s", framework, got.code, got.err, got.requests[0].Prompt())
		}
	}
}

// validate says of commands in a body that they are not run.
func TestValidateCommands(t *testing.T) {
	dir := skillDir(t, map[string]string{"git/SKILL.md": "---\nname: git\ndescription: Git.\narguments: {a: b}\n---\n\nState: !`git status`\n\nWow!`no` !`x`\n"})
	got := program(t, nil, "", "validate", dir)
	if strings.Count(got.out, "command-not-run") != 2 || !strings.Contains(got.out, "line 7: ") || !strings.Contains(got.out, "arguments-type") {
		t.Errorf("exit code %d, %s\n%s", got.code, got.err, got.out)
	}
	if got := program(t, nil, "", "inspect", dir); strings.Contains(got.out, "command-not-run") {
		t.Errorf("inspect:\n%s", got.out)
	}
}
