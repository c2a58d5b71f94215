package main

import (
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const exampleSkills = "../../examples/skills"

func TestDemo(t *testing.T) {
	examples, err := filepath.Abs(exampleSkills)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		args []string
		has  []string
	}{
		"default":  {nil, []string{"[text of release-notes, ", "in the tool result]", "= 4 messages as before"}},
		"streamed": {[]string{examples, "--stream"}, []string{"in the tool result]"}},
		"system":   {[]string{"--placement", "system"}, []string{"~ system", "in the system message]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // the demo works outside a checkout
			got := program(t, nil, "", append([]string{"demo"}, test.args...)...)
			if got.code != 0 || got.err != "" {
				t.Fatalf("code %d, err %q", got.code, got.err)
			}
			for _, want := range append(test.has, "== eino", "== langchaingo", "#5 turn 2", "#8 turn 3", "#9 turn 4",
				`asks for release notes, a changelog entry, an upgrade guide or a "what's new" text.`+"\n", // the end of the overview, which must not be cut
				"[text of release-notes, 935 bytes, has left]",
				"langchaingo sent the same bytes: tools and messages of all 9 model calls\n",
				"[file out/errors.tsv, text/tab-separated-values, ", "2  4  6  <time> ERROR write <path>: no space left on device",
				"[file out/before.log, ", "exit code 0, 2 files collected", "host:///logs/night.log",
				"10 tools: skill_load",
				"loaded release-notes, release-notes/references/sections.md, commit-style, log-triage",
				"Both frameworks sent the same messages and the same tools in every call.") {
				if !strings.Contains(got.out, want) {
					t.Errorf("output lacks %q:\n%s", want, got.out)
				}
			}
			if strings.Count(got.out, "#1 turn 1") != 1 {
				t.Error("both frameworks are shown in full")
			}
			ways := regexp.MustCompile(`(?m)^  (Satchel|all skills in the prompt|Eino's skill middleware) +(\d+) requests, +(\d+) tokens, at most \d+ in one$`).FindAllStringSubmatch(got.out, -1)
			if len(ways) != 3 || ways[0][2] != "9" || ways[1][2] != "5" || ways[2][2] != "9" || ways[0][3] == ways[2][3] {
				t.Errorf("what other ways send: %q", ways)
			}
			if strings.Contains(got.out, "\x1b") {
				t.Error("colours although nobody reads at a terminal")
			}
			for line := range strings.Lines(strings.ReplaceAll(got.out, examples, "[what was asked for]")) {
				if regexp.MustCompile(`/tmp|/home|127\.0\.0\.1:`).MatchString(line) {
					t.Errorf("output depends on the machine: %s", line)
				}
			}
		})
	}
}

func TestDemoFailsWithoutItsSkills(t *testing.T) {
	dir := skillDir(t, map[string]string{"other/SKILL.md": "---\nname: other\ndescription: d\n---\n"})
	got := program(t, nil, "", "demo", dir)
	if got.code != cli.ExitFailed || !strings.Contains(got.err, "eino: ") || !strings.Contains(got.out, "HTTP 422") {
		t.Errorf("code %d, err %q, out:\n%s", got.code, got.err, got.out)
	}
}

// The example skills are good examples: nothing is wrong with them under the
// strictest reading.
func TestExampleSkillsAreValid(t *testing.T) {
	got := program(t, nil, "", "list", "--json", exampleSkills)
	if got.code != 0 || got.err != "4 skills, 4 in the overview\n" || strings.Count(got.out, "\n") != 4 {
		t.Errorf("code %d, err %q, out %q", got.code, got.err, got.out)
	}
	for _, skill := range []string{"commit-style", "log-triage", "release-notes", "会议纪要"} {
		path := exampleSkills + "/" + skill + "/SKILL.md"
		if got := program(t, nil, "", "inspect", "--skills-ref", path); got.out != path+": ok "+skill+"\n" {
			t.Errorf("out = %q", got.out)
		}
	}
}
