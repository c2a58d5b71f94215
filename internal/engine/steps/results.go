package steps

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// results appends the content of each call to the result of that call.
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
		if !lifetime.Shows(st.Mode, st.delivery(n), i < answered) {
			return
		}
		stub := len(m.Text)
		if text := st.Content.Calls[n].Text; prompttext.HasParagraph(m.Text, text) {
			stub -= len(text)
		} else {
			m.Text = st.Content.After(n, m.Text)
			m.Added = m.Text[stub:]
		}
		st.placeCall(messages, i, stub, n)
	})
	return messages
}

// content returns the index of the call whose result text is, or -1. It finds the call by the
// receipt in a stored result, or by the content that an earlier view has appended.
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

// EachResult calls f with the index of each result of a tool in delivers. It skips results of
// other tools, so that no tool can place content by printing a receipt.
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

// toolOf returns the name of the tool whose result m is. calls are the calls of the assistant
// message before, and answer is the position of m among their results.
func toolOf(m *core.Message, calls []core.ToolCall, answer int) string {
	if m.Tool != "" {
		return m.Tool
	}
	if c := callOf(m, calls, answer); c != nil {
		return c.Name
	}
	return ""
}

// callOf returns the call that m answers, or nil. Some providers repeat ids, even within one
// response. So it prefers the call at the same position as the result, and only considers calls
// of the assistant message before.
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

// CallOf returns the call that the result at index i answers, or nil if the request does not
// contain the call.
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

// Answered reports whether an assistant message follows message i.
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

// answered returns the index before which the model has answered every result. It looks for the
// results of the last response first. Some agents write each call of a response as a message of
// its own, or the calls of two responses as one message. If there are none, it returns the index
// of the last assistant message.
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

// Unanswered is a call without a result in a request. Providers refuse such a request.
type Unanswered struct {
	Call core.ToolCall
	// Back is how many user turns began after the call. Response is the number of its response in
	// the turn, from 1, and Position the index of the call in its response.
	Back, Response, Position int
}

// AllAnswered reports whether every call in messages has a result.
func AllAnswered(messages []core.Message) bool {
	for i := range messages {
		if len(messages[i].Calls) > 0 && len(lacking(messages, i)) > 0 {
			return false
		}
	}
	return true
}

// AnswerAll adds a result for every call that has none. answer returns its text. The results of a
// response are in the order of its calls. AnswerAll returns messages itself if no result is
// missing.
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

// unanswered is the step that adds missing results.
func unanswered(messages []core.Message, st *State) []core.Message {
	if st.Answer == nil {
		return messages
	}
	return AnswerAll(messages, st.Answer)
}

// lacking returns the positions of the calls in message i that have no result. A result answers
// the call with the same id. A result without an id answers the next open call.
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

// placeOf returns the index at which to insert the result of call j of message i: after the
// results of the calls before it.
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

// FallbackHeading is the first line of the system message that holds loaded content
// whose own message is not in the request.
const FallbackHeading = "Loaded skill context:"

// partSeparator stands between the texts that one call delivered.
const partSeparator = "\n\n"

// fallback adds one system message with loaded content whose own message is not in the request.
// The host may have cut or suppressed that message, or another process may have it.
func fallback(messages []core.Message, st *State) []core.Message {
	var parts []string
	var places []Place
	for i := range st.Content.Calls {
		if st.shown[i] {
			continue
		}
		c := &st.Content.Calls[i]
		for j := range c.Parts {
			d := &st.Record.Deliveries[c.First+j]
			if !st.attaches(d) {
				st.out.Hidden = append(st.out.Hidden, d.Key())
			} else if part := st.part(c, j); part != "" {
				st.out.Fallback = append(st.out.Fallback, d.Key())
				parts = append(parts, part)
				places = st.withPart(places, i, j, part)
			}
		}
	}
	if parts == nil {
		return messages
	}
	text := FallbackHeading + partSeparator + strings.Join(parts, partSeparator)
	at := leadingSystem(messages) + 1
	paragraph := Place{Message: at, Text: len(FallbackHeading) + len(partSeparator), End: len(text)}
	if at > 0 && messages[at-1].Text == text {
		paragraph.Message--
		st.placeParts(places, paragraph, len(partSeparator))
		return messages
	}
	st.shiftPlaces(at)
	st.placeParts(places, paragraph, len(partSeparator))
	return insert(messages, at, text)
}

// part returns the text of one delivery in the fallback message. It usually keeps superseded text
// until the next break, because this message is near the beginning of the request and removing
// text from it breaks the prefix. If the newer text moves into this message too, the prefix
// breaks anyway, and part drops the older text.
func (st *State) part(c *state.CallContent, j int) string {
	d := &st.Record.Deliveries[c.First+j]
	for i := range st.Content.Calls {
		newer := &st.Content.Calls[i]
		if st.shown[i] || newer.Call <= c.Call {
			continue
		}
		for k := newer.First; k < newer.Last; k++ {
			switch e := &st.Record.Deliveries[k]; {
			case e.Skill != d.Skill || e.Old:
			case d.Old:
				return ""
			case supersedesDoc(e, d):
				return c.Current[j]
			}
		}
	}
	return c.Parts[j]
}

// supersedesDoc reports whether e has a newer text of a doc in d.
func supersedesDoc(e, d *state.Delivery) bool {
	return slices.ContainsFunc(d.Docs, func(old state.Doc) bool {
		return old.Old && slices.ContainsFunc(e.Docs, func(doc state.Doc) bool { return old.IsCoveredBy(doc.Name) })
	})
}

// attaches reports whether the fallback message shows a delivery that has no place in the
// request.
func (st *State) attaches(d *state.Delivery) bool {
	if d.Ended || !lifetime.ShowsInFallback(st.Mode, d) {
		return false
	}
	return d.IsTask || !st.Summary || st.Rule == processors.SummaryAttach || st.Rule == processors.SummaryAuto && d.Seen
}

const activeIntro = "These skills are loaded. Where they conflict, a later one takes precedence."

// activeSkills appends the content of the loaded skills to the host's system text, in load order.
func activeSkills(messages []core.Message, st *State) []core.Message {
	if len(st.Content.Calls) == 0 {
		return messages
	}
	if st.Mode == loadmode.Once {
		hideAnswered(messages, st)
	}
	var b strings.Builder
	var places []Place
	for _, a := range st.Record.Active {
		for i := range st.Content.Calls {
			if st.shown[i] {
				continue
			}
			for j, block := range st.Content.Calls[i].Current {
				d := &st.Record.Deliveries[st.Content.Calls[i].First+j]
				if d.Skill == a.Skill && !d.Old && block != "" {
					places = st.withPart(places, i, j, block)
					b.WriteByte('\n')
					b.WriteString(block)
				}
			}
		}
	}
	if b.Len() == 0 {
		return messages
	}
	heading := "<active_skills>\n" + activeIntro
	text := heading + b.String() + "\n</active_skills>"
	i, start := leadingSystem(messages), 0
	if i >= 0 {
		start = extend(&messages[i], text)
	} else {
		i, messages = 0, insert(messages, 0, text)
	}
	end := len(messages[i].Text)
	st.placeParts(places, Place{Message: i, Start: start, Text: end - len(text) + len(heading) + 1, End: end}, 1)
	return messages
}

// hideAnswered marks the content that the model has already answered as shown, so that no later
// step shows it again.
func hideAnswered(messages []core.Message, st *State) {
	answered := st.answered(messages)
	for i := range st.Content.Calls {
		st.shown[i] = !lifetime.ShowsInFallback(st.Mode, st.delivery(i))
	}
	EachResult(messages, st.Delivers, func(i int) {
		if n := st.content(messages[i].Text); n >= 0 {
			st.shown[n] = !lifetime.Shows(st.Mode, st.delivery(n), i < answered)
		}
	})
}
