package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `tool.allowed {"command":"git diff --staged"} Bash(git diff:*)
tool.denied {"command":"git push"} ` + `
git: I may not push while I follow the house style.
shell {"command":"git push"}? allow, session or deny: tool.allowed {"command":"git push"} ` + `
git: Pushed.
`

func TestRun(t *testing.T) {
	shell := func(command string) satcheltest.Step {
		return satcheltest.Do("shell", map[string]string{"command": command})
	}
	push := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{shell("git push")}, Needs: []string{"ran git push"}, Answer: "Pushed."})
	commit := satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("commit-style"), shell("git diff --staged"), shell("git push")},
		Needs:  []string{"ran git diff", "is not among the allowed-tools of "},
		Answer: "I may not push while I follow the house style.",
	})
	rehearse.With(t, func(r satcheltest.Request) satcheltest.Response {
		for _, m := range r.Messages {
			if m.Role == "user" && strings.HasPrefix(m.Text, "Push") {
				return push(r)
			}
		}
		return commit(r)
	})
	var out bytes.Buffer
	if err := run(t.Context(), strings.NewReader("allow\n"), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
}
