package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"
)

// repairedHistory completes the calls of earlier responses as they were completed when they
// came, and puts their results in order. The messages of a graph need neither, and input itself
// is returned. A history that a host builds from events needs both. It has the responses as the
// model sent them, because models report them before they are repaired. It has the results in
// the order in which the tools ended. No message is changed in place.
func repairedHistory(input []*schema.Message) []*schema.Message {
	out, responses := input, 0
	for i, m := range input {
		if m == nil || m.Role != schema.Assistant {
			continue
		}
		if len(m.ToolCalls) > 0 {
			if results := resultsAfter(input, i); !isComplete(m.ToolCalls, results) {
				if &out[0] == &input[0] {
					out = slices.Clone(input)
				}
				out[i], results = completed(m, results, responses)
				copy(out[i+1:], results)
			}
		}
		responses++
	}
	return out
}

// resultsAfter returns the results that follow the response at i.
func resultsAfter(input []*schema.Message, i int) []*schema.Message {
	end := i + 1
	for end < len(input) && input[end] != nil && input[end].Role == schema.Tool {
		end++
	}
	return input[i+1 : end]
}

// isComplete reports whether calls need no repair and have results in their
// order.
func isComplete(calls []schema.ToolCall, results []*schema.Message) bool {
	for i := range calls {
		c := &calls[i]
		if c.ID == "" || c.Function.Arguments == "" || hasID(calls[:i], c.ID) ||
			i < len(results) && results[i].ToolCallID != c.ID {
			return false
		}
	}
	return true
}

func hasID(calls []schema.ToolCall, id string) bool {
	return slices.ContainsFunc(calls, func(c schema.ToolCall) bool { return c.ID == id })
}

// completed repairs a response, before which there are so many others, and its
// results. The ids of its calls are made from their places again. In a history that
// was cut since, the results still have the old ids: then they are matched to the
// calls in their order.
func completed(m *schema.Message, results []*schema.Message, before int) (*schema.Message, []*schema.Message) {
	whole := (&repair{response: before}).whole(m)
	results = slices.Clone(results)
	answers := make([]int, len(m.ToolCalls)) // indexes of results, -1 for none
	for i := range answers {
		answers[i] = slices.IndexFunc(results, func(r *schema.Message) bool { return r.ToolCallID == whole.ToolCalls[i].ID })
	}
	for i := range answers {
		if answers[i] >= 0 {
			continue
		}
		call := &whole.ToolCalls[i]
		made := call.ID != m.ToolCalls[i].ID
		at := 0
		for at < len(results) && (slices.Contains(answers, at) || !mayAnswer(results[at], call, made)) {
			at++
		}
		if at == len(results) {
			continue
		}
		answers[i] = at
		if id := results[at].ToolCallID; id != "" && !hasID(whole.ToolCalls, id) {
			call.ID = id // made, so whole is a copy
			continue
		}
		named := *results[at]
		named.ToolCallID = call.ID
		results[at] = &named
	}
	return whole, inOrder(results, answers)
}

// mayAnswer reports whether a result may answer a call although their ids differ: one
// of the two had no id of its own.
func mayAnswer(result *schema.Message, call *schema.ToolCall, made bool) bool {
	return (made || result.ToolCallID == "") && (result.ToolName == "" || result.ToolName == call.Function.Name)
}

// inOrder returns results in the order of the calls that they answer, if each answers one.
// Calls may lack a result: Eino keeps none for tools that it does not know.
func inOrder(results []*schema.Message, answers []int) []*schema.Message {
	ordered := make([]*schema.Message, 0, len(results))
	for _, at := range answers {
		if at >= 0 {
			ordered = append(ordered, results[at])
		}
	}
	if len(ordered) != len(results) {
		return results
	}
	return ordered
}
