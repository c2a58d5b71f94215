package steps

import (
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
)

// Facts returns what a request says about clearing the content of ended loads,
// where a turn begins, the numbers of the calls whose content its places hold, and the
// messages that they stand in. st is the state before the turn. Whether the cache is
// cold, and how often skills came back, the request does not say.
func Facts(messages []core.Message, st State) (f lifetime.Facts, calls, at []int) {
	pieces, calls, at := piecesAt(messages, st)
	f.Turns = max(0, countTurns(messages)-1)
	for i := range messages {
		f.Prompt += tokensOf(&messages[i])
		if messages[i].Role == core.Assistant {
			f.Calls++
		}
	}
	for i, p := range pieces {
		f.Prompt += p.Dead
		f.Places = append(f.Places, lifetime.Place{Piece: p, Skills: st.skillsOf(calls[i]), Carried: carried(messages, at[i])})
	}
	return f, calls, at
}

// skillsOf names the skills whose content a call delivered, as far as it is not
// superseded.
func (st *State) skillsOf(call int) []string {
	var names []string
	for i := range st.Record.Deliveries {
		if d := &st.Record.Deliveries[i]; d.Call == call && !d.Old && !slices.Contains(names, d.Skill) {
			names = append(names, d.Skill)
		}
	}
	return names
}

func isTurn(m *core.Message) bool { return m.Role == core.User && !m.Rewritten }

func countTurns(messages []core.Message) (n int) {
	for i := range messages {
		if isTurn(&messages[i]) {
			n++
		}
	}
	return n
}

// carried counts the model calls since the turn of message at.
func carried(messages []core.Message, at int) (calls int) {
	over := false
	for i := range messages[at+1:] {
		m := &messages[at+1+i]
		over = over || isTurn(m)
		if over && m.Role == core.Assistant {
			calls++
		}
	}
	return calls
}
