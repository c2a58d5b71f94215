package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `user: Write the release notes for 1.4.0: exports keep time zones (#81).
writer calls: skill_load {"skill":"release-notes"}
writer: ## 1.4.0
user: Now a commit message for #81.
writer calls: skill_load {"skill":"commit-style"}
writer: export: keep time zones
`

func TestRun(t *testing.T) {
	server := rehearse.With(t, satcheltest.Plan(
		satcheltest.Turn{
			Steps:  []satcheltest.Step{satcheltest.Load("release-notes")},
			Needs:  []string{satcheltest.SkillOpen("release-notes")},
			Answer: "## 1.4.0",
		},
		satcheltest.Turn{
			Steps:  []satcheltest.Step{satcheltest.Load("commit-style")},
			Needs:  []string{satcheltest.SkillOpen("commit-style")},
			Answer: "export: keep time zones",
		},
	))
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	for skill, in := range map[string][]bool{
		"release-notes": {false, true, true, true}, // its text stays until clearing it saves money
		"commit-style":  {false, false, false, true},
	} {
		if got := rehearse.Contain(requests, satcheltest.SkillOpen(skill)); !slices.Equal(got, in) {
			t.Errorf("%s is in the requests %v, want %v", skill, got, in)
		}
	}
	for i, r := range requests {
		if r.Model != rehearse.Model || !r.Contains("You write texts") || !r.Contains("<available_skills>") {
			t.Errorf("request %d: model %q, messages %+v", i, r.Model, r.Messages)
		}
	}
}

func TestRunReportsTheEndpointsError(t *testing.T) {
	rehearse.With(t, func(satcheltest.Request) satcheltest.Response {
		return satcheltest.Response{Status: 401, Err: "no such key"}
	})
	if err := run(t.Context(), &bytes.Buffer{}); err == nil {
		t.Error("run succeeded, want the error of the endpoint")
	}
}
