//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// TestDisallowedTools denies what a loaded skill forbids in both frameworks, and hides a skill that
// Codex may not load by itself.
func TestDisallowedTools(t *testing.T) {
	dir := skillDir(t, map[string]string{
		"careful/SKILL.md":          "---\nname: careful\ndescription: Takes care.\nwhen_to_use: Use it for what is precious.\nallowed-tools: Bash\ndisallowed-tools: Bash(rm:*)\n---\nBody.\n",
		"secret/SKILL.md":           described("secret", "Is called by people."),
		"secret/agents/openai.yaml": "policy:\n  allow_implicit_invocation: false\n",
	})
	calls := []core.ToolCall{
		{Name: "skill_run", Arguments: `{"skill":"careful","command":"rm -f nothing"}`},
		{Name: "skill_load", Arguments: `{"skill":"careful"}`},
		{Name: "skill_run", Arguments: `{"skill":"careful","command":"rm -f nothing"}`},
		{Name: "skill_run", Arguments: `{"skill":"careful","command":"echo fine"}`},
		{Name: "skill_load", Arguments: `{"skill":"secret"}`},
	}
	for _, framework := range []string{"eino", "langchaingo"} {
		step := 0
		got := converse(t, func(satcheltest.Request) satcheltest.Response {
			if step++; step <= len(calls) {
				return satcheltest.Response{Calls: calls[step-1 : step]}
			}
			return satcheltest.Response{Text: "Done."}
		}, "", "chat", "--framework", framework, "--skills", dir, "--executor", "local", "Go on.")
		if got.code != cli.ExitDone || len(got.requests) != len(calls)+1 {
			t.Fatalf("%s: %d requests, %+v", framework, len(got.requests), got)
		}
		first, last := string(got.requests[0].Raw), got.requests[len(calls)].Messages
		if !strings.Contains(first, "Takes care. Use it for what is precious.") || strings.Contains(first, "called by people") {
			t.Errorf("%s: the overview: %s", framework, first)
		}
		var answers []string
		for _, m := range last {
			if m.Role == "tool" {
				answers = append(answers, m.Text)
			}
		}
		wants := []string{"is not loaded: call skill_load", "not allowed while careful is loaded: Bash(rm:*)", `denied: skill_run "rm -f nothing" is among the disallowed-tools of careful`, "fine", "unknown skill"}
		for i, want := range wants {
			if i >= len(answers) || !strings.Contains(answers[i], want) {
				t.Errorf("%s: answers %q, want %q in number %d", framework, answers, want, i)
			}
		}
	}
}
