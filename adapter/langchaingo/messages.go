package langchaingo

import (
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// refer describes msgs to the runtime. It shares their strings; only the text
// of a message with several text parts is joined.
func refer(msgs []llms.MessageContent) []core.Message {
	out := make([]core.Message, len(msgs))
	calls := make([]core.ToolCall, 0, countCalls(msgs))
	for i := range msgs {
		m := &out[i]
		m.Role, m.Origin = roleOf(msgs[i].Role), i
		from, texts := len(calls), 0
		for _, part := range msgs[i].Parts {
			switch p := part.(type) {
			case llms.ToolCall:
				calls = append(calls, coreCall(p))
			case llms.ToolCallResponse:
				m.CallID, m.Tool = p.ToolCallID, p.Name
				m.Text, texts = p.Content, texts+1
			default:
				if text, ok := textOf(p); ok {
					m.Text, texts = text, texts+1
				}
			}
		}
		if texts > 1 {
			m.Text = joinedText(msgs[i].Parts)
		}
		if len(calls) > from {
			m.Calls = calls[from:len(calls):len(calls)]
		}
	}
	return out
}

func countCalls(msgs []llms.MessageContent) int {
	n := 0
	for i := range msgs {
		for _, part := range msgs[i].Parts {
			if _, ok := part.(llms.ToolCall); ok {
				n++
			}
		}
	}
	return n
}

func roleOf(r llms.ChatMessageType) core.Role {
	switch r {
	case llms.ChatMessageTypeSystem:
		return core.System
	case llms.ChatMessageTypeAI:
		return core.Assistant
	case llms.ChatMessageTypeTool, llms.ChatMessageTypeFunction:
		return core.ToolResult
	}
	return core.User
}

func typeOf(r core.Role) llms.ChatMessageType {
	switch r {
	case core.System:
		return llms.ChatMessageTypeSystem
	case core.Assistant:
		return llms.ChatMessageTypeAI
	case core.ToolResult:
		return llms.ChatMessageTypeTool
	}
	return llms.ChatMessageTypeHuman
}

func coreCall(c llms.ToolCall) core.ToolCall {
	call := core.ToolCall{ID: c.ID}
	if c.FunctionCall != nil {
		call.Name, call.Arguments = c.FunctionCall.Name, c.FunctionCall.Arguments
	}
	return call
}

func textOf(part llms.ContentPart) (string, bool) {
	switch p := part.(type) {
	case llms.TextContent:
		return p.Text, true
	case llms.CachedContent:
		if p.ContentPart != nil {
			return textOf(p.ContentPart)
		}
	}
	return "", false
}

func joinedText(parts []llms.ContentPart) string {
	var b strings.Builder
	for _, part := range parts {
		if r, ok := part.(llms.ToolCallResponse); ok {
			b.WriteString(r.Content)
		} else if text, ok := textOf(part); ok {
			b.WriteString(text)
		}
	}
	return b.String()
}

// apply makes the request that the view describes. Messages that the view
// leaves alone are shared with msgs, the others are copies.
func apply(msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	out := make([]llms.MessageContent, len(view))
	for i := range view {
		switch m := &view[i]; {
		case m.Origin == core.Inserted:
			out[i] = llms.TextParts(typeOf(m.Role), m.Text)
		case m.Added == "":
			out[i] = msgs[m.Origin]
		default:
			out[i] = added(msgs[m.Origin], m)
		}
	}
	return out
}

// added returns a copy of msg with the view's addition. A message of one part
// gets a longer part, because tool messages may have no second one; a message
// of several gets one more, which leaves the host's cache marks where they are.
func added(msg llms.MessageContent, m *core.Message) llms.MessageContent {
	if len(msg.Parts) == 1 {
		switch p := msg.Parts[0].(type) {
		case llms.TextContent:
			return llms.MessageContent{Role: msg.Role, Parts: []llms.ContentPart{llms.TextContent{Text: m.Text}}}
		case llms.ToolCallResponse:
			p.Content = m.Text
			return llms.MessageContent{Role: msg.Role, Parts: []llms.ContentPart{p}}
		}
	}
	return llms.MessageContent{Role: msg.Role, Parts: joined(msg.Parts, []llms.ContentPart{llms.TextContent{Text: m.Added}})}
}
