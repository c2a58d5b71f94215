package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const answer = "## 1.4.0\n\n### Fixed\n- `export` keeps time zones (#81)\n"

func TestRun(t *testing.T) {
	load := satcheltest.Load("release-notes", "references/style.md")
	load.Text = "Let me see how that is done here." // some models write text before a call
	server := rehearse.With(t, satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{load, satcheltest.Do("changes_since", map[string]any{"version": "1.3.0"})},
		Needs:  []string{satcheltest.SkillOpen("release-notes"), "# Style", "time zones (#81)"},
		Answer: answer,
	}))
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "loaded: release-notes [references/style.md]\n" + answer; out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	if got, want := rehearse.Contain(requests, satcheltest.SkillOpen("release-notes")), []bool{false, true, true}; !slices.Equal(got, want) {
		t.Errorf("release-notes is in the requests %v, want %v", got, want)
	}
	for i, r := range requests {
		if !r.Stream || r.Tools[0].Name != "changes_since" || len(r.Tools) < 2 {
			t.Errorf("request %d: stream %t, tools %+v", i, r.Stream, r.Tools)
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
