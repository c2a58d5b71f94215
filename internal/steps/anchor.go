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
	var users []int
	for i := range messages {
		if isTurn(&messages[i]) {
			users = append(users, i)
		}
	}
	same := func(n int) bool {
		if n < 0 || n >= len(users) {
			return false
		}
		m := &messages[users[n]]
		return state.MarkText(m.Text[:len(m.Text)-len(m.Added)]) == mark.Hash
	}
	expected := len(users) - 1 - max(0, turn-mark.Turn)
	switch {
	case same(expected):
		return users[expected]
	case same(mark.Ordinal):
		return users[mark.Ordinal]
	}
	for n := expected - 1; n >= 0; n-- {
		if same(n) {
			return users[n]
		}
	}
	return -1
}
