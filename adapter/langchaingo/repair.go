package langchaingo

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/satchel-go/satchel/core"
)

// argument is the one property of the schema that the framework gives every
// tool, and the key that it unwraps before it calls one.
const argument = "__arg1"

// repaired returns msgs with what services insist on: arguments that are a
// JSON object, an id for every call and the same id and the name of the tool at
// its result, and one message per result. Nothing is random: the same messages
// get the same ids. It copies what it changes.
func repaired(msgs []llms.MessageContent) []llms.MessageContent {
	out := make([]llms.MessageContent, 0, len(msgs))
	var open []llms.ToolCall // the calls whose results may still come
	room := make([]llms.ToolCall, 0, countCalls(msgs))
	responses := 0
	for _, m := range msgs {
		switch m.Role {
		case llms.ChatMessageTypeAI:
			var calls []llms.ToolCall
			m.Parts, calls = repairedCalls(m.Parts, responses, room[len(room):])
			room = room[:len(room)+len(calls)]
			responses++
			// Only a message with calls starts a new response: an agent may
			// repeat the text of one in a message of its own.
			if len(calls) > 0 {
				open = calls
			}
			out = append(out, m)
		case llms.ChatMessageTypeTool:
			for i := range m.Parts {
				part := m.Parts[i : i+1 : i+1]
				if r, ok := part[0].(llms.ToolCallResponse); ok {
					part, open = answered(part, r, open)
				}
				out = append(out, llms.MessageContent{Role: m.Role, Parts: part})
			}
		default:
			out = append(out, m)
		}
	}
	return out
}

// repairedCalls repairs the calls of one message. It returns them too, in room
// if they fit there.
func repairedCalls(parts []llms.ContentPart, response int, room []llms.ToolCall) ([]llms.ContentPart, []llms.ToolCall) {
	calls := room[:0]
	out := parts
	for i, part := range parts {
		c, ok := part.(llms.ToolCall)
		if !ok || c.FunctionCall == nil {
			continue
		}
		was := c
		c.ID = uniqueID(c.ID, calls, response)
		if c.Type == "" {
			c.Type = "function"
		}
		if args := objectArguments(c.FunctionCall.Arguments); args != c.FunctionCall.Arguments {
			c.FunctionCall = &llms.FunctionCall{Name: c.FunctionCall.Name, Arguments: args}
		}
		calls = append(calls, c)
		if c != was {
			if &out[0] == &parts[0] {
				out = joined(parts, nil)
			}
			out[i] = c
		}
	}
	return out, calls
}

// uniqueID returns id, or one made of the position when it is empty or one of
// the calls before it in the same response has it.
func uniqueID(id string, before []llms.ToolCall, response int) string {
	return core.CallID(id, response, len(before), func(id string) bool {
		return slices.ContainsFunc(before, func(c llms.ToolCall) bool { return c.ID == id })
	})
}

// objectArguments returns args if they are a JSON object; otherwise they are
// the string that the framework unwrapped, and it is wrapped again.
func objectArguments(args string) string {
	if trimmed := strings.TrimSpace(args); trimmed == "" {
		return "{}"
	} else if trimmed[0] == '{' && json.Valid([]byte(trimmed)) {
		return args
	}
	return rewrapped(args)
}

func rewrapped(text string) string {
	var b strings.Builder
	b.WriteString(`{"` + argument + `":`)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return "{}" // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n") + "}"
}

// answered completes a result from the calls that are open: by id, else the
// next in order. The call that it answers is no longer open.
func answered(part []llms.ContentPart, r llms.ToolCallResponse, open []llms.ToolCall) ([]llms.ContentPart, []llms.ToolCall) {
	at := -1
	for i, c := range open {
		if c.ID == r.ToolCallID {
			at = i
			break
		}
	}
	if at < 0 && r.ToolCallID == "" && len(open) > 0 {
		at = 0
	}
	if at < 0 {
		return part, open
	}
	all, call := open, open[at]
	if open = open[1:]; at > 0 {
		open = append(all[:at:at], all[at+1:]...)
	}
	if r.ToolCallID == call.ID && r.Name != "" {
		return part, open
	}
	r.ToolCallID = call.ID
	if r.Name == "" {
		r.Name = call.FunctionCall.Name
	}
	return []llms.ContentPart{r}, open
}

// scratchpad cuts off the agent's account of the current Call, which ends msgs,
// and returns what really happened in its place: the remembered responses and
// the results of the steps. When the two do not agree, the account stays.
func scratchpad(msgs []llms.MessageContent, responses []response, steps []schema.AgentStep) (before, happened []llms.MessageContent) {
	from, results := len(msgs), 0
	for from > 0 && (msgs[from-1].Role == llms.ChatMessageTypeAI || msgs[from-1].Role == llms.ChatMessageTypeTool) {
		from--
		if msgs[from].Role == llms.ChatMessageTypeTool {
			results += len(msgs[from].Parts)
		}
	}
	if results != len(steps) || len(steps) == 0 {
		return msgs, nil
	}
	if happened = told(responses, steps); happened == nil {
		return msgs, nil
	}
	return msgs[:from], happened
}

func told(responses []response, steps []schema.AgentStep) []llms.MessageContent {
	out := make([]llms.MessageContent, 0, len(responses)+len(steps))
	done := 0
	for i := range responses {
		r := &responses[i]
		if r.at != done || len(r.calls) == 0 || done+len(r.calls) > len(steps) {
			return nil
		}
		out = append(out, r.message)
		for _, call := range r.calls {
			step := &steps[done]
			if step.Action.ToolID != call.ID || !strings.EqualFold(step.Action.Tool, call.Name) {
				return nil
			}
			out = append(out, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: call.ID, Name: call.Name, Content: step.Observation},
			}})
			done++
		}
	}
	if done != len(steps) {
		return nil
	}
	return out
}
