package eino

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/core"
)

// noArguments replaces empty arguments, which services refuse in the next request.
const noArguments = "{}"

// repair completes the calls of one response: each gets an id of its own, and arguments if the
// model sent none. It never changes a message in place.
type repair struct {
	response int // how many assistant messages the request has
	ids      []string
	streamed []*streamedCall // in the order in which they begin
}

// streamedCall is a call that arrives in deltas.
type streamedCall struct {
	index        int
	sent, id     string // the provider's id, and the repaired one
	hasArguments bool
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

// nextID returns the id for the next call of the response, which has the given id.
func (r *repair) nextID(id string) string {
	id = core.ToolCall{ID: id}.UniqueID(r.response, len(r.ids), func(id string) bool { return slices.Contains(r.ids, id) })
	r.ids = append(r.ids, id)
	return id
}

// completeMessage completes the calls of a message that is not streamed.
func (r *repair) completeMessage(m *schema.Message) *schema.Message {
	out := m
	for i := range m.ToolCalls {
		call := m.ToolCalls[i]
		call.ID = r.nextID(call.ID)
		if call.Function.Arguments == "" {
			call.Function.Arguments = noArguments
		}
		out = withCall(out, m, i, call)
	}
	return out
}

// completeChunk completes the calls of one chunk of a streamed message.
func (r *repair) completeChunk(m *schema.Message) *schema.Message {
	out := m
	for i := range m.ToolCalls {
		call := m.ToolCalls[i]
		if call.Index == nil { // a call that comes in one piece
			call.ID = r.nextID(call.ID)
			if call.Function.Arguments == "" {
				call.Function.Arguments = noArguments
			}
		} else {
			r.completeDelta(&call)
		}
		out = withCall(out, m, i, call)
	}
	return out
}

// completeDelta completes one delta of a call. The first delta of a call begins it.
func (r *repair) completeDelta(call *schema.ToolCall) {
	at := slices.IndexFunc(r.streamed, func(s *streamedCall) bool { return s.index == *call.Index })
	if at < 0 {
		s := &streamedCall{index: *call.Index, sent: call.ID, id: r.nextID(call.ID)}
		call.ID = s.id
		r.streamed = append(r.streamed, s)
		at = len(r.streamed) - 1
	} else if s := r.streamed[at]; call.ID != "" && (call.ID == s.sent || s.sent == "") {
		call.ID = s.id // some providers repeat it in every delta
	}
	if call.Function.Arguments != "" {
		r.streamed[at].hasArguments = true
	}
}

// lastChunk returns a chunk to append to a streamed message: it has arguments for the calls
// that came without. It is nil if none is needed.
func (r *repair) lastChunk() *schema.Message {
	var calls []schema.ToolCall
	for _, s := range r.streamed {
		if !s.hasArguments {
			calls = append(calls, schema.ToolCall{Index: &s.index, Function: schema.FunctionCall{Arguments: noArguments}})
		}
	}
	if calls == nil {
		return nil
	}
	return &schema.Message{Role: schema.Assistant, ToolCalls: calls}
}

// withCall returns out with call i replaced. out is m itself until the first call that differs,
// and then a copy; m never changes.
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

// repairHistory gives the calls of earlier responses the ids and arguments that they got when
// they arrived, and puts their results in order. The messages of an Eino graph need neither; it
// then returns input itself. The history that a host builds from events needs both. Models
// report responses as events before they are repaired, and results arrive in the order in which
// the tools ended. No message is changed in place.
func repairHistory(input []*schema.Message) []*schema.Message {
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
				out[i], results = repairResponse(m, results, responses)
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

// isComplete reports whether the calls need no repair and the results are in the order of the
// calls.
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

// repairResponse repairs a response and its results; before is the number of responses before
// it. Missing ids are generated from the places of the calls, as when the response arrived. If
// the host has cut the history since, the places have changed and the results still have the
// old ids. Then the results are matched to the calls in their order.
func repairResponse(m *schema.Message, results []*schema.Message, before int) (*schema.Message, []*schema.Message) {
	repaired := (&repair{response: before}).completeMessage(m)
	results = slices.Clone(results)
	answers := make([]int, len(m.ToolCalls)) // indexes of results, -1 for none
	for i := range answers {
		answers[i] = slices.IndexFunc(results, func(r *schema.Message) bool { return r.ToolCallID == repaired.ToolCalls[i].ID })
	}
	for i := range answers {
		if answers[i] >= 0 {
			continue
		}
		call := &repaired.ToolCalls[i]
		isGenerated := call.ID != m.ToolCalls[i].ID
		at := 0
		for at < len(results) && (slices.Contains(answers, at) || !mayAnswer(results[at], call, isGenerated)) {
			at++
		}
		if at == len(results) {
			continue
		}
		answers[i] = at
		if id := results[at].ToolCallID; id != "" && !hasID(repaired.ToolCalls, id) {
			call.ID = id // generated, so repaired is a copy
			continue
		}
		copied := *results[at]
		copied.ToolCallID = call.ID
		results[at] = &copied
	}
	return repaired, inOrder(results, answers)
}

// mayAnswer reports whether a result may answer a call although their ids differ. One of the
// two must have come without an id: isGenerated reports this of the call.
func mayAnswer(result *schema.Message, call *schema.ToolCall, isGenerated bool) bool {
	return (isGenerated || result.ToolCallID == "") && (result.ToolName == "" || result.ToolName == call.Function.Name)
}

// inOrder returns results in the order of the calls that they answer, or unchanged if one of
// them answers no call. A call may lack a result: Eino stores none for a tool that it does not
// know.
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
