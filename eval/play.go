package eval

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/satchel-go/satchel/loadmode"
)

// The values of Report.Stopped.
const (
	stoppedByCost = "max-cost"
	stoppedByUser = "interrupted"
	stoppedByFile = "state"
)

// errNoPlay reports options without a function that plays.
var errNoPlay = errors.New("eval: Options.Play is nil: want the function that plays a conversation")

// runner plays trials, some at a time.
type runner struct {
	options *Options
	prices  loadmode.Prices
	play    player
	state   *stateFile // nil without Options.State

	mu      sync.Mutex
	spent   usage
	stopped string
	done    int
	err     error // of the state file
}

// playAll plays trials and returns their results, nil for a trial that was not played. Results of
// an earlier run are taken from the state file. If that cannot be written, p.err says why.
func (p *runner) playAll(ctx context.Context, trials []Trial) []*result {
	results := make([]*result, len(trials))
	var next []int
	for i, t := range trials {
		if r := p.state.finished(t.Name()); r != nil {
			results[i] = r
			p.spent = p.spent.plus(r.usage).plus(r.Judge)
			p.done++
		} else {
			next = append(next, i)
		}
	}
	if p.done > 0 {
		p.options.progress(p.done, len(trials))
	}
	places := make(chan struct{}, max(1, p.options.Jobs))
	var wg sync.WaitGroup
	for _, i := range next {
		places <- struct{}{}
		if !p.mayStart(ctx) {
			break
		}
		wg.Go(func() {
			defer func() { <-places }()
			results[i] = p.one(ctx, trials[i], len(trials))
		})
	}
	wg.Wait()
	return results
}

// mayStart reports whether another trial may start, and notes why not.
func (p *runner) mayStart(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		p.stopped = stoppedByUser
	case p.options.MaxCost > 0 && costOf(p.spent, p.prices) >= p.options.MaxCost:
		p.stopped = cmp.Or(p.stopped, stoppedByCost)
	case p.err != nil:
		p.stopped = stoppedByFile
	}
	return p.stopped == ""
}

// one plays a trial and keeps its result. It returns nil if the trial was cancelled.
func (p *runner) one(ctx context.Context, t Trial, total int) *result {
	r := p.play(ctx, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent = p.spent.plus(r.usage).plus(r.Judge)
	if ctx.Err() != nil {
		p.stopped = stoppedByUser
		return nil
	}
	if r.err == nil && !r.lacksJudge {
		r.Trial = t.Name()
		if err := p.state.add(r); err != nil && p.err == nil {
			p.err = err
		}
	}
	p.done++
	p.options.progress(p.done, total)
	return r
}

// conversation plays the conversation of a trial, and measures it. The caller calls end.
func (o *Options) conversation(ctx context.Context, t Trial) (p Played, r *result, end func() error) {
	began := time.Now()
	p, err := o.Play(ctx, t)
	r = &result{MS: float64(time.Since(began).Microseconds()) / 1000, Loaded: p.Loaded, usage: usageOf(p), Trace: p.Trace, err: err}
	end = p.End
	if end == nil {
		end = func() error { return nil }
	}
	return p, r, end
}

// costOf returns what requests have cost in input-token equivalents, as cache-report counts them: what
// the cache did not have was written to it. Prices have none for output.
func costOf(u usage, p loadmode.Prices) float64 {
	return p.Read*float64(u.Cached) + p.Write*float64(u.Prompt-u.Cached)
}

// spentOf returns the sums of a report.
func spentOf(u usage) *Spent {
	return &Spent{Requests: u.Requests, PromptTokens: u.Prompt, CachedTokens: u.Cached, CompletionTokens: u.Completion}
}

// trialResults returns the results of the trials that were played. All trials of a query or eval stand
// together; of trials, they have the distance step.
func trialResults(trials []Trial, results []*result, step int) []TrialResult {
	var all []TrialResult
	for first := range min(step, len(trials)) {
		for i := first; i < len(trials); i += step {
			r := results[i]
			if r == nil {
				continue
			}
			one := TrialResult{Trial: trials[i], Loaded: r.Loaded, Tokens: r.Prompt + r.Completion, MS: r.MS, Trace: r.Trace, Err: r.err}
			for _, v := range r.Verdicts {
				if v.Passed == nil {
					continue
				}
				one.Decided++
				if *v.Passed {
					one.Passed++
				}
			}
			all = append(all, one)
		}
	}
	return all
}

// JudgeErrors returns how many sentences have no verdict because the judge has failed.
func (r *Report) JudgeErrors() int {
	n := 0
	for i := range r.Evals {
		for _, side := range []*Side{&r.Evals[i].With, &r.Evals[i].Without} {
			for j := range side.Assertions {
				n += side.Assertions[j].Errors
			}
		}
	}
	return n
}

// Errors returns how many trials have failed: the endpoint did not answer, or a request differed from
// what was recorded.
func (r *Report) Errors() int {
	n := 0
	for i := range r.Queries {
		if t := r.Queries[i].Trials; t != nil {
			n += t.Errors
		}
	}
	for i := range r.Evals {
		n += r.Evals[i].With.Errors + r.Evals[i].Without.Errors
	}
	return n
}
