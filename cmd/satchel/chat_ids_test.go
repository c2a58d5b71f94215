package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// Calls with the id of another or with none are shown with the ids that they
// have in the request, and each with its own result.
func TestChatShowsTheIDsOfTheRequest(t *testing.T) {
	skills := testSkills(t)
	for name, id := range map[string]string{"equal": "x", "none": "\x00"} {
		t.Run(name, func(t *testing.T) {
			pdf, xlsx := satcheltest.ToolCall("skill_load", `{"skill":"pdf"}`), satcheltest.ToolCall("skill_load", `{"skill":"xlsx"}`)
			pdf.ID, xlsx.ID = id, id
			each(t, func(t *testing.T, flags ...string) {
				script := satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{{Calls: []core.ToolCall{pdf, xlsx}}}, Answer: "done"})
				got := converse(t, script, "", append(flags, "--json", "--skills", skills, "hi")...)
				if got.code != 0 || len(got.requests) != 2 {
					t.Fatalf("code %d after %d requests, err %q", got.code, len(got.requests), got.err)
				}
				var want []string
				for _, m := range got.requests[1].Messages {
					for _, c := range m.Calls {
						want = append(want, "tool_call "+c.ID+" "+c.Arguments)
					}
				}
				for _, m := range got.requests[1].Messages {
					if m.Role == "tool" {
						first, _, _ := strings.Cut(m.Text, "\n")
						want = append(want, "tool_result "+m.CallID+" "+first)
					}
				}
				var shown []string
				for line := range strings.Lines(got.out) {
					var e struct{ Event, ID, Arguments, Result string }
					if err := json.Unmarshal([]byte(line), &e); err != nil {
						t.Fatal(err)
					}
					first, _, _ := strings.Cut(e.Result, "\n")
					if e.Event == "tool_call" || e.Event == "tool_result" {
						shown = append(shown, e.Event+" "+e.ID+" "+e.Arguments+first)
					}
				}
				if len(want) != 4 || want[0] == want[1] || !slices.Equal(shown, want) {
					t.Errorf("shown is %q, sent was %q", shown, want)
				}
			})
		})
	}
}
