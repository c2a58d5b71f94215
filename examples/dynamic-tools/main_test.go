package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/satchel-go/satchel/examples/internal/rehearse"
	"github.com/satchel-go/satchel/satcheltest"
)

const want = `tool: error: no loaded skill brings a tool "cancel_order"; load one that does
tool: loaded: orders
tool: error: no loaded skill brings a tool "count_stock"; load one that does
tool: A-17 is cancelled
assistant: Done.
`

func TestRun(t *testing.T) {
	use := func(tool string) satcheltest.Step {
		return satcheltest.Do("use_tool", map[string]any{"tool": tool, "input": map[string]string{"id": "A-17"}})
	}
	server := rehearse.With(t, satcheltest.Plan(satcheltest.Turn{
		Steps: []satcheltest.Step{use("cancel_order"), satcheltest.Load("orders"), use("count_stock"), use("cancel_order")},
		Needs: []string{satcheltest.SkillOpen("orders"), "A-17 is cancelled"}, Answer: "Done.",
	}))
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	requests := server.Requests()
	for i := range requests {
		if first, now := tools(t, requests[0]), tools(t, requests[i]); first != now {
			t.Errorf("request %d offers %s, the first one %s", i, now, first)
		}
	}
}

func tools(t *testing.T, r satcheltest.Request) string {
	t.Helper()
	text, err := json.Marshal(r.Tools)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
