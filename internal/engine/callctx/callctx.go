// Package callctx holds what a context says about the calls under it: the run that they
// belong to, and what an adapter knows of a call. Package adapter writes it for authors of
// adapters.
package callctx

import (
	"context"
	"sync"

	"github.com/satchel-go/satchel/core"
)

// Run holds a value that all agents share which run in one context of satchel.WithSession or
// satchel.BeginTurn. The zero value is ready to use and safe for concurrent use.
type Run struct {
	once  sync.Once
	value any
}

// Value returns the value of the run. The first call gets it from init.
func (r *Run) Value(init func() any) any {
	r.once.Do(func() { r.value = init() })
	return r.value
}

type (
	turnKey    struct{}
	sessionKey struct{}
	attemptKey struct{}
	beforeKey  struct{}
	inputKey   struct{}
	toolsKey   struct{}
	unknownKey struct{}
)

// WithTurnRun marks ctx with the run of a turn.
func WithTurnRun(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, turnKey{}, r)
}

// WithSessionRun marks ctx with the run of a session. [RunOf] returns it if there is no turn.
func WithSessionRun(ctx context.Context, r *Run) context.Context {
	return context.WithValue(ctx, sessionKey{}, r)
}

// RunOf returns the run of the turn in ctx, or else that of the session, or nil.
func RunOf(ctx context.Context) *Run {
	if r, ok := ctx.Value(turnKey{}).(*Run); ok {
		return r
	}
	r, _ := ctx.Value(sessionKey{}).(*Run)
	return r
}

// WithAttempt marks ctx with the framework's run. id must be comparable.
func WithAttempt(ctx context.Context, id any) context.Context {
	return context.WithValue(ctx, attemptKey{}, id)
}

// AttemptOf returns the value of [WithAttempt], or nil.
func AttemptOf(ctx context.Context) any { return ctx.Value(attemptKey{}) }

// WithAgentsBefore sets the names of the agents that have handed the conversation over, in order.
func WithAgentsBefore(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, beforeKey{}, names)
}

// AgentsBefore returns the names of [WithAgentsBefore].
func AgentsBefore(ctx context.Context) []string {
	names, _ := ctx.Value(beforeKey{}).([]string)
	return names
}

// WithInput sets the text that a tool gets instead of the arguments of its call.
func WithInput(ctx context.Context, text string) context.Context {
	return context.WithValue(ctx, inputKey{}, text)
}

// Input returns the text of [WithInput].
func Input(ctx context.Context) (text string, ok bool) {
	text, ok = ctx.Value(inputKey{}).(string)
	return text, ok
}

// WithHostTools sets the names of the host's tools of the agent that runs in ctx.
func WithHostTools(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, toolsKey{}, names)
}

// HostTools returns the names of [WithHostTools].
func HostTools(ctx context.Context) []string {
	names, _ := ctx.Value(toolsKey{}).([]string)
	return names
}

// WithUnknownTool marks ctx as a call of a tool that the agent does not have.
func WithUnknownTool(ctx context.Context) context.Context {
	return context.WithValue(ctx, unknownKey{}, true)
}

// IsUnknownTool reports whether [WithUnknownTool] has marked ctx.
func IsUnknownTool(ctx context.Context) bool { return ctx.Value(unknownKey{}) != nil }

type forkKey struct{}

// WithFork marks ctx as that of a fork.
func WithFork(ctx context.Context, f *Fork) context.Context {
	return context.WithValue(ctx, forkKey{}, f)
}

// ForkOf returns the fork of ctx, or nil. Agents that the fork calls run in the same fork.
func ForkOf(ctx context.Context) *Fork {
	f, _ := ctx.Value(forkKey{}).(*Fork)
	return f
}

// Is reports whether the agent of key is the fork itself, and not one that it calls. A nil Fork is
// none.
func (f *Fork) Is(key core.SessionKey) bool { return f != nil && f.Key == key }

// Check returns [ErrForkEnded] if the fork has ended. A nil Fork has not.
func (f *Fork) Check() error {
	if f == nil {
		return nil
	}
	return f.check()
}
