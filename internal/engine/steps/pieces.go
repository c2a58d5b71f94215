package steps

import (
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Pieces divides a request at the messages that show the content of a call. Each piece has the
// size of the content (Dead) and of the text from there to the next content (Live), in estimated
// tokens. calls are the numbers of the calls.
//
// It leaves out the messages before the first content, and content that no message shows. It also
// leaves out the last user messages, because no cache holds them yet.
func Pieces(messages []core.Message, st State) (pieces []lifetime.Piece, calls []int) {
	pieces, calls, _ = piecesAt(messages, st)
	return pieces, calls
}

// piecesAt is Pieces, and also returns the index of the message that shows each content.
func piecesAt(messages []core.Message, st State) (pieces []lifetime.Piece, calls, places []int) {
	at := make([][]int, len(messages)) // the calls whose content each message shows
	for n := range st.Content.Calls {
		if anchor := st.Record.Deliveries[st.Content.Calls[n].First].Anchor; anchor != nil {
			if i := Anchor(messages, *anchor, st.Record.Turn); i >= 0 {
				at[i] = append(at[i], n)
			}
		}
	}
	found := make([]bool, len(st.Content.Calls))
	EachResult(messages, st.Delivers, func(i int) {
		if n := st.content(messages[i].Text); n >= 0 && !found[n] {
			found[n] = true
			at[i] = append(at[i], n)
		}
	})
	end := len(messages)
	for end > 0 && messages[end-1].Role == core.User {
		end--
	}
	for i := range messages[:end] {
		if len(pieces) > 0 {
			pieces[len(pieces)-1].Live += tokensOf(&messages[i])
		}
		for _, n := range at[i] {
			c := &st.Content.Calls[n]
			pieces = append(pieces, lifetime.Piece{Dead: prompttext.Estimate(c.Text)})
			calls, places = append(calls, c.Call), append(places, i)
		}
	}
	return pieces, calls, places
}

// tokensOf estimates the tokens of a message, with a few tokens for its frame.
func tokensOf(m *core.Message) int {
	n := 4 + prompttext.Estimate(m.Text)
	for i := range m.Calls {
		n += prompttext.Estimate(m.Calls[i].Name) + prompttext.Estimate(m.Calls[i].Arguments)
	}
	return n
}

// Facts returns what [lifetime.Clear] needs to know of a request when a turn begins, except Cold
// and Returns. st is the state before the turn. calls are the numbers of the calls whose content
// the request shows, and at the indices of the messages that show it.
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

// skillsOf returns the skills that a call delivered, without those whose text is superseded.
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

// carried counts the responses of the model after the turn of the message at the index.
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
