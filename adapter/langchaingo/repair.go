package langchaingo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// argument is the one property of the schema that the framework gives every
// tool, and the key that it unwraps before it calls one.
const argument = "__arg1"

// repaired returns msgs in the form that services require. The arguments are a JSON object.
// Every call has an id, and its result has the same id and the tool's name. Each message holds
// one result. Nothing is random: the same messages get the same ids. It copies what it changes,
// and returns msgs itself if nothing changes.
func repaired(msgs []llms.MessageContent) []llms.MessageContent {
	return new(scratch).repair(msgs)
}

// repair is repaired in the memory of s.
func (s *scratch) repair(msgs []llms.MessageContent) []llms.MessageContent {
	out, done := s.repaired[:0], 0 // msgs[:done] are in out
	var few [8]llms.ToolCall
	open := few[:0] // the calls whose results may still come
	responses := 0
	for i := range msgs {
		role, parts := msgs[i].Role, msgs[i].Parts
		switch role {
		case llms.ChatMessageTypeAI:
			var calls []llms.ToolCall
			parts, calls = repairedCalls(parts, responses, few[:0])
			responses++
			// Only a message with calls starts a new response: an agent may
			// repeat the text of one in a message of its own.
			if len(calls) > 0 {
				open = calls
			}
		case llms.ChatMessageTypeTool:
			parts, open = answered(parts, open)
		}
		split := role == llms.ChatMessageTypeTool && len(parts) != 1
		if !split && !changed(parts, msgs[i].Parts) {
			continue
		}
		out = append(out, msgs[done:i]...)
		done = i + 1
		if split {
			out = appendParts(out, role, parts)
		} else {
			out = append(out, llms.MessageContent{Role: role, Parts: parts})
		}
	}
	if done == 0 {
		return msgs
	}
	s.repaired = append(out, msgs[done:]...)
	return s.repaired
}

// appendParts adds a message for each part.
func appendParts(msgs []llms.MessageContent, role llms.ChatMessageType, parts []llms.ContentPart) []llms.MessageContent {
	for i := range parts {
		msgs = append(msgs, llms.MessageContent{Role: role, Parts: parts[i : i+1 : i+1]})
	}
	return msgs
}

// changed reports whether parts are a changed copy of others.
func changed(parts, others []llms.ContentPart) bool {
	return len(parts) > 0 && &parts[0] != &others[0]
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
		id, args := uniqueID(c.ID, calls, response), objectArguments(c.FunctionCall.Arguments)
		if id != c.ID || args != c.FunctionCall.Arguments || c.Type == "" {
			c.ID, c.Type = id, cmp.Or(c.Type, "function")
			if args != c.FunctionCall.Arguments {
				c.FunctionCall = &llms.FunctionCall{Name: c.FunctionCall.Name, Arguments: args}
			}
			if !changed(out, parts) {
				out = slices.Clone(parts)
			}
			out[i] = c
		}
		calls = append(calls, c)
	}
	return out, calls
}

// uniqueID returns id, or one made of the position when it is empty or one of
// the calls before it in the same response has it.
func uniqueID(id string, before []llms.ToolCall, response int) string {
	if id != "" && indexOf(before, id) < 0 {
		return id
	}
	return core.ToolCall{ID: id}.UniqueID(response, len(before), func(id string) bool { return indexOf(before, id) >= 0 })
}

func indexOf(calls []llms.ToolCall, id string) int {
	return slices.IndexFunc(calls, func(c llms.ToolCall) bool { return c.ID == id })
}

// objectArguments returns args if they are a JSON object; otherwise they are
// the string that the framework unwrapped, and it is wrapped again.
func objectArguments(args string) string {
	if text := strings.TrimSpace(args); text != "" && text[0] == '{' && valid(args) {
		return args
	}
	return core.ToolCall{Arguments: args}.SendableArguments()
}

// answered completes the results of one message from the calls that are open. A
// result answers the call with its id, or else the next one in order. It removes the
// answered calls from the memory of open.
func answered(parts []llms.ContentPart, open []llms.ToolCall) ([]llms.ContentPart, []llms.ToolCall) {
	out := parts
	for i, part := range parts {
		r, ok := part.(llms.ToolCallResponse)
		if !ok {
			continue
		}
		at := indexOf(open, r.ToolCallID)
		if at < 0 && r.ToolCallID == "" && len(open) > 0 {
			at = 0
		}
		if at < 0 {
			continue
		}
		call := open[at]
		open = slices.Delete(open, at, at+1)
		if r.ToolCallID == call.ID && r.Name != "" {
			continue
		}
		r.ToolCallID = call.ID
		if r.Name == "" {
			r.Name = call.FunctionCall.Name
		}
		if !changed(out, parts) {
			out = slices.Clone(parts)
		}
		out[i] = r
	}
	return out, open
}

// scratchpad cuts off the agent's account of the current Call, which ends msgs,
// and returns what really happened in its place: the remembered responses and
// the results of the steps. When the two do not agree, the account stays.
func scratchpad(msgs, happened []llms.MessageContent, steps int) (before, account []llms.MessageContent) {
	from, results := len(msgs), 0
	for from > 0 && (msgs[from-1].Role == llms.ChatMessageTypeAI || msgs[from-1].Role == llms.ChatMessageTypeTool) {
		from--
		if msgs[from].Role == llms.ChatMessageTypeTool {
			results += len(msgs[from].Parts)
		}
	}
	if results != steps || len(happened) == 0 {
		return msgs, nil
	}
	return msgs[:from], happened
}
