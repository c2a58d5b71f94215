package steps

import (
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/text/tokencount"
)

// Pieces divides a request at the places where the content of a call stands. Each
// piece is the size of that content and of what follows it up to the next one, in
// estimated tokens; calls are the numbers of the calls.
//
// Left out are the messages before the first content, the user messages at the end
// of the request, which no cache holds yet, and content that has no place in the
// request.
func Pieces(messages []core.Message, st State) (pieces []lifetime.Piece, calls []int) {
	pieces, calls, _ = piecesAt(messages, st)
	return pieces, calls
}

// piecesAt also returns the messages that the content stands in.
func piecesAt(messages []core.Message, st State) (pieces []lifetime.Piece, calls, places []int) {
	at := make([][]int, len(messages)) // the calls whose content stands there
	for n := range st.Content.calls {
		if anchor := st.Record.Deliveries[st.Content.calls[n].first].Anchor; anchor != nil {
			if i := Anchor(messages, *anchor, st.Record.Turn); i >= 0 {
				at[i] = append(at[i], n)
			}
		}
	}
	found := make([]bool, len(st.Content.calls))
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
			c := &st.Content.calls[n]
			pieces = append(pieces, lifetime.Piece{Dead: tokencount.Estimate(c.text)})
			calls, places = append(calls, c.call), append(places, i)
		}
	}
	return pieces, calls, places
}

// tokensOf estimates what a message costs, including a few tokens for the message
// as such.
func tokensOf(m *core.Message) int {
	n := 4 + tokencount.Estimate(m.Text)
	for i := range m.Calls {
		n += tokencount.Estimate(m.Calls[i].Name) + tokencount.Estimate(m.Calls[i].Arguments)
	}
	return n
}
