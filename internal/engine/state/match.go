package state

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
)

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
