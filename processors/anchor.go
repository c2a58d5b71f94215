package processors

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// MarkText returns the hash by which a user message is recognised later.
func MarkText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// anchored finds the user message of a mark, or -1. It has the mark's text. Of
// several with that text it is the one as many user messages from the end as
// turns have passed since, which holds in a history that was cut at the front
// too; or, where a turn is not one message, the one at the mark's place from
// the front, or else the next one before.
func anchored(messages []core.Message, mark session.Mark, turn int) int {
	var users []int
	for i := range messages {
		if messages[i].Role == core.User && !messages[i].Rewritten {
			users = append(users, i)
		}
	}
	same := func(n int) bool {
		if n < 0 || n >= len(users) {
			return false
		}
		m := &messages[users[n]]
		return MarkText(m.Text[:len(m.Text)-len(m.Added)]) == mark.Hash
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

// Anchored reports whether the user message of a mark is in the request.
func Anchored(messages []core.Message, mark session.Mark, turn int) bool {
	return anchored(messages, mark, turn) >= 0
}
