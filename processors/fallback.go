package processors

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// FallbackHeading begins the system message that holds content whose own
// message is not in the request.
const FallbackHeading = "Loaded skill context:"

// Fallback adds one system message with the content that is loaded but whose
// message is missing: cut from the history, suppressed, or of another process.
func Fallback(messages []core.Message, st *State) []core.Message {
	var parts []string
	for i := range st.Content.calls {
		if st.shown[i] {
			continue
		}
		c := &st.Content.calls[i]
		for j, part := range c.parts {
			if st.attaches(&st.Record.Deliveries[c.first+j]) {
				parts = append(parts, part)
			} else if !slices.Contains(st.hidden, c.call) {
				st.hidden = append(st.hidden, c.call)
			}
		}
	}
	if parts == nil {
		return messages
	}
	text := FallbackHeading + "\n\n" + strings.Join(parts, "\n\n")
	at := leadingSystem(messages) + 1
	if at > 0 && messages[at-1].Text == text {
		return messages
	}
	return insert(messages, at, core.System, text)
}

// attaches reports whether a delivery that has no place in the request is
// shown all the same. So is what a newer text supersedes, until the next break:
// this message stands near the beginning of the request, and whatever leaves it
// earlier breaks the prefix.
func (st *State) attaches(d *session.Delivery) bool {
	if !loadmode.ShowsElsewhere(st.Mode, d) {
		return false
	}
	return !st.Summary || st.Rule == SummaryAttach || st.Rule == SummaryAuto && d.Seen
}
