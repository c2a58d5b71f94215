package main

import (
	"bytes"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

func TestRun(t *testing.T) {
	hand := func(answer map[string]any) satcheltest.Step {
		return satcheltest.Do("submit", map[string]any{"skill": "incident-report", "answer": answer})
	}
	server := rehearse.With(t, satcheltest.Plan(satcheltest.Turn{
		Steps: []satcheltest.Step{
			satcheltest.Load("incident-report"),
			hand(map[string]any{"service": "import", "cause": "The disk was full.", "minutes": "28 min"}),
			hand(map[string]any{"service": "import", "cause": "The disk was full.", "minutes": 28}),
		},
		Needs: []string{satcheltest.SkillOpen("incident-report"), "accepted"}, Answer: "Reported.",
	}))
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "&{Service:import Cause:The disk was full. Minutes:28}\n"; out.String() != want {
		t.Errorf("output is %q, want %q", out.String(), want)
	}
	requests := server.Requests()
	if got := rehearse.Contain(requests, "submit it again as the skill says"); !got[2] || got[1] {
		t.Errorf("what does not fit is refused in the requests %v", got)
	}
}
