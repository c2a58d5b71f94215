package adapter

import "context"

type turnKey struct{}

// Turn is one attempt to answer a user turn. All calls of the attempt are under the same
// pointer. Another pointer with the same token is another attempt: if its first request ends
// with the user's message, the turn begins again.
type Turn struct {
	// Token names the turn.
	Token string
	// Continues says that the attempt is an earlier one, which goes on in another process
	// and whose messages the requests may lack.
	Continues bool

	run Run
}

// WithTurn marks ctx as belonging to an attempt. satchel.BeginTurn is what hosts use.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// TurnOf returns the attempt that [WithTurn] put into ctx, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}
