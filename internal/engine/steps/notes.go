package steps

import "github.com/satchel-go/satchel/core"

// notes appends each announced change of the catalog to the user message of the
// turn in which it was announced.
func notes(messages []core.Message, st *State) []core.Message {
	for i := range st.Record.Notes {
		n := &st.Record.Notes[i]
		if n.Text == "" {
			continue
		}
		if at := Anchor(messages, n.Anchor, st.Record.Turn); at >= 0 {
			extend(&messages[at], n.Text)
		}
	}
	return messages
}
