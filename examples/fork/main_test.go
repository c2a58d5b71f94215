package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

func TestRun(t *testing.T) {
	support := satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Do("skill_load", map[string]any{"skill": "log-triage"})},
		Needs:  []string{"[forked: log-triage, 2 model calls, "},
		Answer: "The disk was full.",
	})
	triage := satcheltest.Plan(satcheltest.Turn{
		Steps:  []satcheltest.Step{satcheltest.Do("skill_list_docs", map[string]any{"skill": "log-triage"})},
		Needs:  []string{satcheltest.SkillOpen("log-triage")},
		Answer: "01:12 disk full; everything after it follows from that.",
	})
	server := rehearse.With(t, func(r satcheltest.Request) satcheltest.Response {
		if r.Contains("available_skills") {
			return support(r)
		}
		return triage(r)
	})
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "assistant: The disk was full.\n"; !bytes.HasSuffix(out.Bytes(), []byte(want)) || !bytes.Contains(out.Bytes(), []byte("tool: [forked: log-triage, 2 model calls, ")) {
		t.Errorf("output is\n%s\nwant it to end with %q", out.String(), want)
	}
	requests := server.Requests()
	for text, in := range map[string][]bool{
		// The requests come from support, the skill, the skill and support.
		"You help the people on call.":      {true, true, true, true},
		"available_skills":                  {true, false, false, true},
		satcheltest.SkillOpen("log-triage"): {false, true, true, false},
	} {
		if got := rehearse.Contain(requests, text); !slices.Equal(got, in) {
			t.Errorf("%s is in the requests %v, want %v", text, got, in)
		}
	}
}
