package steps

import (
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// results appends what each call delivered to the result of that call.
func results(messages []core.Message, st *State) []core.Message {
	if len(st.Content.Calls) == 0 {
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
		if !lifetime.Shows(st.Mode, i < answered) || prompttext.HasParagraph(m.Text, st.Content.Calls[n].Text) {
			return
		}
		stub := len(m.Text)
		m.Text = st.Content.After(n, m.Text)
		m.Added = m.Text[stub:]
	})
	return messages
}

// content returns the index of the call whose result text is, or -1. It recognises
// the stored text by its receipt, and a text that an earlier view has extended by
// the content at its end.
func (st *State) content(text string) int {
	if call, ok := state.ReceiptCall(text); ok {
		return st.Content.Find(call)
	}
	for i := range st.Content.Calls {
		if prompttext.HasParagraph(text, st.Content.Calls[i].Text) {
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

// Unanswered is a call without a result in a request. Services refuse such a request.
type Unanswered struct {
	Call core.ToolCall
	// Back is how many user turns began after the call. Response numbers the responses of
	// its turn from 1, and Position is the index of the call in its response.
	Back, Response, Position int
}

// AllAnswered reports whether each call of a request has a result.
func AllAnswered(messages []core.Message) bool {
	for i := range messages {
		if len(messages[i].Calls) > 0 && len(lacking(messages, i)) > 0 {
			return false
		}
	}
	return true
}

// AnswerAll returns messages with a result for each call that has none, whose text is
// answer's. It stands in the order of the calls, between those of the other calls of its
// response. It returns messages themselves where nothing lacks.
func AnswerAll(messages []core.Message, answer func(Unanswered) string) []core.Message {
	back := countTurns(messages)
	response := 0
	for i := 0; i < len(messages); i++ {
		if isTurn(&messages[i]) {
			back, response = back-1, 0
		}
		if messages[i].Role != core.Assistant {
			continue
		}
		response++
		calls := messages[i].Calls
		if len(calls) == 0 {
			continue
		}
		for _, j := range lacking(messages, i) {
			text := answer(Unanswered{Call: calls[j], Back: back, Response: response, Position: j})
			messages = slices.Insert(messages, placeOf(messages, i, j), core.Message{
				Role: core.ToolResult, Text: text, Added: text, CallID: calls[j].ID, Tool: calls[j].Name, Origin: core.Inserted,
			})
		}
	}
	return messages
}

// unanswered adds the results that calls lack.
func unanswered(messages []core.Message, st *State) []core.Message {
	if st.Answer == nil {
		return messages
	}
	return AnswerAll(messages, st.Answer)
}

// lacking returns the positions of the calls of the response at i that have no result. A
// result answers the call with its id, or else the next one that has none.
func lacking(messages []core.Message, i int) []int {
	calls, results := messages[i].Calls, 0
	end := i + 1
	for end < len(messages) && messages[end].Role != core.Assistant {
		if messages[end].Role == core.ToolResult {
			results++
		}
		end++
	}
	if results >= len(calls) {
		return nil
	}
	open := make([]int, len(calls))
	for j := range open {
		open[j] = j
	}
	for k := i + 1; k < end && len(open) > 0; k++ {
		if m := &messages[k]; m.Role == core.ToolResult {
			at := slices.IndexFunc(open, func(j int) bool { return calls[j].ID == m.CallID })
			if at < 0 && m.CallID == "" {
				at = 0
			}
			if at >= 0 {
				open = slices.Delete(open, at, at+1)
			}
		}
	}
	return open
}

// placeOf returns the index for the result of the call at position j of the response at i:
// behind the results of the calls before it.
func placeOf(messages []core.Message, i, j int) int {
	place := i + 1
	earlier := messages[i].Calls[:j]
	for k := i + 1; k < len(messages) && messages[k].Role == core.ToolResult; k++ {
		if slices.ContainsFunc(earlier, func(c core.ToolCall) bool { return c.ID == messages[k].CallID }) {
			place = k + 1
		}
	}
	return place
}
