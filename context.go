package satchel

import (
	"context"
	"crypto/rand"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

type (
	summaryKey struct{}
	loadsKey   struct{}
)

// WithSession names the conversation that the calls under ctx belong to. What
// is loaded is kept under that name. Without it, or with an empty id, state lives
// for one run of the agent and is never shared. Ids that begin with a NUL or with
// "satchel:" are reserved: calls under such a context fail.
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

// BeginTurn says that the calls under ctx belong to one user turn. The first model call with a
// token that its session has not seen begins the turn. Every later one with the same token
// continues it, also after a restart. A session remembers its last 32 tokens. An empty token
// is replaced by a new random one. Without BeginTurn the runtime finds out by itself: a turn
// begins with a user message that it has not seen.
//
// A host whose turn has failed calls BeginTurn with its token once more, in any process. If
// the first model call under that context ends with the user's message, the turn begins again:
// its loads and unloads are taken back. So the model gets what a first attempt would send. Do
// not do so while an earlier attempt is running.
func BeginTurn(ctx context.Context, token string) context.Context {
	if token == "" {
		token = rand.Text()
	}
	return adapter.WithTurn(ctx, &adapter.Turn{Token: token})
}

// WithSummary says that a summary stands for part of the history in the
// requests under ctx; see [Loading].
func WithSummary(ctx context.Context) context.Context {
	return context.WithValue(ctx, summaryKey{}, true)
}

// Load is a skill that the host loads itself; see [WithLoads].
type Load = tools.Declared

// WithLoads loads skills for the turn that begins under ctx, before the model
// is called. It is all or nothing: an unknown skill or doc, or more skills than
// the cap, is an error of Prepare and changes nothing.
func WithLoads(ctx context.Context, loads ...Load) context.Context {
	return context.WithValue(ctx, loadsKey{}, loads)
}
