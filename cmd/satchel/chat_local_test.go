package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// The commands of chat are answered by it and reach no model, however prompts come in.
func TestChatAnswersItsOwnCommands(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{satcheltest.Load("pdf")}, Answer: "first"}, satcheltest.Turn{Answer: "second"})
		input := "/help\n/skills\none\n /skills \n/tools\n/pdf-forms please\n/quit\nnever\n"
		got := converse(t, script, input, append(flags, "--skills", skills)...)
		if got.code != cli.ExitDone || got.out != "first\nsecond\n" {
			t.Fatalf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
		for _, want := range []string{"/quit  end the chat\n", "pdf  Reads PDF files.\n", "pdf  (loaded) Reads PDF files.\n", "skill_load  "} {
			if !strings.Contains(got.err, want) {
				t.Errorf("standard error lacks %q: %q", want, got.err)
			}
		}
		for _, r := range got.requests {
			for _, m := range r.Messages {
				if m.Role == "user" && (strings.Contains(m.Text, "/help") || strings.Contains(m.Text, "/skills") || strings.Contains(m.Text, "/tools") || strings.Contains(m.Text, "/quit")) {
					t.Errorf("the model is sent %q", m.Text)
				}
			}
		}
	})
}

// With --mentions slash, a name that is also a command means the skill.
func TestChatLeavesMentionsToSkills(t *testing.T) {
	skills := skillDir(t, map[string]string{"help/SKILL.md": "---\nname: help\ndescription: Helps.\n---\nBODY OF HELP\n"})
	script := satcheltest.Plan(satcheltest.Turn{Needs: []string{"BODY OF HELP"}, Answer: "helped"})
	got := converse(t, script, "/help\n/quit\n", "chat", "--skills", skills, "--mentions", "slash")
	if got.code != cli.ExitDone || got.out != "helped\n" {
		t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
	}
}
