package steps

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// results appends what each call delivered to the result of that call.
// Decision 2 says why.
func results(messages []core.Message, st *State) []core.Message {
	if len(st.Content.calls) == 0 {
		return messages
	}
	answered := st.answered(messages)
	EachResult(messages, st.Delivers, func(i int) {
		m := &messages[i]
		n := st.content(m.Text)
		if n < 0 || st.shown[n] {
			return
		}
		st.shown[n] = true
		if !lifetime.Shows(st.Mode, i < answered) || prompttext.HasParagraph(m.Text, st.Content.calls[n].text) {
			return
		}
		stub := len(m.Text)
		m.Text = st.Content.after(n, m.Text)
		m.Added = m.Text[stub:]
	})
	return messages
}

// content returns the index of the call whose result text is, or -1. It recognises
// the stored text by its receipt, and a text that an earlier view has extended by
// the content at its end.
func (st *State) content(text string) int {
	if call, ok := state.ReceiptCall(text); ok {
		return st.Content.find(call)
	}
	for i := range st.Content.calls {
		if prompttext.HasParagraph(text, st.Content.calls[i].text) {
			return i
		}
	}
	return -1
}

// EachResult calls f with the index of each result of a tool in delivers. Results
// of other tools are never read as receipts, so no tool can place content by
// printing one.
func EachResult(messages []core.Message, delivers map[string]bool, f func(i int)) {
	var calls []core.ToolCall
	answer := 0 // results since the assistant message that made calls
	for i := range messages {
		switch m := &messages[i]; m.Role {
		case core.Assistant:
			calls, answer = m.Calls, 0
		case core.ToolResult:
			if delivers[toolOf(m, calls, answer)] {
				f(i)
			}
			answer++
		}
	}
}

// toolOf names the tool that a result answers. Some providers repeat call ids, even
// within one response. So only the calls of the assistant message before the
// results count, and of those first the one at the same position as the result.
func toolOf(m *core.Message, calls []core.ToolCall, answer int) string {
	if m.Tool != "" {
		return m.Tool
	}
	if c := callOf(m, calls, answer); c != nil {
		return c.Name
	}
	return ""
}

func callOf(m *core.Message, calls []core.ToolCall, answer int) *core.ToolCall {
	if answer < len(calls) && (m.CallID == "" || calls[answer].ID == m.CallID) {
		return &calls[answer]
	}
	if m.CallID != "" {
		for i := range calls {
			if calls[i].ID == m.CallID {
				return &calls[i]
			}
		}
	}
	return nil
}

// CallOf returns the call that the result at index i answers, or nil if the request
// does not contain it.
func CallOf(messages []core.Message, i int) *core.ToolCall {
	answer, at := 0, i-1
	for at >= 0 && messages[at].Role != core.Assistant {
		if messages[at].Role == core.ToolResult {
			answer++
		}
		at--
	}
	if at < 0 {
		return nil
	}
	return callOf(&messages[i], messages[at].Calls, answer)
}
