package callctx

import (
	"errors"
	"sync"

	"github.com/satchel-go/satchel/core"
)

// Fork is a skill that runs as an agent of its own. The contexts of all its calls hold it. The
// exported fields are not changed after its first use. It is safe for concurrent use.
type Fork struct {
	// Skill is the name of the skill, and Key the key of its agent.
	Skill string
	Key   core.SessionKey
	// Parent is the key of the agent that loads the skill, and Turn its user turn.
	Parent core.SessionKey
	Turn   int
	// MaxCalls limits the model calls.
	MaxCalls int

	mu       sync.Mutex
	spent    ForkUsage
	said     string // the last text of the model in a request
	refusal  error  // see Refuse
	isFull   bool
	hasEnded bool
}

// ForkUsage is what a fork has spent. Tokens is the sum of what the provider counted.
type ForkUsage struct {
	Calls  int        `json:"calls,omitempty"`
	Tokens core.Usage `json:"tokens"`
}

var (
	// ErrForkFull reports a model call above the limit of a fork.
	ErrForkFull = errors.New("the skill has used up its model calls")
	// ErrForkEnded reports a call for a fork whose answer was given.
	ErrForkEnded = errors.New("the agent of the skill has ended")
)

// Begin counts a model call of the fork. said is the last text of the model in the request, "" for
// none. The error is [ErrForkFull] or [ErrForkEnded].
func (f *Fork) Begin(said string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hasEnded {
		return ErrForkEnded
	}
	if said != "" {
		f.said = said
	}
	if f.spent.Calls >= f.MaxCalls {
		f.isFull = true
		return ErrForkFull
	}
	f.spent.Calls++
	f.refusal = nil
	return nil
}

// TakeBack takes back the last Begin, because the request could not be prepared.
func (f *Fork) TakeBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent.Calls--
}

// Refuse notes why the fork cannot begin. A later Begin forgets it.
func (f *Fork) Refuse(reason error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusal = reason
}

// check is Check of a fork.
func (f *Fork) check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hasEnded {
		return ErrForkEnded
	}
	return nil
}

// Add adds the tokens of a model call.
func (f *Fork) Add(u core.Usage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &f.spent.Tokens
	t.Prompt, t.Cached, t.Completion = t.Prompt+u.Prompt, t.Cached+u.Cached, t.Completion+u.Completion
}

// Resume adds what the fork has spent before an interrupt.
func (f *Fork) Resume(before ForkUsage) {
	f.Add(before.Tokens)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spent.Calls += before.Calls
}

// ForkEnd is how a fork has ended.
type ForkEnd struct {
	Spent ForkUsage
	// Said is the last text of its model.
	Said string
	// IsFull reports that it has reached its limit.
	IsFull bool
	// Refusal is why it could not begin, or nil.
	Refusal error
}

// End ends the fork: later calls of it fail.
func (f *Fork) End() ForkEnd {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hasEnded = true
	return ForkEnd{f.spent, f.said, f.isFull, f.refusal}
}
