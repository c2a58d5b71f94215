package adapter

import (
	"context"
	"sync"
)

// Run is what the agents that run under one context of satchel.WithSession or
// satchel.BeginTurn share. Its zero value is ready for use, by any number of goroutines.
type Run struct {
	once sync.Once
	kept any
}

// Keep returns what is kept for the run, which is fresh() the first time. It is the
// runtimes' place, for what one of its agents leaves to another.
func (r *Run) Keep(fresh func() any) any {
	r.once.Do(func() { r.kept = fresh() })
	return r.kept
}

// RunOf returns the run of ctx: that of its turn, else that of its session, else nil.
func RunOf(ctx context.Context) *Run {
	if t := TurnOf(ctx); t != nil {
		return &t.run
	}
	if c, ok := ctx.Value(sessionKey{}).(*conversation); ok {
		return &c.run
	}
	return nil
}

type (
	attemptKey struct{}
	beforeKey  struct{}
)

// WithAttempt says which run of the framework the calls under ctx belong to, by a
// comparable value. Another one is another attempt to answer the turn, unless the host
// says so itself by satchel.BeginTurn.
func WithAttempt(ctx context.Context, id any) context.Context {
	return context.WithValue(ctx, attemptKey{}, id)
}

// AttemptOf returns the value that [WithAttempt] put into ctx, nil for none.
func AttemptOf(ctx context.Context) any { return ctx.Value(attemptKey{}) }

// WithAgentsBefore names the agents by which the conversation has come to the one that
// runs under ctx, the first one first. Each has handed it over, on behalf of its model or
// of the host.
func WithAgentsBefore(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, beforeKey{}, names)
}

// AgentsBefore returns the names that [WithAgentsBefore] put into ctx.
func AgentsBefore(ctx context.Context) []string {
	names, _ := ctx.Value(beforeKey{}).([]string)
	return names
}
