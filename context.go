package satchel

import (
	"context"
	"crypto/rand"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/tools"
)

type (
	sessionKey struct{}
	agentKey   struct{}
	turnKey    struct{}
	summaryKey struct{}
	loadsKey   struct{}
	inputKey   struct{}
)

// WithSession names the conversation that the calls under ctx belong to. What
// is loaded is kept under that name. Without it, state lives for one run of the
// agent and is never shared.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// SessionID returns the id that [WithSession] put into ctx.
func SessionID(ctx context.Context) (id string, ok bool) {
	id, ok = ctx.Value(sessionKey{}).(string)
	return id, ok
}

// WithKey marks ctx as running inside an agent of a session, so that
// [Runtime.Loaded] answers for that agent. Adapters call it; the session of the
// key counts for [SessionID] only where the host named none.
func WithKey(ctx context.Context, key core.SessionKey) context.Context {
	return context.WithValue(ctx, agentKey{}, key)
}

// KeyFrom returns the key that [WithKey] put into ctx.
func KeyFrom(ctx context.Context) (key core.SessionKey, ok bool) {
	key, ok = ctx.Value(agentKey{}).(core.SessionKey)
	return key, ok
}

// BeginTurn says that the calls under ctx belong to one user turn. The first
// model call with a token that its session has not seen begins the turn, and
// every later one with the same token continues it, also after a restart; the
// last 32 tokens of a session are remembered. An empty token is replaced by a new random one. Without BeginTurn the runtime
// finds out by itself: a turn begins with a user message that it has not seen.
func BeginTurn(ctx context.Context, token string) context.Context {
	if token == "" {
		token = rand.Text()
	}
	return context.WithValue(ctx, turnKey{}, token)
}

// TurnToken returns the token that [BeginTurn] put into ctx.
func TurnToken(ctx context.Context) (token string, ok bool) {
	token, ok = ctx.Value(turnKey{}).(string)
	return token, ok
}

// WithSummary says that a summary stands for part of the history in the
// requests under ctx; see [WithSummaryRule].
func WithSummary(ctx context.Context) context.Context {
	return context.WithValue(ctx, summaryKey{}, true)
}

// WithInput says that the tool which is called under ctx gets just this text: a
// framework has taken it out of the arguments of the call. Adapters call it.
func WithInput(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, inputKey{}, text)
}

// Load is a skill that the host loads itself; see [WithLoads].
type Load = tools.Declared

// WithLoads loads skills for the turn that begins under ctx, before the model
// is called. It is all or nothing: an unknown skill or doc, or more skills than
// the cap, is an error of Prepare and changes nothing.
func WithLoads(ctx context.Context, loads ...Load) context.Context {
	return context.WithValue(ctx, loadsKey{}, loads)
}
