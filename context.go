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
// is loaded is kept under that name. Without it, or with an empty id, state lives
// for one run of the agent and is never shared.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// SessionID returns the id that [WithSession] put into ctx. An empty id names no
// session.
func SessionID(ctx context.Context) (id string, ok bool) {
	id, _ = ctx.Value(sessionKey{}).(string)
	return id, id != ""
}

// inside are the agents that a context is marked with, the innermost first.
type inside struct {
	key   core.SessionKey
	outer *inside
}

// WithKey marks ctx as running inside an agent of a session, so that
// [Runtime.Loaded] answers for that agent. Adapters call it. It names no session
// for [SessionID].
func WithKey(ctx context.Context, key core.SessionKey) context.Context {
	in, _ := ctx.Value(agentKey{}).(*inside)
	if in != nil && in.key == key {
		return ctx
	}
	return context.WithValue(ctx, agentKey{}, &inside{key, in})
}

// KeyFrom returns the key that [WithKey] put into ctx last.
func KeyFrom(ctx context.Context) (key core.SessionKey, ok bool) {
	in, ok := ctx.Value(agentKey{}).(*inside)
	if !ok {
		return core.SessionKey{}, false
	}
	return in.key, true
}

// NestedKey returns the key for an agent that begins to run under ctx: key
// itself, unless an agent with that key runs under ctx already. Two agents have
// the same name then and one is a tool of the other; its name gets longer, agent
// becomes agent/agent, so that what it loads never reaches the other. It is the
// same in every turn. Adapters call it.
func NestedKey(ctx context.Context, key core.SessionKey) core.SessionKey {
	in, _ := ctx.Value(agentKey{}).(*inside)
	for name := key.Agent; in.has(key); {
		key.Agent += "/" + name
	}
	return key
}

func (in *inside) has(key core.SessionKey) bool {
	for ; in != nil; in = in.outer {
		if in.key == key {
			return true
		}
	}
	return false
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
