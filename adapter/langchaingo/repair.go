package langchaingo

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel/core"
)

// argument is the only property in the schema that the framework gives every tool. The
// framework passes its value to the tool.
const argument = "__arg1"

// repairMessages returns msgs in the form that services require. Arguments are a JSON object.
// Every call has an id, and its result has the same id and the tool's name. Each message has at
// most one result. The same messages always get the same ids. It copies what it changes, and
// returns msgs itself if nothing changes.
func repairMessages(msgs []llms.MessageContent) []llms.MessageContent {
	return new(scratch).repair(msgs)
}

// repair does the same as repairMessages, in the memory of s.
func (s *scratch) repair(msgs []llms.MessageContent) []llms.MessageContent {
	out, done := s.repairs[:0], 0 // msgs[:done] are in out
	var few [8]llms.ToolCall
	open := few[:0] // the calls whose results may still come
	responses := 0
	for i := range msgs {
		role, parts := msgs[i].Role, msgs[i].Parts
		switch role {
		case llms.ChatMessageTypeAI:
			var calls []llms.ToolCall
			parts, calls = repairCalls(parts, responses, few[:0])
			responses++
			// A message without calls leaves the open calls as they are: an agent
			// may repeat the text of a response in a message of its own.
			if len(calls) > 0 {
				open = calls
			}
		case llms.ChatMessageTypeTool:
			parts, open = repairResults(parts, open)
		}
		split := role == llms.ChatMessageTypeTool && len(parts) != 1
		if !split && !isChanged(parts, msgs[i].Parts) {
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
	s.repairs = append(out, msgs[done:]...)
	return s.repairs
}

// appendParts adds a message for each part.
func appendParts(msgs []llms.MessageContent, role llms.ChatMessageType, parts []llms.ContentPart) []llms.MessageContent {
	for i := range parts {
		msgs = append(msgs, llms.MessageContent{Role: role, Parts: parts[i : i+1 : i+1]})
	}
	return msgs
}

// isChanged reports whether parts is a copy of others, made to change it.
func isChanged(parts, others []llms.ContentPart) bool {
	return len(parts) > 0 && &parts[0] != &others[0]
}

// repairCalls repairs the calls of one message, and also returns them, in room if they fit
// there.
func repairCalls(parts []llms.ContentPart, response int, room []llms.ToolCall) ([]llms.ContentPart, []llms.ToolCall) {
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
			if !isChanged(out, parts) {
				out = slices.Clone(parts)
			}
			out[i] = c
		}
		calls = append(calls, c)
	}
	return out, calls
}

// uniqueID returns id, or an id made from the position of the call if id is empty or an earlier
// call of the response has it.
func uniqueID(id string, before []llms.ToolCall, response int) string {
	if id != "" && indexOf(before, id) < 0 {
		return id
	}
	return core.ToolCall{ID: id}.UniqueID(response, len(before), func(id string) bool { return indexOf(before, id) >= 0 })
}

func indexOf(calls []llms.ToolCall, id string) int {
	return slices.IndexFunc(calls, func(c llms.ToolCall) bool { return c.ID == id })
}

// objectArguments returns args if they are a JSON object. Otherwise args are the string that
// the framework unwrapped, and objectArguments wraps it again.
func objectArguments(args string) string {
	if text := strings.TrimSpace(args); text != "" && text[0] == '{' && valid(args) {
		return args
	}
	return core.ToolCall{Arguments: args}.SendableArguments()
}

// repairResults completes the results of one message from the calls in open. A result answers
// the call with its id; one without an id answers the first open call. The second result is
// open without the answered calls.
func repairResults(parts []llms.ContentPart, open []llms.ToolCall) ([]llms.ContentPart, []llms.ToolCall) {
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
		if !isChanged(out, parts) {
			out = slices.Clone(parts)
		}
		out[i] = r
	}
	return out, open
}

// splitScratchpad removes from the end of msgs the agent's own record of the current Call,
// which may be incomplete, and returns transcript to use in its place. If the two do not match,
// it returns msgs whole.
func splitScratchpad(msgs, transcript []llms.MessageContent, steps int) (before, current []llms.MessageContent) {
	from, results := len(msgs), 0
	for from > 0 && (msgs[from-1].Role == llms.ChatMessageTypeAI || msgs[from-1].Role == llms.ChatMessageTypeTool) {
		from--
		if msgs[from].Role == llms.ChatMessageTypeTool {
			results += len(msgs[from].Parts)
		}
	}
	if results != steps || len(transcript) == 0 {
		return msgs, nil
	}
	return msgs[:from], transcript
}
