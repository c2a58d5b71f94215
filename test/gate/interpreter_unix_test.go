//go:build unix

package gate_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// A pattern that names an interpreter is for no script that asks for another one
// in its first line; a pattern that names the script is.
func TestPatternsAndFirstLines(t *testing.T) {
	t.Parallel()
	const perl, python, plain, env = "#!/usr/bin/perl\n", "#!/opt/python3\n", "", "#!/usr/bin/env -S awk -f\n"
	for _, tt := range []struct {
		rule, line, script string
		want               string // part of the answer
	}{
		{"Bash(bash:*)", perl, "x.sh", "asks for perl in its first line, but what is allowed is to run it by bash: call with a command that begins with bash"},
		{"Bash(bash:*)", env, "x.sh", "asks for awk in its first line"},
		{"Bash(bash scripts/x.sh)", perl, "scripts/x.sh", "asks for perl in its first line"},
		{"Bash(bash:*)", plain, "x.sh", `"exit_code":0`},
		{"Bash(bash:*)", "#!/opt/bin/bash -e\n", "x.sh", `"exit_code":0`},
		{"Bash(scripts/x.sh:*)", "#!/bin/sh\n", "scripts/x.sh", `"exit_code":0`},
		{"Bash(bash:*) Bash(scripts/x.sh)", "#!/bin/sh\n", "scripts/x.sh", `"exit_code":0`},
		{"Bash", "#!/bin/sh\n", "x.sh", `"exit_code":0`},
		{"Bash(python3:*)", perl, "x.sh", "denied: skill_run"},
		{"Bash(bash:*)", python, "x.sh", "asks for python3"},
	} {
		t.Run(tt.rule+" "+tt.line, func(t *testing.T) {
			local, err := local.New()
			if err != nil {
				t.Fatal(err)
			}
			c := chattest.NewChat(t, chattest.Open(t, fstest.MapFS{
				"s/SKILL.md":     {Data: []byte("---\nname: s\ndescription: d\nallowed-tools: " + tt.rule + "\n---\nx\n")},
				"s/" + tt.script: {Data: []byte(tt.line + "echo ok\n")},
			}, satchel.WithRunner(satchel.Runner{Executor: local}))).Say(core.User, "hi")
			c.Calls(`skill_load {"skill":"s"}`)
			c.Calls(`skill_run {"skill":"s","script":"` + tt.script + `"}`)
			if answer := c.Messages[len(c.Messages)-1].Text; !strings.Contains(answer, tt.want) {
				t.Errorf("the answer is %s", answer)
			}
		})
	}
}
