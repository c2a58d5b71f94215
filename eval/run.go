package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/loadmode"
)

// Mode says how the requests of a suite are asked.
type Mode string

// The modes of [Run].
const (
	Offline Mode = "offline" // search and suggestions, without a model
	Trigger Mode = "trigger" // whether a model loads the skill of a query
	Outcome Mode = "outcome" // whether the skill of an eval improves the result
)

// ErrSuite reports that nothing was asked, because the suite cannot be used: it has no requests for
// the mode, or a field is wrong.
var ErrSuite = errors.New("suite cannot be used")

// Options say how [Run] asks a suite. Catalog is required, and Play is unless Mode is Offline.
type Options struct {
	// Mode is Offline if it is empty.
	Mode Mode
	// Catalog holds the skills of the suite and all others that a user has. Run only reads it.
	Catalog *catalog.Catalog
	// Runs is how often each query or eval is played; 0 means 3. Offline asks each once.
	Runs int
	// Threshold is the rate from which on a query counts as triggered; 0 means 0.5.
	Threshold float64
	// Jobs is how many trials run at the same time; 0 means 1.
	Jobs int
	// Play plays one trial with a model; Jobs goroutines call it. The error says why the conversation failed, for example that
	// of the endpoint. What came of it until then still counts.
	Play func(ctx context.Context, trial Trial) (Played, error)
	// Judge asks a model without tools about an assertion that is a sentence. Without it sentences
	// have no verdict.
	Judge func(ctx context.Context, question Question) (Played, error)
	// Executor runs the scripts of assertions. Without it they fail.
	Executor executor.Executor
	// MaxCost ends the run when its conversations and those of State have cost as much, in input-token
	// equivalents at Prices; 0 is no limit. Trials that run then are finished.
	MaxCost float64
	// Prices are those of the prompt cache; the zero value means [loadmode.DefaultPrices].
	Prices loadmode.Prices
	// State is a file that gets a line for each finished trial, "" for none. A run with the same file
	// plays the trials that are missing, and those that failed. About names what decides the results
	// beside suite and catalog, such as the model: trials about something else are played again.
	State, About string
	// Progress, if set, is called after each request or trial, by one goroutine at a time.
	Progress func(done, total int)

	// hidden has the skills of the suite that the model does not see, and why. Run sets it.
	hidden map[string]string
}

// The defaults of Options.
const (
	defaultRuns      = 3
	defaultThreshold = 0.5
)

// Run asks the requests of a suite and returns what came of them. A query that a skill has twice is
// asked once. Trials whose conversation fails are part of the report, not an error. The error wraps
// [ErrSuite] if nothing was asked. If the state file can no longer be written, Run returns what was
// played until then, and the error.
func Run(ctx context.Context, suite *Suite, o Options) (*Report, error) {
	if o.Catalog == nil {
		return nil, errors.New("eval: Options.Catalog is nil: want the catalog of the skills")
	}
	if o.Mode == "" {
		o.Mode = Offline
	}
	if o.Mode == Offline || o.Mode == Trigger || o.Mode == Outcome {
		var err error
		if suite, err = suite.check(o.Mode, o.Catalog); err != nil {
			return nil, err
		}
		o.hidden = suite.hiddenOf(ctx, o.Catalog)
	}
	switch o.Mode {
	case Offline:
		return runOffline(ctx, suite, &o)
	case Trigger:
		return runTrigger(ctx, suite, &o)
	case Outcome:
		return runOutcome(ctx, suite, &o)
	}
	return nil, fmt.Errorf("eval: unknown mode %q: want offline, trigger or outcome", o.Mode)
}

func (o *Options) runs() int { return cmp.Or(max(0, o.Runs), defaultRuns) }

func (o *Options) threshold() float64 { return cmp.Or(o.Threshold, defaultThreshold) }

func (o *Options) prices() loadmode.Prices { return cmp.Or(o.Prices, loadmode.DefaultPrices()) }

func (o *Options) progress(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}
