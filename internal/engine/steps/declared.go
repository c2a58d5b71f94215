package steps

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
)

// declared appends skills that were loaded without a call of the model to the user
// message of their turn. They stay there.
func declared(messages []core.Message, st *State) []core.Message {
	for i := range st.Content.calls {
		c := &st.Content.calls[i]
		anchor := st.Record.Deliveries[c.first].Anchor
		if anchor == nil {
			continue
		}
		at := Anchor(messages, *anchor, st.Record.Turn)
		if at < 0 {
			continue
		}
		st.shown[i] = true
		if lifetime.Shows(st.Mode, at < lastAssistant(messages)) {
			extend(&messages[at], c.text)
		}
	}
	return messages
}
