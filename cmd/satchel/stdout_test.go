package main

import (
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// Standard output that is no terminal holds the answers and nothing else, streamed or not.
// Text of the model beside its calls is no answer.
func TestStdoutHoldsAnswersOnly(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		script := satcheltest.Plan(
			satcheltest.Turn{Steps: []satcheltest.Step{{Text: "let me look", Calls: []core.ToolCall{satcheltest.ToolCall("skill_list_docs", map[string]string{"skill": "pdf"})}}}, Answer: "first"},
			satcheltest.Turn{Answer: "second"})
		got := converse(t, script, "", append(flags, "--skills", skills, "one", "two")...)
		if got.code != cli.ExitDone || got.out != "first\nsecond\n" {
			t.Errorf("code %d, stdout %q, stderr %q", got.code, got.out, got.err)
		}
	})
}
