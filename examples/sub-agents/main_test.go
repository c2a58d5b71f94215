package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `lead: import: double the disk
lead has loaded commit-style
triage has loaded log-triage
`

// team is one endpoint for both agents: each has a plan of its own.
func team() satcheltest.Script {
	lead := satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("commit-style"), satcheltest.Do("triage", map[string]any{"request": "What failed first?"})},
		Needs:  []string{satcheltest.SkillOpen("commit-style"), "The disk was full."},
		Answer: "import: double the disk",
	})
	triage := satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Load("log-triage")},
		Needs:  []string{satcheltest.SkillOpen("log-triage")},
		Answer: "The disk was full.",
	})
	return func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("You are triage.") {
			return triage(r)
		}
		return lead(r)
	}
}

func TestRun(t *testing.T) {
	server := rehearse.With(t, team())
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	for text, in := range map[string][]bool{
		// The requests come from lead, lead, triage, triage and lead.
		"You are triage.":                     {false, false, true, true, false},
		satcheltest.SkillOpen("commit-style"): {false, true, false, false, true},
		satcheltest.SkillOpen("log-triage"):   {false, false, false, true, false},
		// An agent does not see even the receipt of the other agent's load.
		"loaded: commit-style": {false, true, false, false, true},
		"loaded: log-triage":   {false, false, false, true, false},
	} {
		if got := rehearse.Contain(requests, text); !slices.Equal(got, in) {
			t.Errorf("%s is in the requests %v, want %v", text, got, in)
		}
	}
}
