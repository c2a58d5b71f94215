package langchaingo

import (
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// coreMessages converts msgs for the runtime. It shares their strings; only several text parts
// of one message are joined to a new one.
func (s *scratch) coreMessages(msgs []llms.MessageContent) []core.Message {
	out := slices.Grow(s.refs[:0], len(msgs))[:len(msgs)]
	calls := s.calls[:0]
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
			m.Text = joinText(msgs[i].Parts)
		}
		if len(calls) > from {
			m.Calls = calls[from:len(calls):len(calls)]
		}
	}
	s.refs, s.calls = out, calls
	return out
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

func joinText(parts []llms.ContentPart) string {
	if len(parts) == 1 {
		if text, ok := parts[0].(llms.TextContent); ok {
			return text.Text
		}
	}
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

// applyView returns the messages of a view in langchaingo's form. It shares messages that the
// view does not change with msgs; the others are copies.
func applyView(msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	return appendView(make([]llms.MessageContent, 0, len(view)), msgs, view)
}

// appendView does the same as applyView, in the memory of out, which is empty.
func appendView(out, msgs []llms.MessageContent, view []core.Message) []llms.MessageContent {
	for len(out) < len(view) {
		switch m := &view[len(out)]; {
		case m.Origin == core.Inserted && m.Role == core.ToolResult:
			out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: m.CallID, Name: m.Tool, Content: m.Text}}})
		case m.Origin == core.Inserted:
			out = append(out, llms.TextParts(llms.ChatMessageTypeSystem, m.Text))
		case m.Added != "":
			out = append(out, extendMessage(msgs[m.Origin], m))
		default:
			n := countUnchanged(view[len(out):])
			out = append(out, msgs[m.Origin:m.Origin+n]...)
		}
	}
	return out
}

// countUnchanged returns how many messages at the beginning of the view are consecutive and
// unchanged.
func countUnchanged(view []core.Message) int {
	n := 1
	for n < len(view) && view[n].Added == "" && view[n].Origin == view[0].Origin+n {
		n++
	}
	return n
}

// extendMessage returns a copy of msg with the view's text. In a message of one part it extends
// that part, because a tool message may have only one. Otherwise it adds a part, so that the
// host's cache marks keep their places.
func extendMessage(msg llms.MessageContent, m *core.Message) llms.MessageContent {
	if len(msg.Parts) == 1 {
		switch p := msg.Parts[0].(type) {
		case llms.TextContent:
			return llms.MessageContent{Role: msg.Role, Parts: []llms.ContentPart{llms.TextContent{Text: m.Text}}}
		case llms.ToolCallResponse:
			p.Content = m.Text
			return llms.MessageContent{Role: msg.Role, Parts: []llms.ContentPart{p}}
		}
	}
	return llms.MessageContent{Role: msg.Role, Parts: slices.Concat(msg.Parts, []llms.ContentPart{llms.TextContent{Text: m.Added}})}
}
