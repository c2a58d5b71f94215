package eino

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// rewrittenIn returns what recognises the user messages that no user wrote in the
// run under ctx: the host's function, or the text of Eino's rewriter where that
// can have been at work. It has nothing to rewrite in a run that only one agent
// has been in, and what reads like it there are a user's own words.
func (s *settings) rewrittenIn(ctx context.Context) func(*schema.Message) bool {
	if s.rewritten != nil {
		return s.rewritten
	}
	agents := 0 // not counted yet
	return func(m *schema.Message) bool {
		if !isRewritten(m) {
			return false
		}
		if agents == 0 {
			agents = agentsIn(ctx)
		}
		return agents > 1
	}
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

// isRewritten recognises the user messages that Eino's history rewriter makes
// from another agent's messages (adk/flow.go, rewriteMessage): "For context:"
// and then any number of " [agent] said: ….", " [agent] called tool: `…` …."
// or " [agent] `tool` tool returned result: ….".
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
