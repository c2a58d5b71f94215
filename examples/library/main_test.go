package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

var (
	versionRef = regexp.MustCompile(`"versionRef":"(v\d+-[0-9a-f]{12})`)
	question   = regexp.MustCompile(` +\d+ \+ 6\. Begin each entry with the number of its issue\.\n(?:.*\n)+allow or deny\? agent: #81`)
)

// model plays a model that has what it needs from the request alone.
func model(r satcheltest.Request) satcheltest.Response {
	run := satcheltest.Do("runSkill", map[string]any{"skill": "release-notes"})
	ref := ""
	for _, m := range r.Messages {
		if found := versionRef.FindStringSubmatch(m.Text); found != nil && strings.Contains(m.Text, "contentWithLineNumbers") {
			ref = found[1]
		}
	}
	patch := func(dry bool) satcheltest.Step {
		return satcheltest.Do("updateSkill", map[string]any{
			"action": "patch", "skill": "release-notes", "expectedVersionRef": ref, "dryRun": dry, "reason": "the user said so",
			"patch": "@@ @@\n 5. If anything breaks, write the upgrade steps **before** the list of changes.\n+6. Begin each entry with the number of its issue.\n",
		})
	}
	tried := patch(true)
	tried.Needs = []string{"contentWithLineNumbers"}
	made := patch(false)
	made.Needs = []string{"dry_run", "numberedDiff"}
	first := satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Do("runSkill", map[string]any{"query": "release notes"}), run},
		Needs:  []string{"canonicalId", satcheltest.SkillOpen("release-notes")},
		Answer: "Exports keep time zones (#81).",
	}
	for _, m := range r.Messages {
		if m.Role == "user" && strings.Contains(m.Text, "1.4.1") {
			first = satcheltest.Turn{Steps: []satcheltest.Step{run}, Needs: []string{"6. Begin each entry with the number of its issue."}, Answer: "#85: login answers an empty password."}
		}
	}
	return satcheltest.Plan(first, satcheltest.Turn{
		Steps: []satcheltest.Step{satcheltest.Do("runSkill", map[string]any{"action": "inspect", "skill": "release-notes"}), tried, made},
		Needs: []string{"applied", "previousVersionRef"}, Answer: "#81: exports keep time zones.",
	})(r)
}

// TestRun plays the conversations over HTTP in both frameworks.
func TestRun(t *testing.T) {
	outputs := map[string]string{}
	for name, connect := range map[string]connection{"eino": connectEino, "langchaingo": connectLangchaingo} {
		t.Run(name, func(t *testing.T) {
			server := rehearse.With(t, model)
			var out bytes.Buffer
			if err := run(t.Context(), strings.NewReader("allow\n"), &out, filepath.Join(t.TempDir(), "library.db"), connect); err != nil {
				t.Fatalf("%v\n%s", err, out.String())
			}
			outputs[name] = out.String()
			if !strings.HasSuffix(out.String(), "agent: #85: login answers an empty password.\n") || !question.MatchString(out.String()) {
				t.Errorf("output is\n%s", out.String())
			}
			if first := server.Requests()[0]; first.Contains("release-notes") || !first.Contains("runSkill") {
				t.Errorf("the first request is %+v", first.Messages)
			}
		})
	}
	if outputs["eino"] != outputs["langchaingo"] {
		t.Errorf("the frameworks differ:\n%s\n%s", outputs["eino"], outputs["langchaingo"])
	}
}
