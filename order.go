package satchel

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
)

// begins is how long a call waits for one of lower position that nobody has
// begun to execute or asked the gate about: long enough for calls that start
// together, and an end to the wait where a framework or the host has dropped the
// other.
const begins = 2 * time.Second

// pendingCall is one call of the last response.
type pendingCall struct {
	call    core.ToolCall
	number  int // of a call that changes what is loaded
	changes bool
	ordered bool
	// judged: the gate has been asked about it, so it will be begun or finished.
	judged bool
	// found is the record that a change was about to change.
	found *session.Record
	// executed is the call as it was begun.
	executed core.ToolCall
	begun    bool
	ended    bool
	// dropped: another response came before it was begun.
	dropped bool
	// owed: it was executed, and the adapter has yet to say that it is finished.
	owed bool
	done chan struct{}
}

// respond replaces the calls under way by those of a new response. Nobody can
// begin the others any more, so nobody waits for them.
func (l *life) respond(calls []*pendingCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.response {
		if !p.begun {
			p.dropped = true
			p.finish()
		}
	}
	l.response, l.tidy = calls, others(calls) == nil
	l.closed = len(calls) == 0
}

// begin finds the call in the last response and notes that it is executed. It
// returns nil for a call that no response made.
func (l *life) begin(call core.ToolCall) *pendingCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.find(call)
	if p != nil && !p.begun {
		p.begun, p.executed = true, call
	}
	return p
}

// end notes that a call ended that was never begun: denied, dropped or
// interrupted. One that was begun is ended by its own execution; what is said of
// it here must not end a call of the same form that is yet to begin.
func (l *life) end(call core.ToolCall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.response {
		if p.owed && exactCall(p.executed, call) {
			p.owed = false
			return
		}
	}
	if p := l.find(call); p != nil && !p.begun {
		p.finish()
	}
}

// ended notes that the execution of a call ended in whatever way.
func (l *life) ended(p *pendingCall) {
	if p == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p.finish()
	p.owed = true
}

func (p *pendingCall) finish() {
	if !p.ended {
		p.begun, p.ended = true, true
		close(p.done)
	}
}

// find prefers the very call that a response made, then one that was executed
// before in the same form, and takes a call that a framework has changed for
// the one with its id, or with its name where there is no id. Two runs at the
// same time may use the same ids, so a call that was begun with other arguments
// is never taken for this one.
func (l *life) find(call core.ToolCall) *pendingCall {
	for _, same := range [...]func(*pendingCall) bool{
		func(p *pendingCall) bool { return !p.begun && exactCall(p.call, call) },
		func(p *pendingCall) bool { return p.begun && exactCall(p.executed, call) },
		func(p *pendingCall) bool { return !p.begun && changedCall(p.call, call) },
	} {
		for _, p := range l.response {
			if same(p) {
				return p
			}
		}
	}
	return nil
}

// exactCall reports whether an executed call is the one that was made, where
// its id may have been lost.
func exactCall(made, executed core.ToolCall) bool {
	return made.Name == executed.Name && made.Arguments == executed.Arguments &&
		(made.ID == executed.ID || made.ID == "" || executed.ID == "")
}

// changedCall is the same where a framework may have changed the arguments.
func changedCall(made, executed core.ToolCall) bool {
	return made.Name == executed.Name && (made.ID == executed.ID || made.ID == "" || executed.ID == "")
}

// changing notes what a change finds, for calls of lower position that are
// executed after it.
func (l *life) changing(own *pendingCall, rec *session.Record) {
	if own == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	own.found = rec
}

// at is the record as own sees it: a framework may execute calls of higher
// position first, and what they load, unload or evict has not happened at the
// place of own. After a restart what they took away is not known any more.
func (l *life) at(rec *session.Record, own *pendingCall) *session.Record {
	later, found := l.later(own)
	if found != nil {
		if rec.Version == found.Version {
			return rec
		}
		rec = rec.Clone()
		rec.Active, rec.Held = slices.Clone(found.Active), slices.Clone(found.Held)
		return rec
	}
	loaded := func(a session.Active) bool { return a.Call >= later }
	held := func(h session.Held) bool { return h.Call >= later }
	if later == 0 || !slices.ContainsFunc(rec.Active, loaded) && !slices.ContainsFunc(rec.Held, held) {
		return rec
	}
	rec = rec.Clone()
	rec.Active = slices.DeleteFunc(rec.Active, loaded)
	rec.Held = slices.DeleteFunc(rec.Held, held)
	return rec
}

// later returns the number of the first change of higher position than own in
// the response, 0 if there is none, and what the first of them that was executed
// has found, nil if none was.
func (l *life) later(own *pendingCall) (number int, found *session.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	passed := false
	for _, p := range l.response {
		if passed && p.changes {
			if number == 0 {
				number = p.number
			}
			if p.found != nil && (found == nil || p.found.Version < found.Version) {
				found = p.found
			}
		}
		passed = passed || p == own
	}
	return number, found
}

// wait returns when no change of lower position in the response is unfinished,
// nor, where the call's own order counts, a call of which that is true too.
// Failed, denied and interrupted calls count as finished. It reports whether a
// change is missed: nobody has begun it, and it may come yet.
func (l *life) wait(ctx context.Context, own *pendingCall) (missed bool, err error) {
	return l.waitBefore(ctx, own, own != nil && own.ordered)
}

// waitLoads returns when no change of lower position is unfinished.
func (l *life) waitLoads(ctx context.Context, own *pendingCall) (missed bool, err error) {
	return l.waitBefore(ctx, own, false)
}

func (l *life) waitBefore(ctx context.Context, own *pendingCall, ordered bool) (missed bool, err error) {
	if own == nil {
		return false, nil
	}
	l.mu.Lock()
	response := l.response
	l.mu.Unlock()
	for _, p := range response {
		if p == own {
			return missed, nil
		}
		if p.changes || p.ordered && ordered {
			came, err := l.waitFor(ctx, p)
			if err != nil {
				return false, err
			}
			missed = missed || p.changes && !came
		}
	}
	return missed, nil
}

// waitFor reports whether the call came, and has ended.
func (l *life) waitFor(ctx context.Context, p *pendingCall) (came bool, err error) {
	timer := time.NewTimer(begins)
	defer timer.Stop()
	for {
		select {
		case <-p.done:
			l.mu.Lock()
			defer l.mu.Unlock()
			return !p.dropped, nil
		case <-ctx.Done():
			return false, ctx.Err()
		case <-timer.C:
		}
		if !l.expects(p) {
			return false, nil
		}
	}
}

func (l *life) expects(p *pendingCall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.begun || p.judged
}
