package satchel

import (
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// judged finds the call that the gate is asked about in the last response, and
// notes that it was. Of calls that cannot be told apart each is taken once, and
// then the last, which sees the most lists. It returns nil for a call that no
// response made.
func (l *life) judged(call core.ToolCall) *pendingCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found *pendingCall
	for _, same := range [...]func(*pendingCall) bool{
		func(p *pendingCall) bool { return !p.judged && exactCall(p.call, named(call, p)) },
		func(p *pendingCall) bool { return p.judged && exactCall(p.call, named(call, p)) },
		func(p *pendingCall) bool { return !p.judged && changedCall(p.call, named(call, p)) },
		func(p *pendingCall) bool {
			return p.judged && p.call.ID != "" && p.call.ID == call.ID && strings.EqualFold(p.call.Name, call.Name)
		},
	} {
		for _, p := range l.response {
			if same(p) {
				if found = p; !p.judged {
					break
				}
			}
		}
		if found != nil {
			found.judged = true
			break
		}
	}
	return found
}

// named is the call with its name as the model spelled it: a framework may have
// found the tool in spite of that.
func named(call core.ToolCall, p *pendingCall) core.ToolCall {
	if strings.EqualFold(call.Name, p.call.Name) {
		call.Name = p.call.Name
	}
	return call
}

// recall makes the last response again from the record, where this process has
// seen none: an agent may be resumed between the response and its calls.
func (l *life) recall(rec *session.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.response != nil || len(rec.Pending) == 0 {
		return
	}
	others := rec.Others
	take := func(after int) {
		for len(others) > 0 && others[0].After <= after {
			o := others[0]
			others = others[1:]
			l.response = append(l.response, &pendingCall{
				call: core.ToolCall{ID: o.ID, Name: o.Name}, done: make(chan struct{}),
			})
		}
	}
	take(0)
	for _, was := range rec.Pending {
		p := &pendingCall{call: was.From, number: was.Call, changes: true, done: make(chan struct{})}
		if was.Done {
			p.executed = was.From
			p.finish()
		}
		l.response = append(l.response, p)
		take(was.Call)
	}
}

// fresh reports that this process has seen no response of the agent yet.
func (l *life) fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.response == nil
}

// others are the calls of a response that have no number, if any has one.
func others(pending []*pendingCall) []session.Other {
	var all []session.Other
	after := 0
	for _, p := range pending {
		if p.changes {
			after = p.number
		} else {
			all = append(all, session.Other{ID: p.call.ID, Name: p.call.Name, After: after})
		}
	}
	if after == 0 {
		return nil
	}
	return all
}

// isTidy reports whether the record is known to hold no calls of an earlier
// response: they must not pass for those of a later one.
func (l *life) isTidy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tidy
}
