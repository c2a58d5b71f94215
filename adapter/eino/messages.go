package eino

import (
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// refer describes Eino's messages to the runtime. It shares their strings and
// allocates one slice for all messages and one for all calls. It leaves out nil
// messages.
func refer(input []*schema.Message, rewritten func(*schema.Message) bool) []core.Message {
	count := 0
	for _, m := range input {
		if m != nil {
			count += len(m.ToolCalls)
		}
	}
	calls := make([]core.ToolCall, 0, count)
	messages := make([]core.Message, len(input))
	n := 0
	for i, m := range input {
		if m == nil {
			continue
		}
		ref := &messages[n] // filled in place: a literal would be copied
		n++
		ref.Origin = i
		ref.Role = roleOf(m.Role)
		ref.Text = textOf(m)
		switch ref.Role {
		case core.Assistant:
			first := len(calls)
			for j := range m.ToolCalls {
				calls = append(calls, referCall(&m.ToolCalls[j]))
			}
			ref.Calls = calls[first:len(calls):len(calls)]
		case core.ToolResult:
			ref.CallID, ref.Tool = m.ToolCallID, m.ToolName
		case core.User:
			ref.Rewritten = rewritten(m)
		}
	}
	return messages[:n]
}

// referCalls describes the calls of a response, in their order.
func referCalls(calls []schema.ToolCall) []core.ToolCall {
	refs := make([]core.ToolCall, 0, len(calls))
	for i := range calls {
		refs = append(refs, referCall(&calls[i]))
	}
	return refs
}

func referCall(c *schema.ToolCall) core.ToolCall {
	return core.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
}

// roleOf maps Eino's roles. A role that Eino does not know, "developer" say,
// counts as system: it neither begins a turn nor is part of one.
func roleOf(role schema.RoleType) core.Role {
	switch role {
	case schema.User:
		return core.User
	case schema.Assistant:
		return core.Assistant
	case schema.Tool:
		return core.ToolResult
	default:
		return core.System
	}
}

// textOf returns a message's text: the text parts of a message of parts, one
// after the other, and the content of any other. Parts take precedence, as they
// do in Eino's models.
func textOf(m *schema.Message) string {
	switch {
	case len(m.UserInputMultiContent) > 0:
		return joinText(m.UserInputMultiContent, func(p *schema.MessageInputPart) string {
			return partText(p.Type, p.Text)
		})
	case len(m.MultiContent) > 0:
		return joinText(m.MultiContent, func(p *schema.ChatMessagePart) string {
			return partText(p.Type, p.Text)
		})
	case len(m.AssistantGenMultiContent) > 0:
		return joinText(m.AssistantGenMultiContent, func(p *schema.MessageOutputPart) string {
			return partText(p.Type, p.Text)
		})
	}
	return m.Content
}

func partText(kind schema.ChatMessagePartType, text string) string {
	if kind != schema.ChatMessagePartTypeText {
		return ""
	}
	return text
}

// joinText joins the parts' texts, without a copy where there is only one.
func joinText[P any](parts []P, text func(*P) string) string {
	var few [8]string
	texts := few[:0]
	for i := range parts {
		if t := text(&parts[i]); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "")
}
