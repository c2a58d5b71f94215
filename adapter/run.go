package adapter

import (
	"context"
	"sync"
)

type runKey struct{}

// Run is one run of agents that hand the conversation over to each other: where no
// session is named, or they are of different runtimes, it is all that they have in
// common. Its zero value is ready for use, by any number of goroutines.
type Run struct {
	// Elsewhere is set where the run goes on that was interrupted, here or in another
	// process. It returns the runtimes in which an agent of this name may have its record.
	Elsewhere func(agent string) []Runtime

	once sync.Once
	kept any
}

// Keep returns what is kept for the run, which is fresh() the first time. It is the
// runtimes' place, for what one of its agents leaves to another.
func (r *Run) Keep(fresh func() any) any {
	r.once.Do(func() { r.kept = fresh() })
	return r.kept
}

// inRun is what [WithRun] puts into a context.
type inRun struct {
	run    *Run
	before []string
}

// WithRun marks ctx as belonging to a run. The adapter gives the same pointer to all
// calls of a run, and to no others; nil is no mark. before are the agents by which the
// run has come to this one, the first one first: each has handed it over, on behalf of
// its model or of the host.
func WithRun(ctx context.Context, run *Run, before ...string) context.Context {
	return context.WithValue(ctx, runKey{}, inRun{run, before})
}

// RunOf returns the run that [WithRun] put into ctx, or nil, and the agents before the
// one that runs under ctx.
func RunOf(ctx context.Context) (run *Run, before []string) {
	in, _ := ctx.Value(runKey{}).(inRun)
	return in.run, in.before
}
