package satchel

import (
	"context"
	"crypto/rand"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

// The context keys of [WithSummary] and [WithLoads].
type (
	summaryKey struct{}
	loadsKey   struct{}
)

// WithSession names the conversation that the calls under ctx belong to. The store keeps the
// state of its agents under that id. Without it, or with an empty id, state lives for one run
// of the agent and is never shared. Ids that begin with a NUL or with "satchel:" are reserved:
// calls under such a context fail.
func WithSession(ctx context.Context, id string) context.Context {
	return adapter.WithSession(ctx, core.SessionKey{Session: id})
}

// SessionID returns the id that [WithSession] put into ctx. An empty id names no
// session.
func SessionID(ctx context.Context) (id string, ok bool) {
	key, ok := adapter.SessionOf(ctx, "")
	return key.Session, ok
}

// KeyFrom returns the session and the agent that ctx runs in. ctx is that of a tool of the
// agent, or of other code of the host that an adapter calls.
func KeyFrom(ctx context.Context) (key core.SessionKey, ok bool) { return adapter.KeyFrom(ctx) }

// BeginTurn marks the calls under ctx as one user turn. The first model call with a token that
// its session has not seen begins the turn. Every later one with the same token continues it,
// also after a restart. A session remembers its last 32 tokens. An empty token is replaced by a
// new random one. Without BeginTurn the runtime detects turns itself: a turn begins with a user
// message that it has not seen.
//
// To repeat a turn that has failed, the host calls BeginTurn with the same token again, in any
// process. If the first model call under that context ends with the user's message, the turn
// begins again. Its loads and unloads are taken back, and the model gets what a first attempt
// would send. An earlier attempt must not be running any more.
func BeginTurn(ctx context.Context, token string) context.Context {
	if token == "" {
		token = rand.Text()
	}
	return adapter.WithTurn(ctx, &adapter.Turn{Token: token})
}

// WithSummary marks the requests under ctx: a summary replaces part of their history.
// Loading.Summary says what follows from that.
func WithSummary(ctx context.Context) context.Context {
	return context.WithValue(ctx, summaryKey{}, true)
}

// Load is a skill that the host loads itself; see [WithLoads].
type Load = tools.Load

// WithLoads loads skills for the turn that begins under ctx, before the model is called. All of
// them are loaded or none: an unknown skill or doc, or more skills than Loading.Max, is an
// error of Prepare and changes nothing.
func WithLoads(ctx context.Context, loads ...Load) context.Context {
	return context.WithValue(ctx, loadsKey{}, loads)
}
