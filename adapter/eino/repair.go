package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// noArguments is what a call without arguments has to say in the next request.
const noArguments = "{}"

// repair completes the calls of one response: each has an id of its own, and
// arguments where the model sent none. It never changes a message in place.
type repair struct {
	response int // assistant messages before this one
	ids      []string
	streamed []*streamedCall // in the order in which they begin
}

// streamedCall is a call of which deltas have come.
type streamedCall struct {
	index     int
	sent, id  string // the id that came, and the one that it has now
	arguments bool
}

// countResponses counts the assistant messages of a request.
func countResponses(messages []*schema.Message) int {
	n := 0
	for _, m := range messages {
		if m != nil && m.Role == schema.Assistant {
			n++
		}
	}
	return n
}

// next returns the id of the next call of the response.
func (r *repair) next(id string) string {
	id = core.ToolCall{ID: id}.UniqueID(r.response, len(r.ids), func(id string) bool { return slices.Contains(r.ids, id) })
	r.ids = append(r.ids, id)
	return id
}

// whole completes a complete message.
func (r *repair) whole(m *schema.Message) *schema.Message {
	out := m
	for i := range m.ToolCalls {
		call := m.ToolCalls[i]
		call.ID = r.next(call.ID)
		if call.Function.Arguments == "" {
			call.Function.Arguments = noArguments
		}
		out = withCall(out, m, i, call)
	}
	return out
}

// chunk completes one chunk of a streamed message.
func (r *repair) chunk(m *schema.Message) *schema.Message {
	out := m
	for i := range m.ToolCalls {
		call := m.ToolCalls[i]
		if call.Index == nil { // a call that comes in one piece
			call.ID = r.next(call.ID)
			if call.Function.Arguments == "" {
				call.Function.Arguments = noArguments
			}
		} else {
			r.delta(&call)
		}
		out = withCall(out, m, i, call)
	}
	return out
}

func (r *repair) delta(call *schema.ToolCall) {
	at := slices.IndexFunc(r.streamed, func(s *streamedCall) bool { return s.index == *call.Index })
	if at < 0 {
		s := &streamedCall{index: *call.Index, sent: call.ID, id: r.next(call.ID)}
		call.ID = s.id
		r.streamed = append(r.streamed, s)
		at = len(r.streamed) - 1
	} else if s := r.streamed[at]; call.ID != "" && (call.ID == s.sent || s.sent == "") {
		call.ID = s.id // some providers repeat it in every delta
	}
	if call.Function.Arguments != "" {
		r.streamed[at].arguments = true
	}
}

// rest is the chunk that ends a streamed message, nil if there is nothing to
// add.
func (r *repair) rest() *schema.Message {
	var calls []schema.ToolCall
	for _, s := range r.streamed {
		if !s.arguments {
			calls = append(calls, schema.ToolCall{Index: &s.index, Function: schema.FunctionCall{Arguments: noArguments}})
		}
	}
	if calls == nil {
		return nil
	}
	return &schema.Message{Role: schema.Assistant, ToolCalls: calls}
}

// withCall returns out with a call replaced. Out is m itself, which stays as it
// is, until the first call that differs.
func withCall(out, m *schema.Message, i int, call schema.ToolCall) *schema.Message {
	if old := &m.ToolCalls[i]; old.ID == call.ID && old.Function.Name == call.Function.Name && old.Function.Arguments == call.Function.Arguments {
		return out
	}
	if out == m {
		copied := *m
		copied.ToolCalls = slices.Clone(m.ToolCalls)
		out = &copied
	}
	out.ToolCalls[i] = call
	return out
}

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
