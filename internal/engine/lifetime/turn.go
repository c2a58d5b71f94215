package lifetime

import (
	"slices"

	"github.com/satchel-go/satchel/internal/engine/state"
)

// UserTurn is what a request says about the user turn that it belongs to.
type UserTurn struct {
	// Begins reports that the request is the first of a turn.
	Begins bool
	// Token is the host's token of the turn, "" where it gave none.
	Token string
	// User is the newest message that a user wrote.
	User state.Mark
	// Answered reports that the agent has done something since that message.
	Answered bool
}

// FindTurn finds out whether a request begins a user turn. A token of the host
// decides. Without one, the newest message that a user wrote does, as long as
// nothing that the agent did follows it: it begins a turn if it is not the message
// that began the last one, or if closed says that the last turn was answered.
// Neither a retry nor a resumed run begins a turn. hash is [state.MarkText], or a
// function that remembers its results.
// Decision 10 says why.
func FindTurn(rec *state.Record, scan *state.Scan, token string, closed bool, hash func(text string) string) UserTurn {
	t := UserTurn{Token: token, Answered: scan.IsAnswered}
	if scan.Last >= 0 {
		t.User.Hash, t.User.Ordinal = hash(scan.Messages[scan.Last].Text), scan.Ordinal()
	}
	switch {
	case rec.Turn == 0:
		t.Begins = true
	case token != "":
		t.Begins = token != rec.Token && !slices.Contains(rec.Tokens, token)
	case scan.Last < 0 || t.Answered:
	default:
		t.Begins = t.User.Hash != rec.User.Hash || t.User.Ordinal > rec.User.Ordinal || closed
	}
	return t
}

// IsAnew reports whether a request begins the turn of rec a second time: it belongs to
// that turn and holds nothing that the agent has done in it. Ask only about the first
// request of a run.
func (t UserTurn) IsAnew(rec *state.Record) bool {
	return rec.HasChanged() && !t.Begins && !t.Answered && t.User.Hash != "" && t.User.Hash == rec.User.Hash && (t.Token == "" || t.Token == rec.Token)
}

// SpendCall notes that the model has answered to what one call delivered.
func SpendCall(rec *state.Record, call int) {
	for i := range rec.Deliveries {
		if rec.Deliveries[i].Call == call {
			rec.Deliveries[i].Spent = true
		}
	}
}
