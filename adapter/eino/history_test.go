package eino

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// exchange writes a response as "a:" and the id=arguments of its calls, and a result as "t:"
// and its id=text.
func exchange(messages []*schema.Message) string {
	var b strings.Builder
	for _, m := range messages {
		switch {
		case m == nil:
			b.WriteString("nil ")
		case m.Role == schema.Assistant:
			b.WriteString("a:")
			for _, c := range m.ToolCalls {
				fmt.Fprintf(&b, "%s=%s,", c.ID, c.Function.Arguments)
			}
			b.WriteByte(' ')
		case m.Role == schema.Tool:
			fmt.Fprintf(&b, "t:%s=%s ", m.ToolCallID, m.Content)
		default:
			b.WriteString("u ")
		}
	}
	return strings.TrimSpace(b.String())
}

func TestRepairedHistory(t *testing.T) {
	u := schema.UserMessage("q")
	a := func(calls ...schema.ToolCall) *schema.Message { return schema.AssistantMessage("", calls) }
	c := func(id, name string) schema.ToolCall { return toolCall(id, name, "{}") }
	r := func(id, name, text string) *schema.Message {
		return schema.ToolMessage(text, id, schema.WithToolName(name))
	}
	for _, tt := range []struct {
		name string
		in   []*schema.Message
		want string // "" if the history stays unchanged
	}{
		{"complete", []*schema.Message{u, a(c("x", "f"), c("y", "g")), r("x", "f", "1"), r("y", "g", "2"), a()}, ""},
		{"no result yet", []*schema.Message{u, a(c("x", "f"), c("y", "g"))}, ""},
		{"interrupted", []*schema.Message{u, a(c("x", "f"), c("y", "g")), r("y", "g", "2")}, ""},
		{"results of nothing", []*schema.Message{r("x", "f", "1"), u, a(), r("y", "f", "2")}, ""},
		{
			"no ids", []*schema.Message{u, a(), u, a(c("", "f"), c("", "f")), r("call_1_0", "f", "1"), r("call_1_1", "f", "2")},
			"u a: u a:call_1_0={},call_1_1={}, t:call_1_0=1 t:call_1_1=2",
		},
		{
			"equal ids, results as they ended", []*schema.Message{u, a(c("x", "f"), c("x", "f")), r("call_0_1", "f", "2"), r("x", "f", "1")},
			"u a:x={},call_0_1={}, t:x=1 t:call_0_1=2",
		},
		{
			"good ids, results as they ended", []*schema.Message{u, a(c("x", "f"), c("y", "f")), r("y", "f", "2"), r("x", "f", "1"), u},
			"u a:x={},y={}, t:x=1 t:y=2 u",
		},
		{
			"cut since", []*schema.Message{u, a(c("", "f"), c("", "f")), r("call_7_0", "f", "1"), r("call_7_1", "f", "2")},
			"u a:call_7_0={},call_7_1={}, t:call_7_0=1 t:call_7_1=2",
		},
		{
			"cut since, by the tools' names", []*schema.Message{u, a(c("", "f"), c("", "g")), r("call_7_1", "g", "2"), r("call_7_0", "f", "1")},
			"u a:call_7_0={},call_7_1={}, t:call_7_0=1 t:call_7_1=2",
		},
		{
			"a result is missing", []*schema.Message{u, a(c("", "gone"), c("", "f")), r("call_0_1", "f", "2")},
			"u a:call_0_0={},call_0_1={}, t:call_0_1=2",
		},
		{
			"ids lost on both sides", []*schema.Message{u, a(c("", "f"), c("", "f")), r("", "f", "1"), r("", "f", "2")},
			"u a:call_0_0={},call_0_1={}, t:call_0_0=1 t:call_0_1=2",
		},
		{
			"equal on both sides", []*schema.Message{u, a(c("x", "f"), c("x", "f")), r("x", "f", "1"), r("x", "f", "2")},
			"u a:x={},call_0_1={}, t:x=1 t:call_0_1=2",
		},
		{
			"the results' ids are lost", []*schema.Message{u, a(c("x", "f"), c("y", "f")), r("", "f", "1"), r("", "f", "2")},
			"u a:x={},y={}, t:x=1 t:y=2",
		},
		{
			"no arguments", []*schema.Message{nil, u, a(toolCall("x", "f", "")), r("x", "f", "1")},
			"nil u a:x={}, t:x=1",
		},
		{
			"more results than calls", []*schema.Message{a(c("", "f")), r("q", "g", "1"), r("p", "f", "2"), r("p", "f", "3")},
			"a:p={}, t:q=1 t:p=2 t:p=3",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := exchange(tt.in)
			out := repairHistory(tt.in)
			if tt.want == "" {
				if tt.want = before; len(out) > 0 && &out[0] != &tt.in[0] {
					t.Log("copied") // correct, but a copy was not necessary
				}
			}
			if got := exchange(out); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := exchange(repairHistory(out)); got != tt.want {
				t.Errorf("a second time: %s", got)
			}
			if exchange(tt.in) != before {
				t.Error("the host's messages were changed")
			}
		})
	}
}
