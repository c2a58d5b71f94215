package satchel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Observe tells the runtime which calls the model made, in order, before any
// of them is executed. Call it for every complete response, also for one
// without calls: it is by their place in the response that calls which change
// what is loaded get their numbers, whatever order they are executed in.
func (r *Runtime) Observe(ctx context.Context, key core.SessionKey, calls []core.ToolCall) error {
	pending := make([]*pendingCall, 0, len(calls))
	numbered := 0
	for _, c := range calls {
		p := &pendingCall{call: c, done: make(chan struct{})}
		if o := r.set.Operation(c.Name); o != nil {
			if p.ordered = o.Ordered; o.Changes {
				p.changes = true
				numbered++
			}
		}
		pending = append(pending, p)
	}
	life := r.live.of(key)
	if numbered > 0 || r.mode == loadmode.Once || !life.isTidy() {
		_, err := session.Update(ctx, r.storeOf(key), key, func(rec *session.Record) (*session.Record, error) {
			next := rec.Clone()
			changed := loadmode.Spend(next, r.mode)
			if numbered > 0 && !again(next.Pending, pending) {
				changed, next.Pending = true, nil
				for _, p := range pending {
					if p.changes {
						next.Calls++
						p.number = next.Calls
						next.Pending = append(next.Pending, session.Pending{Call: p.number, From: p.call})
					}
				}
			}
			if rest := others(pending); !slices.Equal(rest, next.Others) {
				changed, next.Others = true, rest
			}
			if !changed {
				return nil, nil
			}
			return next, nil
		})
		if err != nil {
			return err
		}
	}
	life.respond(pending)
	return nil
}

// CallTool answers a call of one of [Runtime.Tools]. Whatever the model can act
// on is in the text; a Go error means that the run itself must stop, because
// its context ended or the store failed. Executing a call of the last response
// once more, after an interrupt or a restart, gives the same answer and changes
// nothing.
func (r *Runtime) CallTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	started := time.Now()
	answer, err := r.callTool(WithKey(ctx, key), key, call)
	if err != nil {
		return "", err
	}
	r.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: key, Call: call, Detail: answer, Duration: time.Since(started)})
	return answer, nil
}

func (r *Runtime) callTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	o := r.set.Operation(call.Name)
	if o == nil {
		return r.UnknownTool(call.Name), nil
	}
	life := r.live.of(key)
	own := life.begin(call)
	defer life.ended(own)
	missed := false
	if o.Changes || o.Awaits || o.Ordered {
		var err error
		if missed, err = life.wait(ctx, own); err != nil {
			return "", err
		}
	}
	s := r.scope(key)
	if !o.Always {
		if missed && r.judge.Policy == permission.Restrict {
			return r.deny(ctx, key, call, permission.Verdict{Reason: unknownLists}).Reason, nil
		}
		if reason, err := r.checked(ctx, s, call, life, own); err != nil || reason != "" {
			return reason, err
		}
	}
	if o.Awaits {
		record := s.Record
		s.Record = func(ctx context.Context) (*session.Record, error) {
			rec, err := record(ctx)
			if err != nil {
				return nil, err
			}
			return life.at(rec, own), nil
		}
	}
	if !o.Changes {
		return o.Answer(ctx, s, call.Arguments)
	}
	return r.change(ctx, s, o, own, call)
}

// checked decides once more by the lists, for a host that has not asked the gate,
// and returns why the call is denied. A call that passes by a pattern is bound to
// it.
func (r *Runtime) checked(ctx context.Context, s *tools.Scope, call core.ToolCall, life *life, own *pendingCall) (string, error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	u, all := r.use(ctx, call), r.lists(life.at(rec, own))
	v := r.judge.Decide(u, all)
	s.Narrow = v.Pattern
	if v.Pattern && len(u.Lines) > 1 {
		u.Lines = u.Lines[:1] // a script by its path alone
		s.Interpreted = !r.judge.Decide(u, all).Pattern
	}
	if v.Outcome != permission.Denied {
		return "", nil
	}
	return r.deny(ctx, s.Key, call, v).Reason, nil
}

// change answers a call that changes what is loaded, and saves its answer with
// the change, or by itself where nothing has changed: executed again, the call
// must not do what it did not do then.
func (r *Runtime) change(ctx context.Context, s *tools.Scope, o *tools.Operation, own *pendingCall, call core.ToolCall) (string, error) {
	answer, done, err := r.number(ctx, s, own, call)
	if err != nil || done {
		return answer, err
	}
	update, saved := s.Update, false
	s.Update = func(ctx context.Context, change tools.Change) (string, error) {
		return update(ctx, func(rec *session.Record) (*session.Record, string, error) {
			next, text, err := change(rec)
			if saved = err == nil; saved {
				next = answered(rec, next, s.Number, call, text)
			}
			return next, text, err
		})
	}
	answer, err = o.Answer(ctx, s, call.Arguments)
	if err != nil || saved {
		return answer, err
	}
	return s.Update(ctx, func(*session.Record) (*session.Record, string, error) { return nil, answer, nil })
}

// answered returns next with the answer of a call of the last response. It is
// nil, or rec, where there is nothing to save.
func answered(rec, next *session.Record, number int, call core.ToolCall, text string) *session.Record {
	i := slices.IndexFunc(rec.Pending, func(p session.Pending) bool { return p.Call == number })
	if i < 0 {
		return next
	}
	if next == nil || next == rec {
		next = rec.Clone()
	}
	next.Pending[i] = session.Pending{Call: number, From: call, Done: true, Answer: text}
	return next
}

// again gives the calls of a response that is observed once more, because the
// process ended before the host had stored it, the numbers that they have.
func again(known []session.Pending, calls []*pendingCall) bool {
	var changes []*pendingCall
	for _, p := range calls {
		if p.changes {
			changes = append(changes, p)
		}
	}
	if !slices.EqualFunc(known, changes, func(k session.Pending, p *pendingCall) bool { return !k.Done && k.From == p.call }) {
		return false
	}
	for i := range changes {
		changes[i].number = known[i].Call
	}
	return true
}

// UnknownTool is the answer to a call of a tool that does not exist. It names
// Satchel's tools, where there are skills; the host's tools the model was told.
func (r *Runtime) UnknownTool(name string) string {
	if len(name) > 80 {
		name = name[:80]
	}
	text := fmt.Sprintf("error: there is no tool %q; call one that you were given", strings.ToValidUTF8(name, "\uFFFD"))
	if len(r.offered) == 0 || r.current().empty {
		return text
	}
	var names []string
	for _, t := range r.offered {
		names = append(names, t.Name)
	}
	return text + ", such as " + strings.Join(names, ", ")
}

// Finished tells the runtime that a call ended in whatever way: answered,
// denied, failed or interrupted. Calls that wait for it go on.
func (r *Runtime) Finished(key core.SessionKey, call core.ToolCall) {
	r.live.of(key).end(call)
}

// number finds the number of a call that changes what is loaded, or the answer
// that it was given before.
func (r *Runtime) number(ctx context.Context, s *tools.Scope, own *pendingCall, call core.ToolCall) (answer string, done bool, err error) {
	rec, err := s.Record(ctx)
	if err != nil {
		return "", false, err
	}
	if i := pendingOf(rec.Pending, own, call); i >= 0 {
		s.Number = rec.Pending[i].Call
		if !rec.Pending[i].Done {
			r.live.of(s.Key).changing(own, rec)
		}
		return rec.Pending[i].Answer, rec.Pending[i].Done, nil
	}
	// No response made this call: the host calls by itself.
	rec, err = session.Update(ctx, r.storeOf(s.Key), s.Key, func(rec *session.Record) (*session.Record, error) {
		next := rec.Clone()
		next.Calls++
		return next, nil
	})
	if err != nil {
		return "", false, err
	}
	s.Number = rec.Calls
	return "", false, nil
}

// pendingOf returns the index of a call among those of the last response, or
// -1. What was answered already is found by the call as it was executed only.
func pendingOf(pending []session.Pending, own *pendingCall, call core.ToolCall) int {
	if own != nil {
		return slices.IndexFunc(pending, func(p session.Pending) bool {
			return p.Call == own.number && (!p.Done || exactCall(p.From, call))
		})
	}
	i := slices.IndexFunc(pending, func(p session.Pending) bool { return exactCall(p.From, call) })
	if i < 0 {
		i = slices.IndexFunc(pending, func(p session.Pending) bool { return !p.Done && changedCall(p.From, call) })
	}
	return i
}

// scope opens the runtime's rooms to the operations of one session.
func (r *Runtime) scope(key core.SessionKey) *tools.Scope {
	store, life := r.storeOf(key), r.live.of(key)
	s := &tools.Scope{
		Key: key, Catalog: r.catalog, Mode: r.mode, Max: r.max, Victim: r.victim,
		Runner: r.runner, Sessions: r.terminals,
		Files:      life.attached,
		Hidden:     life.isHidden,
		Restricted: r.restricted(life),
		Record:     func(ctx context.Context) (*session.Record, error) { return store.Load(ctx, key) },
		Pin:        func(ctx context.Context, c catalog.Content) error { return r.pin(ctx, key, c) },
		Emit: func(ctx context.Context, e core.Event) {
			e.Key = key
			r.Emit(ctx, e)
		},
	}
	s.Update = func(ctx context.Context, change tools.Change) (answer string, err error) {
		_, err = session.Update(ctx, store, key, func(rec *session.Record) (*session.Record, error) {
			next, text, err := change(rec)
			answer = text
			return next, err
		})
		return answer, err
	}
	return s
}
