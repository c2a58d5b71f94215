// Package lifetime decides when a load ends: with its turn, after one use, with the
// session, or because another load needs the room. It also finds out when a turn
// begins, and when it pays to clear expired content. All of it is a pure function
// of its arguments.
package lifetime

import (
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// maxTokens is how many tokens of earlier turns a record remembers.
const maxTokens = 32

// Advance begins user turn number rec.Turn+1, which was found by the host's token
// or by the user message, and ends everything that ends with the turn before. It
// changes rec.
//
// In modes Turn, Once and Adaptive every load of the last turn ends. In mode Session loads
// stay, and so does every byte that they show. In all modes the lists of allowed
// tools of skills that are no longer loaded stop applying, and calls of the last
// turn that were never executed are forgotten.
func Advance(rec *state.Record, mode loadmode.Mode, token string, user state.Mark) {
	rec.Turn++
	if rec.Token != "" {
		rec.Tokens = append(rec.Tokens, rec.Token)
		rec.Tokens = rec.Tokens[max(0, len(rec.Tokens)-maxTokens):]
	}
	rec.Token = token
	user.Turn = rec.Turn
	rec.User = user
	rec.Pending, rec.Unnumbered = nil, nil
	rec.Before, rec.Ran = nil, nil
	if mode != loadmode.Session {
		rec.Active = nil
		rec.Deliveries = nil
	}
	rec.EndLists()
}

// Shows reports whether a delivery whose message is in the request shows its
// content. answered says whether an assistant message follows that message.
func Shows(mode loadmode.Mode, answered bool) bool {
	return mode != loadmode.Once || !answered
}

// ShowsElsewhere is Shows for a delivery whose message is not in the request.
func ShowsElsewhere(mode loadmode.Mode, d *state.Delivery) bool {
	return mode != loadmode.Once || !d.Spent
}

// Spend notes that the model has answered to everything that was delivered so far,
// and reports whether that changed rec. It does so in mode Once only, the only mode
// that needs it.
func Spend(rec *state.Record, mode loadmode.Mode) bool {
	if mode != loadmode.Once {
		return false
	}
	changed := false
	for i := range rec.Deliveries {
		if !rec.Deliveries[i].Spent {
			rec.Deliveries[i].Spent = true
			changed = true
		}
	}
	return changed
}
