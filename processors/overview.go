package processors

import "github.com/satchel-go/satchel/core"

// Overview adds the session's overview after the host's own system text, or as
// a system message where the host has none.
func Overview(messages []core.Message, st *State) []core.Message {
	if st.Overview == "" {
		return messages
	}
	if i := leadingSystem(messages); i >= 0 {
		extend(&messages[i], st.Overview)
		return messages
	}
	return insert(messages, 0, core.System, st.Overview)
}
