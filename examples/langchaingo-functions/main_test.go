package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `called: skill_load {"skill":"release-notes"}
called: changes_since 1.3.0
## 1.4.0
`

func TestRun(t *testing.T) {
	server := rehearse.With(t, satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("release-notes"), satcheltest.Do("changes_since", map[string]any{"__arg1": "1.3.0"})},
		Needs:  []string{satcheltest.SkillOpen("release-notes"), "time zones (#81)"},
		Answer: "## 1.4.0",
	}))
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	if got, want := rehearse.Contain(requests, satcheltest.SkillOpen("release-notes")), []bool{false, true, true}; !slices.Equal(got, want) {
		t.Errorf("release-notes is in the requests %v, want %v", got, want)
	}
	for i, r := range requests {
		if r.Model != rehearse.Model || r.Tools[0].Name != "changes_since" || len(r.Tools) < 2 {
			t.Errorf("request %d: model %q, tools %+v", i, r.Model, r.Tools)
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
