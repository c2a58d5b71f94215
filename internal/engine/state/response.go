package state

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
)

// Made is one call as the model made it.
type Made struct {
	Call core.ToolCall
	// Changes marks a call that changes what is loaded. Calls after it in the
	// response wait for it. Number is the number that the record gave it, 0
	// while it has none.
	Changes bool
	Number  int
	// Once marks a call that has a number though it changes nothing of what is
	// loaded, because it runs a command that may run only once.
	Once bool
	// Ordered marks a call that also waits for the ordered calls before it.
	Ordered bool
	// Excess marks a call that comes after too many: it is not executed.
	Excess bool
}

// numbered reports whether the record gives the call a number.
func (m Made) numbered() bool { return m.Changes || m.Once }

// Response is one response of a model, from the moment it is complete until the next one
// replaces it. It is safe for concurrent use, and a nil Response is one that has no calls.
type Response struct {
	mu     sync.Mutex
	places []*Place
	// recalled: it was made again from a record.
	recalled bool
	// after is the clock: time.After, or that of a test.
	after func(time.Duration) <-chan time.Time
}

// Place is where one call stands in its response. A nil Place is that of a call
// which no response made: it waits for nothing and sees the record as it is.
type Place struct {
	in *Response
	// The rest is guarded by in.mu.
	made Made
	// as is the call as it was opened; a framework may have changed it.
	as core.ToolCall
	// opened: somebody holds the call, so it will be executed or closed.
	opened bool
	begun  bool
	ended  bool
	// dropped: another response came before the call was begun.
	dropped bool
	// found is the record that this call was about to change.
	found *Record
	done  chan struct{} // closed when the call has ended
	// settled is closed when the call will change nothing more: at the latest
	// when it has ended.
	settled   chan struct{}
	isSettled bool
}

// NewResponse returns the response with these calls, in the order in which the model
// made them. The clock is time.After, or a stand-in of a test.
func NewResponse(made []Made, after func(time.Duration) <-chan time.Time) *Response {
	r := &Response{after: after}
	for _, m := range made {
		r.add(m)
	}
	return r
}

func (r *Response) add(m Made) *Place {
	p := &Place{in: r, made: m, done: make(chan struct{}), settled: make(chan struct{})}
	r.places = append(r.places, p)
	return p
}

// Calls returns the calls of the response, in order.
func (r *Response) Calls() []core.ToolCall {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := make([]core.ToolCall, 0, len(r.places))
	for _, p := range r.places {
		calls = append(calls, p.made.Call)
	}
	return calls
}

// Observed reports whether this process has seen the response itself. One that it
// has only recalled from the record may not be the last one: see [CanWait].
func (r *Response) Observed() bool { return r != nil && !r.recalled }

// Drop ends the calls that were not begun, because another response replaces this one. They
// will not begin any more, so no call may wait for them.
func (r *Response) Drop() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if !p.begun {
			p.dropped = true
			p.end()
		}
	}
}

// Begin notes that the call is being executed.
func (p *Place) Begin() {
	if p == nil {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.begun = true
}

// End notes that the call ended in whatever way: answered, denied, failed or
// interrupted. Calls that wait for it go on. Ending it again changes nothing.
func (p *Place) End() {
	if p == nil {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.end()
}

func (p *Place) end() {
	if !p.ended {
		p.begun, p.ended = true, true
		close(p.done)
		p.settle()
	}
}

// Settle notes that the call changes nothing more of what is loaded, though it goes
// on. Calls that wait for its changes go on.
func (p *Place) Settle() {
	if p == nil {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.settle()
}

func (p *Place) settle() {
	if !p.isSettled {
		p.isSettled = true
		close(p.settled)
	}
}

// Changes reports whether the call is one that changes what is loaded.
func (p *Place) Changes() bool { return p != nil && p.made.Changes } // it never changes

// Excess reports whether the call comes after too many others of its response.
func (p *Place) Excess() bool { return p != nil && p.made.Excess } // it never changes

// Position returns the index of the call in its response, 0 where no response made it.
func (p *Place) Position() int {
	if p == nil {
		return 0
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return slices.Index(p.in.places, p)
}

// Number returns the number that the record gave the call, 0 if it has none.
func (p *Place) Number() int {
	if p == nil {
		return 0
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.made.Number
}

// SetNumber notes the number of a call that the record numbers only now.
func (p *Place) SetNumber(n int) {
	if p == nil {
		return
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.made.Number = n
}

// Open finds the place of a call that is about to be judged, executed or closed, and marks it
// as in use. It returns nil for a call that no response made.
//
// It prefers the very call that the model made and that is not open yet. Next comes one that
// was opened in the same form, then one with the same id, or with the same name if there is no
// id. A framework may change the arguments of a call, lose its id, or spell its name in other
// capitals. Calls that cannot be told apart are each opened once, in order. When they are
// opened once more, a call that changes what is loaded is the first of them. Any other is the
// last, which sees the most lists of allowed tools.
func (r *Response) Open(call core.ToolCall) *Place {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.find(call)
	if p != nil && !p.opened {
		p.opened, p.as = true, call
	}
	return p
}

func (r *Response) find(call core.ToolCall) *Place {
	if p := r.first(func(p *Place) bool { return !p.opened && exact(p.made.Call, p.named(call)) }); p != nil {
		return p
	}
	opened := func(p *Place) bool {
		return p.opened && (exact(p.made.Call, p.named(call)) || exact(p.as, call))
	}
	if p := r.first(opened); p != nil {
		if !p.made.Changes {
			p = r.last(opened)
		}
		return p
	}
	if p := r.first(func(p *Place) bool { return !p.opened && changed(p.made.Call, p.named(call)) }); p != nil {
		return p
	}
	return r.last(func(p *Place) bool {
		made := p.made.Call
		return p.opened && made.ID != "" && made.ID == call.ID && strings.EqualFold(made.Name, call.Name) &&
			!(r.recalled && p.made.numbered()) // it may be a call of an earlier response
	})
}

func (r *Response) first(is func(*Place) bool) *Place {
	for _, p := range r.places {
		if is(p) {
			return p
		}
	}
	return nil
}

func (r *Response) last(is func(*Place) bool) *Place {
	for _, p := range slices.Backward(r.places) {
		if is(p) {
			return p
		}
	}
	return nil
}

// named returns the call with its name as the model spelled it, where the two
// differ in capitals only.
func (p *Place) named(call core.ToolCall) core.ToolCall {
	if strings.EqualFold(call.Name, p.made.Call.Name) {
		call.Name = p.made.Call.Name
	}
	return call
}

// exact reports whether an executed call is the one that was made, where its id
// may have been lost. Either may be in the form in which a record keeps it.
func exact(made, executed core.ToolCall) bool {
	return changed(made, executed) && same(made.Arguments, executed.Arguments, maxArguments)
}

// changed is the same where a framework may have changed the arguments.
func changed(made, executed core.ToolCall) bool {
	return same(made.Name, executed.Name, maxWord) && (made.ID == "" || executed.ID == "" || same(made.ID, executed.ID, maxWord))
}

// earlierCallTimeout is how long a call waits for an earlier one that is not open yet. It is
// long enough for calls that are started together. It ends the wait if the framework or the
// host has dropped the earlier call.
const earlierCallTimeout = 2 * time.Second

// Waits reports whether the response has a call before this one that Wait would
// wait for.
func (p *Place) Waits() bool {
	if p == nil {
		return false
	}
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	for _, earlier := range p.in.places {
		if earlier == p {
			return false
		}
		if earlier.made.Changes || earlier.made.Ordered && p.made.Ordered {
			return true
		}
	}
	return false
}

// WaitForChanges returns when every earlier call of the response that changes what is loaded
// has ended or settled. Denied, failed and interrupted calls count as ended. missed reports
// that such a call has not begun and may still come. The error is that of ctx.
func (p *Place) WaitForChanges(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, false)
}

// Wait is WaitForChanges for a call that is about to be executed: if its own
// order counts, it also waits for the earlier calls of which that is true.
func (p *Place) Wait(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, p != nil && p.made.Ordered)
}

func (p *Place) wait(ctx context.Context, ordered bool) (missed bool, err error) {
	if p == nil {
		return false, nil
	}
	for _, earlier := range p.in.places { // the calls of a response never change
		if earlier == p {
			break
		}
		if earlier.made.Changes || earlier.made.Ordered && ordered {
			until := earlier.settled
			if earlier.made.Ordered && ordered {
				until = earlier.done
			}
			came, err := earlier.comes(ctx, until)
			if err != nil {
				return false, err
			}
			missed = missed || earlier.made.Changes && !came
		}
	}
	return missed, nil
}

// comes waits until the call has ended, or settled, and reports whether the call came
// at all.
func (p *Place) comes(ctx context.Context, until <-chan struct{}) (came bool, err error) {
	for {
		select {
		case <-until:
			return !p.wasDropped(), nil
		default:
		}
		select {
		case <-until:
			return !p.wasDropped(), nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-p.in.after(earlierCallTimeout):
		}
		if !p.isExpected() {
			return false, nil
		}
	}
}

func (p *Place) wasDropped() bool {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.dropped
}

// isExpected reports whether somebody holds the call, and so will end it.
func (p *Place) isExpected() bool {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	return p.opened || p.begun
}
