package steps

import "github.com/satchel-go/satchel/core"

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
