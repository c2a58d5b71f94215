// Package steps turns the request of a framework into the request that the model
// gets. It adds the overview of the catalog and the contents of the loaded skills.
//
// Every step is a pure function of the messages and the state: the same input
// gives the same bytes. Text is only ever appended to a message and never
// rewritten. Rendering a view again gives the same view.
package steps

import (
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// State holds what the steps need besides the messages.
type State struct {
	// Record is the agent's record, and Content has the texts of its deliveries.
	Record  *state.Record
	Content *state.Content
	// Attached maps a message's Origin to the lines that announce its files.
	Attached map[int]string
	// Overview is the session's overview with the bodies of preloaded skills, "" for none.
	Overview string
	Mode     loadmode.Mode
	// Summary reports that a summary replaces part of the history. Rule then decides about
	// content whose message is missing.
	Summary bool
	Rule    processors.SummaryRule
	// Delivers are the names of the tools whose results show content.
	Delivers map[string]bool
	// Response are the calls of the model's last response, if they are known. Only mode Once
	// needs them.
	Response []core.ToolCall
	// Answer returns the result of a call that has none in the request. It is nil if every call
	// has one.
	Answer func(Unanswered) string
	// Space is memory for the view; see [core.Request].
	Space []core.Message
	// Places collects where the texts of Satchel stand in the view. It is nil without a tracer.
	Places *[]Place

	// shown reports, for each call of Content, that its content has a place in the request.
	shown []bool
	// out collects the content without a place in the request.
	out Displaced
}

// Displaced lists deliveries whose own message is not in the request.
type Displaced struct {
	// Hidden are those that the request leaves out because of the summary rule.
	Hidden []state.DeliveryKey
	// Fallback are those that the request shows in the fallback message.
	Fallback []state.DeliveryKey
}

// Processor is one step of rendering. It may change or replace the slice of messages, but not the
// memory to which messages refer.
type Processor func([]core.Message, *State) []core.Message

// Chain returns the steps for a placement, in the order in which they run.
func Chain(p processors.Placement) []Processor {
	if p == processors.InSystem {
		return []Processor{unanswered, overview, activeSkills, attached, notes}
	}
	return []Processor{unanswered, overview, results, attached, notes, declared, fallback}
}

// Render applies the steps of chain to a copy of messages. It first removes what an earlier view
// has added, so rendering a view again gives the same view.
func Render(chain []Processor, messages []core.Message, st State) ([]core.Message, Displaced) {
	view := st.Space[:0]
	if cap(view) < len(messages) {
		view = make([]core.Message, 0, len(messages)+2)
	}
	for _, m := range messages {
		if m.Origin != core.Inserted {
			m.Text, m.Added = m.Text[:len(m.Text)-len(m.Added)], ""
			view = append(view, m)
		}
	}
	st.shown = make([]bool, len(st.Content.Calls))
	for _, step := range chain {
		view = step(view, &st)
	}
	return view, st.out
}

// extend appends text to a message as a paragraph, unless the message already ends with it. It
// returns where the paragraph begins.
func extend(m *core.Message, text string) (start int) {
	sep := "\n\n"
	if m.Text == "" {
		sep = ""
	}
	if prompttext.HasParagraph(m.Text, text) {
		return len(m.Text) - len(text)
	}
	start = len(m.Text)
	m.Added += sep + text
	m.Text += sep + text
	return start
}

// leadingSystem returns the index of the last system message before all other messages, or -1.
func leadingSystem(messages []core.Message) int {
	last := -1
	for last+1 < len(messages) && messages[last+1].Role == core.System {
		last++
	}
	return last
}

// insert inserts a system message of Satchel at index i.
func insert(messages []core.Message, i int, text string) []core.Message {
	return slices.Insert(messages, i, core.Message{
		Role: core.System, Text: text, Added: text, Origin: core.Inserted,
	})
}

// overview appends the session's overview to the host's system text, or adds a system message if
// there is none.
func overview(messages []core.Message, st *State) []core.Message {
	if st.Overview == "" {
		return messages
	}
	i := leadingSystem(messages)
	if i >= 0 && messages[i].Text != "" && !prompttext.HasParagraph(messages[i].Text, st.Overview) {
		m := &messages[i]
		host := len(m.Text)
		m.Text = st.Content.WithOverview(m.Text, st.Overview)
		m.Added = m.Text[host:]
		st.place(messages, i, host)
		return messages
	}
	if i >= 0 {
		st.place(messages, i, extend(&messages[i], st.Overview))
		return messages
	}
	messages = insert(messages, 0, st.Overview)
	st.place(messages, 0, 0)
	return messages
}

// notes appends each note of the record to the user message of its turn.
func notes(messages []core.Message, st *State) []core.Message {
	for i := range st.Record.Notes {
		n := &st.Record.Notes[i]
		if n.Text == "" {
			continue
		}
		if at := Anchor(messages, n.Anchor, st.Record.Turn); at >= 0 {
			st.place(messages, at, extend(&messages[at], n.Text))
		}
	}
	return messages
}

// declared appends the content of skills that were loaded without a call to the user message of
// their turn.
func declared(messages []core.Message, st *State) []core.Message {
	for i := range st.Content.Calls {
		c, d := &st.Content.Calls[i], st.delivery(i)
		if d.Anchor == nil {
			continue
		}
		at := Anchor(messages, *d.Anchor, st.Record.Turn)
		if at < 0 {
			continue
		}
		st.shown[i] = true
		if lifetime.Shows(st.Mode, d, at < lastAssistant(messages)) {
			st.placeCall(messages, at, extend(&messages[at], c.Text), i)
		}
	}
	return messages
}

// delivery returns the first delivery of the call with that index.
func (st *State) delivery(call int) *state.Delivery {
	return &st.Record.Deliveries[st.Content.Calls[call].First]
}

// attached appends the lines about attached files to the user messages that brought them.
func attached(messages []core.Message, st *State) []core.Message {
	if len(st.Attached) == 0 {
		return messages
	}
	for i := range messages {
		if m := &messages[i]; m.Role == core.User && m.Origin != core.Inserted && st.Attached[m.Origin] != "" {
			extend(m, st.Attached[m.Origin])
		}
	}
	return messages
}

// AttachedLines returns the lines that announce files with a name in the workspace, by the Origin
// of their message. They depend only on the files' names, types and sizes.
func AttachedLines(files []core.File) map[int]string {
	lines := make(map[int]string)
	for i := range files {
		f := &files[i]
		if f.As == "" {
			continue
		}
		line := "[attached: work/inputs/" + f.As
		if kind, _, err := mime.ParseMediaType(f.MIME); err == nil && len(kind) <= 255 && strings.Contains(kind, "/") {
			line += ", " + kind
		}
		if f.Size > 0 {
			line += ", " + size(f.Size)
		}
		if before := lines[f.Origin]; before != "" {
			line = before + "\n" + line
		}
		lines[f.Origin] = line + "]"
	}
	return lines
}

// size formats a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 999_500:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// Anchor returns the index of the user message that mark identifies, or -1; see
// [state.Scan.Anchor].
func Anchor(messages []core.Message, mark state.Mark, turn int) int {
	s := state.ScanMessages(messages, 0)
	return s.Anchor(mark, turn)
}

// Place says where a text of Satchel stands in a view.
type Place struct {
	// Message is the index of the message. Start and End are bytes of its text. Text is where the
	// text begins, after separators and headings.
	Message, Start, Text, End int
	// Call and Part are indices in [state.Content]: the call, and its part. Call is -1 for the
	// overview and for notes. IsCurrent reports that the text lacks superseded docs.
	Call, Part int
	IsCurrent  bool
}

// noCall is the Call of an overview or a note.
const noCall = -1

// place notes the overview, or a note, from start to the end of message i.
func (st *State) place(messages []core.Message, i, start int) {
	if st.Places != nil {
		*st.Places = append(*st.Places, Place{Message: i, Start: start, Text: start, End: len(messages[i].Text), Call: noCall})
	}
}

// placeCall notes the content of call n, from start to the end of message i.
func (st *State) placeCall(messages []core.Message, i, start, n int) {
	if st.Places == nil {
		return
	}
	c := &st.Content.Calls[n]
	end := len(messages[i].Text)
	var parts []Place
	for j := range c.Parts {
		parts = st.withPart(parts, n, j, c.Parts[j])
	}
	st.placeParts(parts, Place{Message: i, Start: start, Text: end - len(c.Text), End: end}, len(partSeparator))
}

// withPart adds part j of call i with its text to parts, for placeParts.
func (st *State) withPart(parts []Place, i, j int, text string) []Place {
	if st.Places == nil {
		return nil
	}
	return append(parts, Place{Call: i, Part: j, End: len(text), IsCurrent: text != st.Content.Calls[i].Parts[j]})
}

// placeParts notes parts that stand in one paragraph, with separators of that size between them.
// paragraph says where the first part begins and where the paragraph ends. The End of a part is its size.
func (st *State) placeParts(parts []Place, paragraph Place, separator int) {
	start, text := paragraph.Start, paragraph.Text
	for k, p := range parts {
		p.Message, p.Start, p.Text, p.End = paragraph.Message, start, text, text+p.End
		if k == len(parts)-1 {
			p.End = paragraph.End
		}
		*st.Places = append(*st.Places, p)
		start, text = p.End, p.End+separator
	}
}

// shiftPlaces notes that a message is inserted at index i.
func (st *State) shiftPlaces(i int) {
	if st.Places == nil {
		return
	}
	for k := range *st.Places {
		if p := &(*st.Places)[k]; p.Message >= i {
			p.Message++
		}
	}
}
