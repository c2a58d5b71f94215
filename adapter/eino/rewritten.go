package eino

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// rewrittenIn returns a function that recognises user messages which no user wrote,
// in the run under ctx. Those are the messages that Eino's own middlewares insert,
// and those that the host's function recognises or, without one, that have the text
// of Eino's rewriter. In a run of one agent the rewriter has nothing to rewrite, so
// what reads like its text there are a user's own words.
func (s *settings) rewrittenIn(ctx context.Context) func(*schema.Message) bool {
	agents := 0 // not counted yet
	return func(m *schema.Message) bool {
		if isInserted(m) || s.rewritten != nil {
			return isInserted(m) || s.rewritten(m)
		}
		if !isRewritten(m) {
			return false
		}
		if agents == 0 {
			agents = agentsIn(ctx)
		}
		return agents > 1
	}
}

// isInserted recognises the user messages that middlewares of adk insert. These are the summary
// of a history and the skills kept beside it, instructions from files, reminders of a tool
// search, and memories. Each has a mark of its own among its extras. The mark of memories is
// also set on other messages, which lack the comment that memories begin with.
func isInserted(m *schema.Message) bool {
	if len(m.Extra) == 0 {
		return false
	}
	for _, mark := range []string{"_eino_summarization_content_type", "__agentsmd_content__", "__toolsearch_reminder__"} {
		if _, ok := m.Extra[mark]; ok {
			return true
		}
	}
	_, memory := m.Extra["__eino_automemory__"]
	return memory && strings.HasPrefix(textOf(m), "<!-- automemory")
}

// agentsIn counts the agents on the way to the call under ctx, at least 1.
func agentsIn(ctx context.Context) int {
	names := map[string]bool{}
	for _, segment := range compose.GetCurrentAddress(ctx) {
		if segment.Type == adk.AddressSegmentAgent {
			names[segment.ID] = true
		}
	}
	return max(1, len(names))
}

// isRewritten recognises the user messages that Eino's history rewriter makes from another
// agent's messages (adk/flow.go, rewriteMessage). They begin with "For context:". Any number of
// these follow: " [agent] said: ….", " [agent] called tool: `…` …." or " [agent] `tool` tool
// returned result: ….".
func isRewritten(m *schema.Message) bool {
	rest, ok := strings.CutPrefix(m.Content, "For context:")
	if !ok {
		return false
	}
	if rest == "" {
		return true // an empty message of the other agent
	}
	if !strings.HasPrefix(rest, " [") || !strings.HasSuffix(rest, ".") {
		return false
	}
	for _, mark := range []string{"] said: ", "] called tool: `", "` tool returned result: "} {
		if strings.Contains(rest, mark) {
			return true
		}
	}
	return false
}
