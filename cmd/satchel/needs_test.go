package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
	"github.com/satchel-go/satchel/skillmd"
)

// needySkills has a skill that lacks a program and a variable, one that lacks nothing, and one that
// declares nothing.
func needySkills(t *testing.T) string {
	t.Helper()
	return skillDir(t, map[string]string{
		"video/SKILL.md": "---\nname: video\ndescription: Cuts videos.\nmetadata:\n  openclaw:\n    primaryEnv: API_KEY\n    always: false\n    requires: {bins: [no-such-ffmpeg, sh], anyBins: [no-such-rg, sh], env: [API_KEY], config: [a.b]}\n    os: [darwin, linux]\n    install: [{kind: brew, formula: ffmpeg}]\n---\nBody.\n",
		"shell/SKILL.md": "---\nname: shell\ndescription: Runs sh.\nrequires: {bins: [sh], env: [{name: TOKEN, required: false}]}\n---\nBody.\n",
		"plain/SKILL.md": "---\nname: plain\ndescription: Plain.\n---\nBody.\n",
	})
}

func TestNeedsAreShown(t *testing.T) {
	dir := needySkills(t)
	line := "needs: no-such-ffmpeg (missing), API_KEY (not given)"
	got := program(t, nil, "", "list", "--executor", "local", dir)
	want := "NAME   DOCS  DESCRIPTION\nplain  0     Plain.\nshell  0     Runs sh.\nvideo  0     Cuts videos.\n             " + line + "\n3 skills, 3 in the overview\n"
	if got.code != 0 || got.out != want {
		t.Errorf("list: code %d\n%s%s", got.code, got.out, got.err)
	}
	got = program(t, nil, "", "list", "--needs", "--executor", "local", dir)
	want = "NAME   PROGRAMS                                              VARIABLES            OTHER\n" +
		"shell  sh                                                    TOKEN (optional)     -\n" +
		"video  no-such-ffmpeg (missing), sh, one of no-such-rg, sh  API_KEY (not given)  only on macOS, Linux, setting a.b (not checked)\n" +
		"2 of 3 skills declare needs, 1 lack some\n"
	if strings.Join(strings.Fields(got.out), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("list --needs:\n%s", got.out)
	}
	got = program(t, nil, "", "show", "--executor", "local", "--skills", dir, "video")
	if !strings.Contains(got.out, "\n"+line+", sh, one of no-such-rg, sh") || !strings.Contains(got.out, "\ninstall (not run): {\"formula\":\"ffmpeg\",\"kind\":\"brew\"}\n") {
		t.Errorf("show:\n%s%s", got.out, got.err)
	}
	got = program(t, nil, "", "doctor", "--skills", dir)
	if !strings.Contains(got.out, "  - video: needs: ") || strings.Contains(got.out, "shell") {
		t.Errorf("doctor:\n%s%s", got.out, got.err)
	}
}

func TestNeedsAsJSON(t *testing.T) {
	dir := needySkills(t)
	got := program(t, nil, "", "list", "--needs", "--json", "--executor", "local", dir)
	none := `{"bins":[],"anyBins":[],"env":[],"config":[],"os":{"names":[],"met":null},"mcp":[],"tools":[],"secrets":[],"primaryEnv":"","always":false}`
	want := map[string]string{
		"plain": none,
		"shell": strings.NewReplacer(`"bins":[]`, `"bins":[{"name":"sh","met":true}]`, `"env":[]`, `"env":[{"name":"TOKEN","met":false,"optional":true}]`).Replace(none),
		"video": `{"bins":[{"name":"no-such-ffmpeg","met":false},{"name":"sh","met":true}],"anyBins":[{"names":["no-such-rg","sh"],"met":true}],` +
			`"env":[{"name":"API_KEY","met":false}],"config":[{"name":"a.b","met":null}],"os":{"names":["darwin","linux"],"met":true},` +
			`"mcp":[],"tools":[],"secrets":[],"primaryEnv":"API_KEY","always":false}`,
	}
	for line := range strings.Lines(got.out) {
		var skill struct {
			Name  string          `json:"name"`
			Needs json.RawMessage `json:"needs"`
		}
		if err := json.Unmarshal([]byte(line), &skill); err != nil {
			t.Fatal(err)
		}
		if string(skill.Needs) != want[skill.Name] {
			t.Errorf("%s: %s\nwant %s", skill.Name, skill.Needs, want[skill.Name])
		}
		delete(want, skill.Name)
	}
	if len(want) > 0 {
		t.Errorf("no lines for %v:\n%s", want, got.err)
	}
	if got := program(t, nil, "", "list", "--json", "--executor", "local", dir); strings.Count(got.out, `"needs"`) != 2 {
		t.Errorf("without --needs:\n%s", got.out)
	}
}

// TestNeedsOfALoad calls skill_load in the sandbox or, without one, on this machine.
func TestNeedsOfALoad(t *testing.T) {
	dir := needySkills(t)
	for _, tt := range []struct {
		skill, want string
		args        []string
	}{
		{"video", `\nmissing here: program no-such-ffmpeg; variable API_KEY\n[skill#1 +video@`, []string{"--executor", "local"}},
		{"video", `\nmissing here: variable API_KEY\n[skill#1 +video@`, []string{"--profile", "knowledge_only"}},
		{"shell", `"loaded: shell\n[skill#1 +shell@`, []string{"--executor", "local"}},
		{"plain", `"loaded: plain\n[skill#1 +plain@`, []string{"--executor", "local"}},
	} {
		args := append([]string{"tool", "--skills", dir}, tt.args...)
		got := program(t, nil, "", append(args, "skill_load", fmt.Sprintf(`{"skill":%q}`, tt.skill))...)
		if got.code != 0 || !strings.Contains(got.out, tt.want) {
			t.Errorf("%s %q: code %d, answer %s%s", tt.skill, tt.args, got.code, got.out, got.err)
		}
	}
}

// TestHostileNeeds lists skills with needs that are not looked for.
func TestHostileNeeds(t *testing.T) {
	names := make([]string, 10_000)
	for i := range names {
		names[i] = fmt.Sprintf("p%d", i)
	}
	marker := t.TempDir() + "/ran"
	dir := skillDir(t, map[string]string{
		"many/SKILL.md":  "---\nname: many\ndescription: Many.\nrequires: {bins: [" + strings.Join(names, ",") + "]}\n---\n",
		"paths/SKILL.md": "---\nname: paths\ndescription: Paths.\nrequires: {bins: [/bin/sh, 'a b', '$(touch " + marker + ")', '`touch`', '-x', \"a\\nb\"]}\n---\n",
	})
	got := program(t, nil, "", "list", "--needs", "--executor", "local", dir)
	if got.code != 0 || strings.Contains(got.out, "/bin/sh") {
		t.Errorf("code %d\n%.2000s\n%s", got.code, got.out, got.err)
	}
	for _, want := range []string{"requires.bins has 10000 names; the first 256 are read", `"/bin/sh" is not the name of a program and is ignored (and 3 more)`} {
		if !strings.Contains(got.err, want) {
			t.Errorf("findings lack %q:\n%s", want, got.err)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a name was run")
	}
	skills, err := catalog.Open(t.Context(), []source.Root{source.Dir(dir)})
	if err != nil {
		t.Fatal(err)
	}
	defer skills.Close()
	for _, d := range skills.Snapshot().Diagnostics() {
		if d.Severity == skillmd.Error {
			t.Errorf("a malformed need hides a skill: %v", d)
		}
	}
}

// TestHideNeeds does not list skills that lack something, and says why.
func TestHideNeeds(t *testing.T) {
	dir := needySkills(t)
	got := program(t, nil, "", "tool", "--needs", "hide", "--executor", "local", "--skills", dir, "skill_load", `{"skill":"video"}`)
	if want := `"error: skill \"video\" is not loaded, because it cannot work; missing here: program no-such-ffmpeg; variable API_KEY"`; got.code != 0 || strings.TrimSpace(got.out) != want {
		t.Errorf("code %d, answer %s", got.code, got.out)
	}
	if want := "video/SKILL.md: "; !strings.Contains(got.err, want) || !strings.Contains(got.err, "hidden from the model") || !strings.Contains(got.err, "missing here: program no-such-ffmpeg; variable API_KEY") {
		t.Errorf("warnings %q", got.err)
	}
	got = program(t, nil, "", "tool", "--needs", "hide", "--executor", "local", "--skills", dir, "skill_load", `{"skill":"shell"}`)
	if !strings.HasPrefix(got.out, `"loaded: shell\n[skill#`) {
		t.Errorf("answer %s", got.out)
	}
}

// TestChatSaysWhatIsHidden says of skills that the model does not see why it does not, before the first
// message and after it.
func TestChatSaysWhatIsHidden(t *testing.T) {
	dir := needySkills(t)
	for how, want := range map[string]string{
		"hide": "video  (hidden, missing here: program no-such-ffmpeg; variable API_KEY) ",
		"tell": "video  Cuts videos.\n",
	} {
		script := satcheltest.Plan(satcheltest.Turn{Answer: "first"})
		got := converse(t, script, "/skills\none\n/skills\n", "chat", "--needs", how, "--executor", "local", "--skills", dir)
		if got.code != cli.ExitDone || strings.Count(got.err, want) != 2 || strings.Count(got.err, "shell  Runs sh.\n") != 2 {
			t.Errorf("--needs %s: code %d, standard error\n%s", how, got.code, got.err)
		}
	}
}
