package eino_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

// A middleware of adk may replace the history by a user message in the middle of a turn. The
// turn continues, and loaded content stays in view, once.
func TestMessagesThatMiddlewaresInsert(t *testing.T) {
	for name, tt := range map[string]struct {
		inserted *schema.Message
		turns    int
	}{
		"summary": {marked("What happened so far.", "_eino_summarization_content_type", "summary"), 1},
		"skills":  {marked("pdf: loaded: pdf", "_eino_summarization_content_type", "skills"), 1},
		"files":   {marked("AGENTS.md says: be kind.", "__agentsmd_content__", true), 1},
		"tools":   {marked("You can search for tools.", "__toolsearch_reminder__", true), 1},
		"memory":  {marked("<!-- automemory -->\nA is B.", "__eino_automemory__", map[string]any{"type": "memory"}), 1},
		// A user message that a middleware uses to mark its position.
		"user":  {marked("And now csv.", "__eino_automemory__", map[string]any{"type": "write_cursor"}), 2},
		"other": {marked("And now csv.", "host", "mark"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, streaming bool) {
				replace := func(_ context.Context, s *adk.ChatModelAgentState) error {
					if last := s.Messages[len(s.Messages)-1]; last.Role == schema.Tool && last.ToolName == "skill_load" {
						s.Messages = []*schema.Message{s.Messages[0], tt.inserted}
					}
					return nil
				}
				var seen events
				m := script(loading("1", "pdf"), calling(call("2", "look", "{}")), say("one"))
				cfg := &adk.ChatModelAgentConfig{Model: m, Instruction: "Work.", Middlewares: []adk.AgentMiddleware{{BeforeChatModel: replace}}}
				cfg.ToolsConfig.Tools = []tool.BaseTool{&hostTool{name: "look"}}
				install(t, cfg, newRuntime(t, satchel.WithEvents(seen.hook), satchel.WithLoading(satchel.Loading{Mode: loadmode.Turn})))
				noErrors(t, run(t, newAgent(t, cfg), "s", streaming, schema.UserMessage("q")))
				bodies := 2 - tt.turns
				shown(t, "agent", m, pdfBody, 0, bodies, bodies)
				if got := seen.count(core.TurnBegun, "agent"); got != tt.turns {
					t.Errorf("%d turns begun, want %d", got, tt.turns)
				}
			})
		})
	}
}

func marked(text, mark string, value any) *schema.Message {
	m := schema.UserMessage(text)
	m.Extra = map[string]any{mark: value}
	return m
}
