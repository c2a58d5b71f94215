package hook

import (
	"context"
	"sync"
)

type runKey struct{}

// Run is one run of agents that hand the conversation over to each other: where no
// session is named, or they are of different runtimes, it is all that they have in
// common. Its zero value is ready for use, by any number of goroutines.
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

// WithRun marks ctx as belonging to a run. The adapter gives the same pointer to all
// tool calls of a run, and to no others; nil is no mark.
func WithRun(ctx context.Context, run *Run) context.Context {
	return context.WithValue(ctx, runKey{}, run)
}

// RunOf returns the run that [WithRun] put into ctx, or nil.
func RunOf(ctx context.Context) *Run {
	run, _ := ctx.Value(runKey{}).(*Run)
	return run
}
