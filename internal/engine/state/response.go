package state

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/core"
)

// ModelCall is one call of a response, as the model made it.
type ModelCall struct {
	Call core.ToolCall
	// Changes reports that the call loads, selects or unloads. Later calls of the response
	// wait for it.
	Changes bool
	// Number is the call's number in the record, 0 if it has none yet.
	Number int
	// Once reports that the call runs a command that may run only once. Such a call gets a
	// number, as a call that changes what is loaded does.
	Once bool
	// Ordered reports that the call also waits for earlier ordered calls.
	Ordered bool
	// Excess reports that the response has too many calls before this one, so it is not executed.
	Excess bool
}

// hasNumber reports whether the record gives the call a number.
func (m ModelCall) hasNumber() bool { return m.Changes || m.Once }

// Response tracks the calls of the model's last response while they are executed. It is safe
// for concurrent use. A nil Response has no calls.
type Response struct {
	mu     sync.Mutex
	places []*Place
	// isRecalled reports that RecallResponse made it from a record.
	isRecalled bool
	// after is time.After or the fake clock of a test.
	after func(time.Duration) <-chan time.Time
}

// Place is the place of one call in its response, with the progress of the call. A nil Place
// belongs to a call that no response made: it waits for no other call.
type Place struct {
	response *Response
	// The other fields are guarded by response.mu.
	call ModelCall
	// openedAs is the call that was passed to Open; a framework may have changed it.
	openedAs core.ToolCall
	// isOpened reports that a caller has opened the call and will execute or close it.
	isOpened bool
	isBegun  bool
	isEnded  bool
	// isDropped reports that another response came before the call began.
	isDropped bool
	// isPaused reports that the call was interrupted and will be executed again.
	isPaused bool
	// base is the record that this call was about to change.
	base *Record
	done chan struct{} // closed when the call has ended
	// settled is closed when the call will change nothing more, at the latest when it has
	// ended.
	settled   chan struct{}
	isSettled bool
}

// NewResponse returns a response with these calls, in the order in which the model made them.
// after is time.After or the fake clock of a test.
func NewResponse(made []ModelCall, after func(time.Duration) <-chan time.Time) *Response {
	r := &Response{after: after}
	for _, m := range made {
		r.add(m)
	}
	return r
}

func (r *Response) add(m ModelCall) *Place {
	p := &Place{response: r, call: m}
	p.reset()
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
		calls = append(calls, p.call.Call)
	}
	return calls
}

// Observed reports whether this process has seen the response itself. If it was recalled from
// the record, the model may have made a later one: see [CanRecordLater].
func (r *Response) Observed() bool { return r != nil && !r.isRecalled }

// Drop ends the calls that have not begun, because another response replaces this one. No call
// waits for them any more.
func (r *Response) Drop() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.places {
		if !p.isBegun {
			p.isDropped = true
			p.end()
		}
	}
}

// Begin notes that the execution of the call begins.
func (p *Place) Begin() {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.isBegun = true
}

// End notes that the call was answered, denied, interrupted, or has failed. Calls that wait
// for it continue. A second End does nothing.
func (p *Place) End() {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.end()
}

func (p *Place) end() {
	if !p.isEnded {
		p.isBegun, p.isEnded = true, true
		close(p.done)
		p.settle()
	}
}

// reset makes the call one that is still to be executed.
func (p *Place) reset() {
	p.isOpened, p.isBegun, p.isEnded, p.isSettled, p.isPaused, p.base = false, false, false, false, false, nil
	p.done, p.settled = make(chan struct{}), make(chan struct{})
}

// Settle notes that the call has loaded, selected and unloaded all it will, though it has not
// ended. Calls that wait for its changes continue.
func (p *Place) Settle() {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.settle()
}

func (p *Place) settle() {
	if !p.isSettled {
		p.isSettled = true
		close(p.settled)
	}
}

// Changes reports whether the call changes what is loaded.
func (p *Place) Changes() bool { return p != nil && p.call.Changes } // constant, so no lock

// Excess reports whether the response has too many calls before this one.
func (p *Place) Excess() bool { return p != nil && p.call.Excess } // constant, so no lock

// Position returns the index of the call in its response, 0 where no response made it.
func (p *Place) Position() int {
	if p == nil {
		return 0
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	return slices.Index(p.response.places, p)
}

// Number returns the call's number in the record, 0 if it has none.
func (p *Place) Number() int {
	if p == nil {
		return 0
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	return p.call.Number
}

// SetNumber sets the number of a call that had none.
func (p *Place) SetNumber(n int) {
	if p == nil {
		return
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	p.call.Number = n
}

// Open finds the place of a call that is about to be judged, executed or closed, and marks it
// as opened. It returns nil for a call that no response made.
//
// A framework may change the arguments of a call, lose its id, or change the case of its name.
// So Open prefers an unopened place with the same call, then a place that was opened with the
// same call. Last it takes one with the same id, or with the same name if there is no id.
//
// Open returns each of several equal calls once, in order. If all are open, it returns the first
// one that changes what is loaded. Otherwise it returns the last one, to which most lists of
// allowed tools apply.
func (r *Response) Open(call core.ToolCall) *Place {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.find(call)
	if p != nil && p.isPaused {
		r.resume()
	}
	if p != nil && !p.isOpened {
		p.isOpened, p.openedAs = true, call
	}
	return p
}

func (r *Response) find(call core.ToolCall) *Place {
	if p := r.first(func(p *Place) bool { return !p.isOpened && isSameCall(p.call.Call, p.named(call)) }); p != nil {
		return p
	}
	isOpenedAs := func(p *Place) bool {
		return p.isOpened && (isSameCall(p.call.Call, p.named(call)) || isSameCall(p.openedAs, call))
	}
	if p := r.first(isOpenedAs); p != nil {
		if !p.call.Changes {
			p = r.last(isOpenedAs)
		}
		return p
	}
	if p := r.first(func(p *Place) bool { return !p.isOpened && isSameNameAndID(p.call.Call, p.named(call)) }); p != nil {
		return p
	}
	return r.last(func(p *Place) bool {
		made := p.call.Call
		return p.isOpened && made.ID != "" && made.ID == call.ID && strings.EqualFold(made.Name, call.Name) &&
			!(r.isRecalled && p.call.hasNumber()) // it may be a call of an earlier response
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

// named returns the call with the model's spelling of its name, if the two names differ only
// in case.
func (p *Place) named(call core.ToolCall) core.ToolCall {
	if strings.EqualFold(call.Name, p.call.Call.Name) {
		call.Name = p.call.Call.Name
	}
	return call
}

// isSameCall reports whether an executed call may be the one that the model made. A missing id
// matches any id. Either call may be shortened by [ShortenCall].
func isSameCall(made, executed core.ToolCall) bool {
	return isSameNameAndID(made, executed) && isSameText(made.Arguments, executed.Arguments, maxArguments)
}

// isSameNameAndID is isSameCall for a call whose arguments a framework may have changed.
func isSameNameAndID(made, executed core.ToolCall) bool {
	return isSameText(made.Name, executed.Name, maxWord) && (made.ID == "" || executed.ID == "" || isSameText(made.ID, executed.ID, maxWord))
}

// MustWait reports whether the response has an earlier call that Wait would wait for.
func (p *Place) MustWait() bool {
	if p == nil {
		return false
	}
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	for _, earlier := range p.response.places {
		if earlier == p {
			return false
		}
		if earlier.call.Changes || earlier.call.Ordered && p.call.Ordered {
			return true
		}
	}
	return false
}

// WaitForChanges waits until every earlier call of the response that changes what is loaded
// has ended or settled. It stops waiting for a call that is not opened within
// earlierCallTimeout; missed then reports that it may still come. The error is that of ctx.
func (p *Place) WaitForChanges(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, false)
}

// Wait is WaitForChanges for a call that is about to be executed. If the call is ordered, Wait
// also waits for the earlier ordered calls to end.
func (p *Place) Wait(ctx context.Context) (missed bool, err error) {
	return p.wait(ctx, p != nil && p.call.Ordered)
}

func (p *Place) wait(ctx context.Context, ordered bool) (missed bool, err error) {
	if p == nil {
		return false, nil
	}
	for _, earlier := range p.response.places { // the calls of a response never change
		if earlier == p {
			break
		}
		if earlier.call.Changes || earlier.call.Ordered && ordered {
			until := earlier.ending(earlier.call.Ordered && ordered)
			came, err := earlier.waitUntil(ctx, until)
			if err != nil {
				return false, err
			}
			missed = missed || earlier.call.Changes && !came
		}
	}
	return missed, nil
}

// ending returns the channel that is closed when the call has settled, or with isWhole when it has
// ended.
func (p *Place) ending(isWhole bool) <-chan struct{} {
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	if isWhole {
		return p.done
	}
	return p.settled
}

// waitUntil waits until the call has ended, or settled, and reports whether the call came
// at all.
func (p *Place) waitUntil(ctx context.Context, until <-chan struct{}) (came bool, err error) {
	for {
		select {
		case <-until:
			return !p.isReplaced(), nil
		default:
		}
		select {
		case <-until:
			return !p.isReplaced(), nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-p.response.after(earlierCallTimeout):
		}
		if !p.isExpected() {
			return false, nil
		}
	}
}

func (p *Place) isReplaced() bool {
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	return p.isDropped
}

// isExpected reports whether the call was opened or has begun, so that it will end.
func (p *Place) isExpected() bool {
	p.response.mu.Lock()
	defer p.response.mu.Unlock()
	return p.isOpened || p.isBegun
}
