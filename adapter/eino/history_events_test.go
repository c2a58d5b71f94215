package eino_test

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/loadmode"
)

// A host that builds its history from the events of adk has each response as the model reported
// it. Still the next turn begins with the same bytes as this one, and each result names one
// call.
func TestHistoryOfEventsGoesOn(t *testing.T) {
	for name, ids := range map[string][3]string{"none": {}, "equal": {"x", "x", "x"}, "good": {"x", "y", "z"}} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				m := script(calling(call(ids[0], "skill_load", `{"skill":"pdf"}`), call(ids[1], "skill_load", `{"skill":"csv"}`), call(ids[2], "look", "")),
					calling(call(ids[0], "look", "")), say("one"), say("two"))
				m.selfReports = true
				cfg := &adk.ChatModelAgentConfig{
					Model:       m,
					ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{&hostTool{name: "look"}}}},
				}
				install(t, cfg, newRuntime(t, satchel.WithLoading(satchel.Loading{Mode: loadmode.Session})))
				agent := newAgent(t, cfg)
				history := []*schema.Message{schema.UserMessage("first")}
				events := run(t, agent, "s", streaming, history...)
				noErrors(t, events)
				for _, e := range events {
					history = append(history, e.Output.MessageOutput.Message)
				}
				noErrors(t, run(t, agent, "s", streaming, append(history, schema.UserMessage("second"))...))

				last := m.request(t, 3)
				if before := strings.TrimSuffix(wire(t, m.request(t, 2)), "]"); !strings.HasPrefix(wire(t, last), before) {
					t.Errorf("the second turn does not begin with the first:\n%s\n%s", wire(t, last), before)
				}
				open := map[string]bool{}
				for _, msg := range last {
					for _, c := range msg.ToolCalls {
						open[c.ID] = true
					}
					if msg.Role == schema.Tool && !open[msg.ToolCallID] {
						t.Errorf("result %q answers no call, or one that was answered", msg.ToolCallID)
					}
					if msg.Role == schema.Tool {
						delete(open, msg.ToolCallID)
					}
				}
			})
		})
	}
}
