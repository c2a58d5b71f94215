package loadmode

import "github.com/satchel-go/satchel/session"

// maxTokens is how many tokens of earlier turns a record remembers.
const maxTokens = 32

// Advance ends what the beginning of a user turn ends and begins turn number
// rec.Turn+1, found by token or by the user message. It changes rec.
//
// In modes Turn and Once every load of the last turn ends. In mode Session
// loads stay, and so does each byte of what they show. In every mode, lists of
// skills that are no longer loaded cease to hold, and calls of the last turn
// that were never executed are forgotten.
func Advance(rec *session.Record, mode Mode, token string, user session.Mark) {
	rec.Turn++
	if rec.Token != "" {
		rec.Tokens = append(rec.Tokens, rec.Token)
		rec.Tokens = rec.Tokens[max(0, len(rec.Tokens)-maxTokens):]
	}
	rec.Token = token
	user.Turn = rec.Turn
	rec.User = user
	rec.Pending, rec.Others = nil, nil
	if mode != Session {
		rec.Active = nil
		rec.Deliveries = nil
	}
	rec.Release()
}

// Shows reports whether a delivery whose message is in the request shows its
// content. answered says that an assistant message follows that message.
func Shows(mode Mode, answered bool) bool {
	return mode != Once || !answered
}

// ShowsElsewhere is the same for a delivery whose message is not in the
// request.
func ShowsElsewhere(mode Mode, d *session.Delivery) bool {
	return mode != Once || !d.Spent
}

// Spend notes that the model has answered to all that was delivered so far,
// and reports whether that changes rec. Only mode Once needs it.
func Spend(rec *session.Record, mode Mode) bool {
	if mode != Once {
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
