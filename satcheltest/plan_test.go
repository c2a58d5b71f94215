package satcheltest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestPlan(t *testing.T) {
	script := Plan(
		Turn{
			Steps: []Step{
				Load("pdf", "forms.md"),
				{Text: "both", Calls: []core.ToolCall{ToolCall("x", "1"), ToolCall("y", "2")}, Needs: []string{"BODY"}},
				Do("x", "3"),
			},
			Needs:  []string{"RESULT"},
			Answer: "done",
		},
		Turn{Steps: []Step{Load("pdf")}, Answer: "again"},
	)
	user := func(s string) Message { return Message{Role: "user", Text: s} }
	called := func(names ...string) Message {
		m := Message{Role: "assistant"}
		for _, n := range names {
			m.Calls = append(m.Calls, core.ToolCall{Name: n})
		}
		return m
	}
	result := func(s string) Message { return Message{Role: "tool", Text: s} }

	tests := []struct {
		name     string
		messages []Message
		want     string // names of the called tools, or the answer, or "status: message"
	}{
		{"first", []Message{user("1")}, "skill_load"},
		{"content is there already", []Message{user("1"), {Role: "system", Text: `<skill name="pdf"> BODY`}}, "x y"},
		{"content lost", []Message{user("1"), called("skill_load"), result("stub")}, `422: call of x y in turn 1: the request lacks "BODY"`},
		{"second step", []Message{user("1"), called("skill_load"), result("BODY")}, "x y"},
		{"third step", []Message{user("1"), called("skill_load"), result("BODY"), called("x", "y"), result("a"), result("b")}, "x"},
		{"answer lacks", []Message{user("1"), called("skill_load"), called("x", "y"), called("x")}, `422: answer of turn 1: the request lacks "RESULT"`},
		{"answer", []Message{user("1"), called("skill_load"), called("x", "y"), called("x"), result("RESULT")}, "done"},
		{"second turn reloads", []Message{user("1"), called("skill_load"), user("2")}, "skill_load"},
		{"second turn sees it", []Message{user("1"), result(`<skill name="pdf">`), user("2")}, "again"},
		{"no user", []Message{result("")}, "422: the plan has 2 turns and the request has 0 user messages"},
		{"beyond", []Message{user("1"), user("2"), user("3")}, "422: the plan has 2 turns and the request has 3 user messages"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			resp := script(Request{Messages: test.messages})
			got := resp.Text
			switch {
			case resp.Status == http.StatusUnprocessableEntity:
				got = "422: " + resp.Err
			case len(resp.Calls) > 0:
				got = Step{Calls: resp.Calls}.toolNames()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestLoadNamesDocs(t *testing.T) {
	got := Load("pdf", "forms.md").Calls[0]
	if got.Name != "skill_load" || got.Arguments != `{"docs":["forms.md"],"skill":"pdf"}` {
		t.Errorf("call = %+v", got)
	}
}

func TestToShowsWhatCannotBeEncoded(t *testing.T) {
	if got := ToolCall("x", func() {}).Arguments; !strings.Contains(got, "unsupported type") {
		t.Errorf("arguments = %q", got)
	}
}
