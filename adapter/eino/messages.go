package eino

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// coreMessages converts Eino's messages for the runtime. The result shares their strings, and
// needs one slice for all messages and one for all calls. Nil messages are left out.
func coreMessages(input []*schema.Message, rewritten func(*schema.Message) bool) []core.Message {
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
		ref := &messages[n] // set field by field: a literal would be copied
		n++
		ref.Origin = i
		ref.Role = roleOf(m.Role)
		ref.Text = textOf(m)
		switch ref.Role {
		case core.Assistant:
			first := len(calls)
			for j := range m.ToolCalls {
				calls = append(calls, coreCall(&m.ToolCalls[j]))
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

// coreCalls converts the calls of a response.
func coreCalls(calls []schema.ToolCall) []core.ToolCall {
	refs := make([]core.ToolCall, 0, len(calls))
	for i := range calls {
		refs = append(refs, coreCall(&calls[i]))
	}
	return refs
}

func coreCall(c *schema.ToolCall) core.ToolCall {
	return core.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
}

// roleOf converts a role of Eino. A role that Eino does not know, such as "developer", becomes
// System: it neither begins a turn nor is part of one.
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

// textOf returns the text of a message: its text parts one after the other, or its content if
// it has no parts. Parts take precedence, as they do in Eino's models.
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

// joinText joins the texts of parts. It copies nothing if there is only one.
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

// render returns the messages of a view in Eino's form. Messages that the view does not change
// are passed on by reference. The others are copies, so the framework's messages never change.
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
			edited = append(edited, insertedMessage(m))
		case m.Added != "":
			edited = append(edited, extendMessage(input[m.Origin], m))
		default:
			out = append(out, input[m.Origin])
			continue
		}
		out = append(out, &edited[len(edited)-1])
	}
	return out
}

// insertedMessage returns a message that the view adds.
func insertedMessage(m *core.Message) schema.Message {
	if m.Role == core.ToolResult {
		return schema.Message{Role: schema.Tool, Content: m.Text, ToolCallID: m.CallID, ToolName: m.Tool}
	}
	return schema.Message{Role: schema.System, Content: m.Text}
}

// extendMessage copies a message and adds the view's text: as a part if the message has parts,
// else to its content.
func extendMessage(original *schema.Message, m *core.Message) schema.Message {
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

// rewriteDetector returns a function that recognises user messages which no user wrote, in the
// run under ctx. These are the messages that Eino's own middlewares insert, and those that the
// host's function recognises. Without such a function, they are those with the text of Eino's
// rewriter. In a run of one agent the rewriter has nothing to rewrite, so such a text is a
// user's own.
func (s *config) rewriteDetector(ctx context.Context) func(*schema.Message) bool {
	agents := 0 // not counted yet
	return func(m *schema.Message) bool {
		if isInserted(m) || s.isRewritten != nil {
			return isInserted(m) || s.isRewritten(m)
		}
		if !isEinoRewrite(m) {
			return false
		}
		if agents == 0 {
			agents = agentsIn(ctx)
		}
		return agents > 1
	}
}

// isInserted recognises the user messages that middlewares of adk insert: the summary of a
// history and the skills beside it, instructions from files, reminders of a tool search, and
// memories. Each kind has a mark of its own in Extra. Other messages may have the mark of
// memories too, but lack the comment with which memories begin.
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

// agentsIn counts the different agents in the address of ctx, at least 1.
func agentsIn(ctx context.Context) int {
	names := map[string]bool{}
	for _, segment := range compose.GetCurrentAddress(ctx) {
		if segment.Type == adk.AddressSegmentAgent {
			names[segment.ID] = true
		}
	}
	return max(1, len(names))
}

// isEinoRewrite recognises the user messages that Eino's history rewriter makes from another
// agent's messages (adk/flow.go, rewriteMessage). They begin with "For context:". Any number of
// these follow: " [agent] said: ….", " [agent] called tool: `…` …." or " [agent] `tool` tool
// returned result: ….".
func isEinoRewrite(m *schema.Message) bool {
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

// makeSendable replaces, in the messages of a request, names of unknown tools and arguments
// that are no JSON object. Otherwise services and clients would refuse this request and every
// later one. The same message gets the same form in each request. No message is changed in
// place.
func (a *Adapter) makeSendable(messages []*schema.Message, offered []string) {
	sendableName := func(name string) string {
		safe := core.ToolCall{Name: name}.SendableName()
		if safe == name || a.hooks.Owns(name) || slices.Contains(a.hostTools, name) || slices.Contains(offered, name) {
			return name
		}
		return safe
	}
	for i, m := range messages {
		if m == nil {
			continue
		}
		if m.Role == schema.Tool && m.ToolName != "" {
			if safe := sendableName(m.ToolName); safe != m.ToolName {
				copied := *m
				copied.ToolName = safe
				messages[i] = &copied
			}
			continue
		}
		for j := range m.ToolCalls {
			call := m.ToolCalls[j]
			call.Function.Name = sendableName(call.Function.Name)
			call.Function.Arguments = core.ToolCall{Arguments: call.Function.Arguments}.SendableArguments()
			messages[i] = withCall(messages[i], m, j, call)
		}
	}
}
