package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// render makes the request that a view describes. Messages that the view leaves
// alone are passed on by reference, and the few that it adds to are copied, so
// the framework's messages are never changed. The slice is a new one.
func render(input []*schema.Message, view []core.Message) []*schema.Message {
	edits := 0
	for i := range view {
		if view[i].Added != "" || view[i].Origin == core.Inserted {
			edits++
		}
	}
	edited := make([]schema.Message, 0, edits)
	out := make([]*schema.Message, 0, len(view))
	for i := range view {
		m := &view[i]
		switch {
		case m.Origin == core.Inserted:
			edited = append(edited, inserted(m))
		case m.Added != "":
			edited = append(edited, extended(input[m.Origin], m))
		default:
			out = append(out, input[m.Origin])
			continue
		}
		out = append(out, &edited[len(edited)-1])
	}
	return out
}

// inserted returns a message that the view has put in.
func inserted(m *core.Message) schema.Message {
	if m.Role == core.ToolResult {
		return schema.Message{Role: schema.Tool, Content: m.Text, ToolCallID: m.CallID, ToolName: m.Tool}
	}
	return schema.Message{Role: schema.System, Content: m.Text}
}

// extended copies a message and adds the view's text to it: as a further part
// to a message of parts, and else to its content.
func extended(original *schema.Message, m *core.Message) schema.Message {
	msg := *original
	switch {
	case len(msg.UserInputMultiContent) > 0:
		msg.UserInputMultiContent = append(slices.Clip(msg.UserInputMultiContent),
			schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: m.Added})
	case len(msg.MultiContent) > 0:
		msg.MultiContent = append(slices.Clip(msg.MultiContent),
			schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: m.Added})
	case len(msg.AssistantGenMultiContent) > 0:
		msg.AssistantGenMultiContent = append(slices.Clip(msg.AssistantGenMultiContent),
			schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: m.Added})
	default:
		msg.Content = m.Text
	}
	return msg
}
