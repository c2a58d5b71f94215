package steps

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestAnswered(t *testing.T) {
	m := []core.Message{{Role: core.User}, {Role: core.Assistant}, {Role: core.ToolResult}}
	if !Answered(m, 0) || Answered(m, 1) || Answered(m, 2) || Answered(m[:1], 0) {
		t.Error("wrong about what an assistant message follows")
	}
}

// The results of the last response count as unanswered, however an agent writes the response into
// messages.
func TestAnsweredResponse(t *testing.T) {
	call := func(id, name string) core.ToolCall { return core.ToolCall{ID: id, Name: name} }
	user, text := core.Message{Role: core.User}, core.Message{Role: core.Assistant}
	says := func(calls ...core.ToolCall) core.Message { return core.Message{Role: core.Assistant, Calls: calls} }
	result := func(id, tool string) core.Message { return core.Message{Role: core.ToolResult, CallID: id, Tool: tool} }
	a, b, c := call("1", "load"), call("2", "load"), call("3", "run")
	for _, tt := range []struct {
		name     string
		messages []core.Message
		response []core.ToolCall
		want     int
	}{
		{"not known", []core.Message{user, says(a, b), result("1", "load"), result("2", "load")}, nil, 1},
		{"as it came", []core.Message{user, says(a, b), result("1", "load"), result("2", "load")}, []core.ToolCall{a, b}, 2},
		{"split", []core.Message{user, says(a), result("1", "load"), says(b), result("2", "load"), says(c), result("3", "run")}, []core.ToolCall{a, b, c}, 2},
		{"split, with one before", []core.Message{user, says(c), result("3", "run"), says(a), result("1", "load"), says(b), result("2", "load")}, []core.ToolCall{a, b}, 4},
		{"two in one message", []core.Message{user, says(a, b), result("1", "load"), result("2", "load")}, []core.ToolCall{b}, 3},
		{"ids repeat", []core.Message{user, says(a), result("1", "load"), says(a), result("1", "load")}, []core.ToolCall{a}, 4},
		{"no names", []core.Message{user, says(a), result("1", ""), says(b), result("2", "")}, []core.ToolCall{a, b}, 2},
		{"no ids", []core.Message{user, says(a), result("", "load"), says(b), result("", "load")}, []core.ToolCall{a, b}, 2},
		{"answered", []core.Message{user, says(a), result("1", "load"), text}, []core.ToolCall{a}, 3},
		{"answered without a call", []core.Message{user, says(a), result("1", "load"), text}, nil, 3},
		{"next turn", []core.Message{user, says(a), result("1", "load"), text, user}, []core.ToolCall{a}, 3},
		{"a response that was dropped", []core.Message{user, says(a), result("1", "load")}, []core.ToolCall{c}, 1},
		{"results are missing", []core.Message{user, says(a, b), result("1", "load")}, []core.ToolCall{a, c}, 1},
		{"nothing", nil, []core.ToolCall{a}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st := &State{Response: tt.response}
			if got := st.answered(tt.messages); got != tt.want {
				t.Errorf("answered before %d, want %d", got, tt.want)
			}
		})
	}
}
