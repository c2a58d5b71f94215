package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/satcheltest"
)

// Files that the model reads count for the budget in both frameworks. One of two parallel
// answers says that it crosses WARN, and a read beyond MAX is refused. Each request begins
// with the one before.
func TestChatCountsWhatIsRead(t *testing.T) {
	rows := strings.Repeat("1,2,3,4,5,6,7,8,9,10,11,12\n", 1000) // about 6,700 tokens
	skills := skillDir(t, map[string]string{
		"data/SKILL.md": described("data", "Has tables."), "data/a.csv": rows, "data/b.csv": rows, "data/c.csv": rows,
	})
	read := func(file string) core.ToolCall {
		return satcheltest.ToolCall("skill_read", map[string]any{"skill": "data", "path": file})
	}
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, satcheltest.Plan(satcheltest.Turn{Steps: []satcheltest.Step{
			satcheltest.Load("data"), {Calls: []core.ToolCall{read("a.csv"), read("b.csv")}}, {Calls: []core.ToolCall{read("c.csv")}},
		}, Answer: "done"}, satcheltest.Turn{Steps: []satcheltest.Step{{Calls: []core.ToolCall{read("c.csv")}}}, Answer: "again"}), "",
			append(flags, "--skills", skills, "--executor", "local", "--content-budget", "10000,18000", "--json", "one", "two")...)
		if len(got.requests) != 6 {
			t.Fatalf("%d requests: %s %s", len(got.requests), got.out, got.err)
		}
		last := got.requests[5]
		for text, want := range map[string]int{
			"skills in view take about 13": 1, "(largest: files that were read, 13": 1,
			"error: about 20": 1, "at most 18000 may be: read fewer lines, or unload a skill first": 1, "c.csv, lines 1 to": 1,
		} {
			if n := bytes.Count(last.Raw, []byte(text)); n != want {
				t.Errorf("%q stands %d times in the last request, want %d", text, n, want)
			}
		}
		if !strings.Contains(got.out, `"event":"content.budget"`) {
			t.Errorf("events %.3000s", got.out)
		}
		for i := range got.requests[1:] {
			before, after := got.requests[i].Messages, got.requests[i+1].Messages
			for j := range before {
				if j >= len(after) || before[j].Text != after[j].Text {
					t.Errorf("request %d does not begin with the one before", i+2)
					break
				}
			}
		}
	})
}
