// Package adapter is for authors of adapters, which connect Satchel to a framework or to a
// host's own loop of model and tool calls. Packages eino and langchaingo below it are two. A
// host that uses an adapter does not need this package.
//
// An adapter has five tasks:
//
//   - It finds out which agent of which session a call belongs to ([NestedKey],
//     [Runtime.Anonymous]), and marks the context with it ([WithKey]).
//   - It sends the model what satchel.Agent.Prepare returns.
//   - It reports each request as it is sent, if the host traces, and each answer
//     ([Runtime.TraceRequest], [Runtime.Answered]).
//   - It reports every complete response of the model ([Runtime.Observe]).
//   - It takes each tool call through satchel.Agent.Open, Gate, Run or the host's own tool, and
//     Close.
package adapter

import (
	"context"
	"log/slog"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
)

// Runtime is the part of a satchel.Runtime that only adapters need. satchel.Runtime.Hooks
// returns it.
type Runtime interface {
	// Observe records the calls of one complete response of the model, in the order in which the
	// model made them. The adapter reports every response, also one without calls, before it
	// executes any call. Loads take effect in this order, even if the calls are executed in
	// another. Observe returns an error if the store fails.
	Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error

	// Anonymous begins a session for one run if the host named none. The state of the session
	// stays in memory and never reaches the host's store.
	Anonymous(agent string) core.SessionKey

	// EndAnonymous ends a session of Anonymous and removes its state.
	EndAnonymous(ctx context.Context, key core.SessionKey) error

	// Owns reports whether name is the name of one of the runtime's own tools.
	Owns(name string) bool

	// UnknownTool returns the answer to a call of a tool that does not exist. It suggests similar
	// tools from host and, if there are skills, from the runtime. satchel.Call.Run returns the
	// same answer and also stores it.
	UnknownTool(name string, host ...string) string

	// Emit reports an event to the host's event hook and to the log.
	Emit(ctx context.Context, e core.Event)

	// Logger returns the host's logger.
	Logger() *slog.Logger

	// RunsForks reports whether the host uses satchel.WithFork. Only then does an adapter keep what
	// a fork needs of the agent that loads its skill.
	RunsForks() bool

	// WatchesPrefix reports whether the host has set a prefix guard or a tracer. Only then does
	// a core.Request need the definitions of the tools.
	WatchesPrefix() bool

	// Traces reports whether the host has set a tracer. Only then is core.View.Trace set.
	Traces() bool

	// TraceRequest reports a request that the adapter is about to send, and returns its ID. It
	// does nothing without a tracer.
	TraceRequest(ctx context.Context, r core.ModelRequest) (id uint64)

	// Answered reports what the model answered to a request, also to one that failed. The adapter
	// calls it once for every request, whether there is a tracer or not.
	Answered(ctx context.Context, a core.ModelAnswer)
}

type (
	sessionKey struct{}
	agentKey   struct{}
)

// WithSession marks ctx as belonging to the conversation of key, which may be an anonymous one.
// It ignores key.Agent. Hosts call satchel.WithSession instead.
func WithSession(ctx context.Context, key core.SessionKey) context.Context {
	key.Agent = ""
	if c, ok := ctx.Value(sessionKey{}).(*conversation); ok && c.key == key {
		return ctx
	}
	c := &conversation{key: key}
	return callctx.WithSessionRun(context.WithValue(ctx, sessionKey{}, c), &c.run)
}

// conversation is the value that [WithSession] puts into a context.
type conversation struct {
	key core.SessionKey
	run callctx.Run
}

// SessionOf returns the key of an agent in the conversation that [WithSession] put into ctx. ok
// is false if there is none or its id is empty.
func SessionOf(ctx context.Context, agent string) (key core.SessionKey, ok bool) {
	if c, ok := ctx.Value(sessionKey{}).(*conversation); ok {
		key = c.key
	}
	key.Agent = agent
	return key, key.Session != ""
}

// agents is a list of the agents that a context is marked with, the innermost first.
type agents struct {
	key   core.SessionKey
	outer *agents
}

// WithKey marks ctx as running inside an agent of a session, so that satchel.KeyFrom and
// satchel.Runtime.Loaded answer for that agent. satchel.SessionID does not see the mark.
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
// an agent with that key already runs under ctx. Then one of the two is a tool of the other,
// and both have the same name. NestedKey lengthens the name in that case, from agent to
// agent/agent, so loads of the inner agent never reach the outer one. The same nesting gives
// the same key in every turn.
func NestedKey(ctx context.Context, key core.SessionKey) core.SessionKey {
	in, _ := ctx.Value(agentKey{}).(*agents)
	for name := key.Agent; in.has(key); {
		key.Agent += "/" + name
	}
	return key
}

// has reports whether the list contains key.
func (a *agents) has(key core.SessionKey) bool {
	for ; a != nil; a = a.outer {
		if a.key == key {
			return true
		}
	}
	return false
}

// adapterKey is the context key under which [Enter] stores the key of an adapter's agent.
type adapterKey struct{ adapter any }

// Enter marks ctx as [WithKey] does, and records that the agent belongs to adapter, a
// comparable value that identifies the adapter.
func Enter(ctx context.Context, adapter any, key core.SessionKey) context.Context {
	return context.WithValue(WithKey(ctx, key), adapterKey{adapter}, key)
}

// Key returns the key for a call of an adapter's agent in a session that the host named. If ctx
// is that of a tool of the same agent, the call belongs to that agent, and Key returns the
// agent's key. If it is that of a tool of another agent, the adapter's agent is that tool, and
// Key returns a [NestedKey].
func Key(ctx context.Context, adapter any, key core.SessionKey) core.SessionKey {
	own, ok := ctx.Value(adapterKey{adapter}).(core.SessionKey)
	if now, _ := KeyFrom(ctx); ok && own == now && own.Session == key.Session {
		return own
	}
	return NestedKey(ctx, key)
}

// WithInput sets the input of the tool that is called under ctx, for frameworks that extract it
// from the arguments of the call. Patterns in lists of allowed tools are then matched against
// this input instead of the arguments.
func WithInput(ctx context.Context, text string) context.Context {
	return callctx.WithInput(ctx, text)
}

// WithHostTools names the tools of the host that the agent under ctx had when it was built.
// Answers to calls of tools that do not exist suggest them.
func WithHostTools(ctx context.Context, names []string) context.Context {
	return callctx.WithHostTools(ctx, names)
}

// WithUnknownTool marks the call under ctx as a call of a tool that the agent does not have.
// The runtime asks no approver about it.
func WithUnknownTool(ctx context.Context) context.Context {
	return callctx.WithUnknownTool(ctx)
}

// WithAttempt sets a comparable value that identifies the run of the framework under ctx. A run
// with another value is another attempt to answer the turn, unless the host has called
// satchel.BeginTurn.
func WithAttempt(ctx context.Context, id any) context.Context {
	return callctx.WithAttempt(ctx, id)
}

// WithAgentsBefore names the agents that handed the conversation over, one after the other, to
// the agent under ctx. A handover may be decided by the agent's model or by the host.
func WithAgentsBefore(ctx context.Context, names []string) context.Context {
	return callctx.WithAgentsBefore(ctx, names)
}

// ForkInterrupt is the error of the function of satchel.Fork if the agent waits for a person. The
// run of the calling agent then ends with Err. When the host resumes that run, the call is made
// again, and the function is called again with the same key. Later calls of the message whose skills
// run as agents fail with a ForkInterrupt meanwhile. The host makes them again too.
type ForkInterrupt struct{ Err error }

// Error returns the text of Err.
func (e *ForkInterrupt) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *ForkInterrupt) Unwrap() error { return e.Err }

type turnKey struct{}

// Turn is one attempt to answer a user turn. The contexts of all calls of the attempt hold the
// same pointer. A new pointer with the same token is a new attempt: if its first request ends
// with the user's message, the turn begins again.
type Turn struct {
	// Token identifies the turn.
	Token string
	// Continues reports that this is an earlier attempt that continues in another process. Its
	// requests may lack the messages of that attempt.
	Continues bool

	run callctx.Run
}

// WithTurn marks ctx as belonging to the attempt t. Hosts call satchel.BeginTurn instead.
func WithTurn(ctx context.Context, t *Turn) context.Context {
	return callctx.WithTurnRun(context.WithValue(ctx, turnKey{}, t), &t.run)
}

// TurnOf returns the attempt that [WithTurn] put into ctx, or nil.
func TurnOf(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{}).(*Turn)
	return t
}
