// Package adapter is for authors of adapters, which connect Satchel to a framework or to a
// host's own loop of model and tool calls. Packages eino and langchaingo below it are two. A
// host that uses an adapter does not need this package.
//
// An adapter finds out which agent of which session a call belongs to
// ([NestedKey], [Runtime.Anonymous]) and marks the context with it ([WithKey]).
// It sends the model what satchel.Agent.Prepare returns, reports every complete
// response ([Runtime.Observe]), and takes each tool call through
// satchel.Agent.Open, Gate, Run or the host's own tool, and Close.
package adapter

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
)

// Runtime is the part of a runtime that adapters alone use. satchel.Runtime.Hooks returns it.
type Runtime interface {
	// Observe reports the calls of one complete response of the model, before any of them is
	// executed. calls are in the order in which the model made them. A response without calls
	// is reported too. Loads take effect in this order, whatever order the calls are executed
	// in. The error is one of the store.
	Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error

	// Anonymous opens a session for one run of a host that named none. Its state stays in
	// memory and never reaches the host's store. EndAnonymous ends it.
	Anonymous(agent string) core.SessionKey

	// EndAnonymous drops all state of a session from Anonymous.
	EndAnonymous(ctx context.Context, key core.SessionKey) error

	// Owns reports whether name is the name of one of the runtime's own tools.
	Owns(name string) bool

	// UnknownTool returns the answer for the model to a call of a tool that does not exist.
	// It suggests tools of the host and, if there are skills, of the runtime.
	// satchel.Call.Run returns the same answer and stores it.
	UnknownTool(name string, host ...string) string

	// Emit reports an event to the host's event hook and to the log.
	Emit(ctx context.Context, e core.Event)

	// Logger returns the host's logger.
	Logger() *slog.Logger

	// WatchesPrefix reports whether the host has set a prefix guard. Only then does
	// a core.Request need the definitions of the tools.
	WatchesPrefix() bool
}

type (
	sessionKey struct{}
	agentKey   struct{}
)

// WithSession marks ctx as belonging to the conversation of the key, an anonymous one
// included; the agent of the key does not matter. satchel.WithSession is what hosts
// use.
func WithSession(ctx context.Context, key core.SessionKey) context.Context {
	key.Agent = ""
	if c, ok := ctx.Value(sessionKey{}).(*conversation); ok && c.key == key {
		return ctx
	}
	c := &conversation{key: key}
	return callctx.WithSessionRun(context.WithValue(ctx, sessionKey{}, c), &c.run)
}

// conversation is what [WithSession] puts into a context.
type conversation struct {
	key core.SessionKey
	run callctx.Run
}

// SessionOf returns the key of an agent in the conversation that [WithSession] put
// into ctx. An empty id names no conversation.
func SessionOf(ctx context.Context, agent string) (key core.SessionKey, ok bool) {
	if c, ok := ctx.Value(sessionKey{}).(*conversation); ok {
		key = c.key
	}
	key.Agent = agent
	return key, key.Session != ""
}

// agents are the agents that a context is marked with, the innermost first.
type agents struct {
	key   core.SessionKey
	outer *agents
}

// WithKey marks ctx as running inside an agent of a session, so that
// satchel.KeyFrom and satchel.Runtime.Loaded answer for that agent. It names no
// session for satchel.SessionID.
func WithKey(ctx context.Context, key core.SessionKey) context.Context {
	in, _ := ctx.Value(agentKey{}).(*agents)
	if in != nil && in.key == key {
		return ctx
	}
	return context.WithValue(ctx, agentKey{}, &agents{key, in})
}

// KeyFrom returns the key that [WithKey] put into ctx last.
func KeyFrom(ctx context.Context) (key core.SessionKey, ok bool) {
	in, ok := ctx.Value(agentKey{}).(*agents)
	if !ok {
		return core.SessionKey{}, false
	}
	return in.key, true
}

// NestedKey returns the key for an agent that begins to run under ctx. It is key itself, unless
// an agent with that key already runs under ctx: one of the two is a tool of the other, and both
// have the same name. Then NestedKey makes the name longer, from agent to agent/agent, so what
// the inner agent loads never reaches the outer one. The same nesting gives the same key in
// every turn.
func NestedKey(ctx context.Context, key core.SessionKey) core.SessionKey {
	in, _ := ctx.Value(agentKey{}).(*agents)
	for name := key.Agent; in.has(key); {
		key.Agent += "/" + name
	}
	return key
}

func (a *agents) has(key core.SessionKey) bool {
	for ; a != nil; a = a.outer {
		if a.key == key {
			return true
		}
	}
	return false
}

// adapterKey finds, in a context, the key of the agent of one adapter.
type adapterKey struct{ adapter any }

// Enter marks ctx as [WithKey] does, and records that the agent belongs to adapter, a
// comparable value that identifies the adapter.
func Enter(ctx context.Context, adapter any, key core.SessionKey) context.Context {
	return context.WithValue(WithKey(ctx, key), adapterKey{adapter}, key)
}

// Key returns the key of an adapter's agent in a session that the host named. A call under a
// tool of the same agent belongs to the agent itself. A call under a tool of another agent
// belongs to the agent that is that tool, with a key of [NestedKey].
func Key(ctx context.Context, adapter any, key core.SessionKey) core.SessionKey {
	own, ok := ctx.Value(adapterKey{adapter}).(core.SessionKey)
	if now, _ := KeyFrom(ctx); ok && own == now && own.Session == key.Session {
		return own
	}
	return NestedKey(ctx, key)
}

// WithInput sets the input of the tool that is called under ctx, for frameworks that take it out
// of the arguments of the call. Lists of allowed tools are compared with this input instead of
// the arguments.
func WithInput(ctx context.Context, text string) context.Context {
	return callctx.WithInput(ctx, text)
}

// WithHostTools names the host's tools of the agent that runs under ctx, as they were when the
// agent was made. Answers to calls of tools that do not exist suggest them.
func WithHostTools(ctx context.Context, names []string) context.Context {
	return callctx.WithHostTools(ctx, names)
}

// WithUnknownTool marks the call under ctx as one of a tool that the agent does not have. No
// approver is asked about it.
func WithUnknownTool(ctx context.Context) context.Context {
	return callctx.WithUnknownTool(ctx)
}

// WithAttempt sets which run of the framework the calls under ctx belong to, as a comparable
// value. Another value is another attempt to answer the turn, unless the host has called
// satchel.BeginTurn.
func WithAttempt(ctx context.Context, id any) context.Context {
	return callctx.WithAttempt(ctx, id)
}

// WithAgentsBefore names the agents that handed the conversation over to the one that runs
// under ctx, the first one first. Either their model or the host has decided on it.
func WithAgentsBefore(ctx context.Context, names []string) context.Context {
	return callctx.WithAgentsBefore(ctx, names)
}

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

// WithTurn returns a context of the attempt t at a turn. Hosts call satchel.BeginTurn instead.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return callctx.WithTurnRun(context.WithValue(ctx, turnKey{}, t), &t.run)
}

// TurnOf returns the attempt that [WithTurn] put into ctx, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}
