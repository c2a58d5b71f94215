package steps

import (
	"slices"

	"github.com/satchel-go/satchel/core"
)

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
