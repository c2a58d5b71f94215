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
