package steps

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Anchor returns the index of the user message that a mark was made of, or -1. Of
// several messages with the mark's text it prefers the one that is as many user
// messages from the end as turns have passed since; that also works for a history
// that was cut at its front. Where a turn is not exactly one message, it takes the
// one at the mark's position from the front, and else the nearest earlier one.
func Anchor(messages []core.Message, mark state.Mark, turn int) int {
	s := state.ScanMessages(messages, 0)
	return s.Anchor(mark, turn)
}
