package steps

import "github.com/satchel-go/satchel/core"

// Answered reports whether the model has answered since message i, that is, whether
// an assistant message follows it.
func Answered(messages []core.Message, i int) bool { return i < lastAssistant(messages) }

// lastAssistant returns the index of the last assistant message, or -1.
func lastAssistant(messages []core.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == core.Assistant {
			return i
		}
	}
	return -1
}

// answered returns the index before which the model has answered to every result.
// Some agents write each call of one response as a message of its own, or the calls
// of two responses as one message. So the results of the last response are looked
// for first, and only without them does the last assistant message decide.
func (st *State) answered(messages []core.Message) int {
	first, calls := -1, st.Response
	for i := len(messages) - 1; i >= 0 && len(calls) > 0; i-- {
		m := &messages[i]
		if m.Role == core.Assistant && len(m.Calls) > 0 {
			continue
		}
		if m.Role != core.ToolResult || !isAnswer(m, &calls[len(calls)-1]) {
			break
		}
		first, calls = i, calls[:len(calls)-1]
	}
	if first >= 0 {
		return first
	}
	return lastAssistant(messages)
}

func isAnswer(result *core.Message, call *core.ToolCall) bool {
	return (result.CallID == call.ID || result.CallID == "" || call.ID == "") &&
		(result.Tool == call.Name || result.Tool == "")
}
