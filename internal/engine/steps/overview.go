package steps

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// overview appends the session's overview to the host's system text, or adds a
// system message where the host has none.
// Decision 8 says why.
func overview(messages []core.Message, st *State) []core.Message {
	if st.Overview == "" {
		return messages
	}
	i := leadingSystem(messages)
	if i >= 0 && messages[i].Text != "" && !prompttext.HasParagraph(messages[i].Text, st.Overview) {
		m := &messages[i]
		host := len(m.Text)
		m.Text = st.Content.withOverview(m.Text, st.Overview)
		m.Added = m.Text[host:]
		return messages
	}
	if i >= 0 {
		extend(&messages[i], st.Overview)
		return messages
	}
	return insert(messages, 0, st.Overview)
}
