package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `called: skill_load commit-style
docs: fix a typo
fix typo
`

func TestRun(t *testing.T) {
	answers := []string{
		"Thought: there is a skill for that\nAction: skill_load\nAction Input: commit-style",
		"Thought: I know it\nFinal Answer: docs: fix a typo",
		"Thought: I know it\nFinal Answer: fix typo",
	}
	server := rehearse.With(t, func(r satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Text: answers[r.Number-1]}
	})
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	for _, tt := range []struct {
		text string
		want []bool
	}{
		{satcheltest.SkillOpen("commit-style"), []bool{false, true, true}},
		{"Human: Write a commit message", []bool{false, false, true}},
		{"AI: docs: fix a typo", []bool{false, false, true}},
	} {
		if got := rehearse.Contain(requests, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%q is in the requests %v, want %v", tt.text, got, tt.want)
		}
	}
	for i, r := range requests {
		if len(r.Messages) != 1 || len(r.Tools) > 0 {
			t.Errorf("request %d has %d messages and %d tools, want one prompt", i, len(r.Messages), len(r.Tools))
		}
	}
}
