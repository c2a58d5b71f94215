package adapter

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/callctx"
)

type turnKey struct{}

// Turn is one attempt to answer a user turn. The contexts of all calls of the attempt hold the
// same pointer. Another pointer with the same token is another attempt: if its first request
// ends with the user's message, the turn begins again.
type Turn struct {
	// Token names the turn.
	Token string
	// Continues reports that an earlier attempt goes on in another process. The requests may
	// lack its messages.
	Continues bool

	run callctx.Run
}

// WithTurn marks ctx as belonging to an attempt. satchel.BeginTurn is what hosts use.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return callctx.WithTurnRun(context.WithValue(ctx, turnKey{}, t), &t.run)
}

// TurnOf returns the attempt that [WithTurn] put into ctx, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}
