package satchel

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// Call is one tool call from the moment that an agent makes it until it has
// ended, from [Agent.Open]. It holds what is known about the call, so that
// nothing is decoded, judged or looked up twice. Its methods are called one
// after another, by whoever executes the call.
type Call struct {
	runtime   *Runtime
	key       core.SessionKey
	state     *agentstate.State
	call      core.ToolCall
	operation *tools.Operation // nil: a tool of the host
	args      tools.Args       // of an operation, decoded
	place     *response.Place  // nil: no known response made the call
	observed  bool             // this process has seen the last response

	// open: the call is not closed yet, and Shutdown waits for it.
	open bool

	// record is the session's record as it was loaded or saved last, nil where it
	// must be loaded. awaited says that the call has waited for earlier ones.
	record  *session.Record
	awaited bool

	// again is what the load answered that the call has made, "" for none.
	again string

	// approval is what a question about the call was answered for; nil for none.
	approval any

	// gate is the decision, nil until the call is judged. request, verdict and
	// judged are what it rests on: what the call would do, what the lists say of
	// it, and the record that held them.
	gate    *core.Decision
	request permission.Request
	verdict permission.Verdict
	judged  *session.Record
}

// Open begins a tool call of the agent, one of Satchel's tools or of the host's:
// it decodes the arguments and finds the call's place in the last response. Then
// ask [Call.Gate], let [Call.Run] answer a call of one of [Runtime.Tools], and
// [Call.Close] the call in every case: other calls of the response wait for
// those that change what is loaded.
//
// The error is one of the store, [ErrReserved], or [ErrShutdown].
func (a Agent) Open(ctx context.Context, call core.ToolCall) (*Call, error) {
	r := a.runtime
	if err := admit(a.key); err != nil {
		return nil, err
	}
	if !r.open.Enter() {
		return nil, ErrShutdown
	}
	c := &Call{runtime: r, key: a.key, call: call, state: r.states.Of(a.key), operation: r.set.Operation(call.Name), open: true}
	if err := r.audiences.Know(ctx, a.key, c.state); err != nil {
		r.open.Leave()
		return nil, err
	}
	last := c.state.LastResponse()
	if last == nil && c.needsRecord() {
		rec, err := r.loadSeen(ctx, a.key)
		if err != nil {
			r.open.Leave()
			return nil, err
		}
		c.record, last = rec, c.state.Recall(rec)
	}
	c.place, c.observed = last.Open(call), last.Observed()
	if c.operation != nil {
		c.args = c.operation.Decode(call.Arguments)
	}
	return c, nil
}

// ToolCall returns the call as it was opened.
func (c *Call) ToolCall() core.ToolCall { return c.call }

// Key returns the session and the agent that the call belongs to.
func (c *Call) Key() core.SessionKey { return c.key }

// Close ends the call in whatever way it ended: answered, denied, failed or
// interrupted. Calls that wait for it go on. Closing it again changes nothing.
func (c *Call) Close() {
	c.place.End()
	if c.open {
		c.open = false
		c.runtime.open.Leave()
	}
}

// wait waits for earlier calls of the response. What they changed is in the
// record that is loaded afterwards.
func (c *Call) wait(ctx context.Context, wait func(context.Context) (missed bool, err error)) (missed bool, err error) {
	missed, err = wait(ctx)
	if err == nil && !c.awaited {
		if c.awaited = true; c.place.Waits() {
			c.record = nil
		}
	}
	return missed, err
}

// load returns the session's record, which it loads at most once.
func (c *Call) load(ctx context.Context) (*session.Record, error) {
	if c.record == nil {
		rec, err := c.runtime.loadSeen(ctx, c.key)
		if err != nil {
			return nil, err
		}
		c.record = rec
	}
	return c.record, nil
}

// update saves what change makes of the record. The record that is stored
// afterwards is the call's.
func (c *Call) update(ctx context.Context, change tools.Change) (answer string, err error) {
	rec, err := c.load(ctx)
	if err != nil {
		return "", err
	}
	rec, err = session.UpdateFrom(ctx, c.runtime.stores.Of(c.key), rec, func(rec *session.Record) (*session.Record, error) {
		next, text, err := change(rec)
		answer = text
		return next, err
	})
	if err != nil {
		return "", err
	}
	c.record = rec
	return answer, nil
}

// errNumberTaken reports that another call was given the number that this one
// was to have.
var errNumberTaken = errors.New("the number of the call is taken")

// numbered is change together with the answer of the call under its number, which
// the record either knows, or gives to the call with the answer.
func (c *Call) numbered(change tools.Change, as session.Pending, known bool) tools.Change {
	only := c.isOnly()
	return func(rec *session.Record) (*session.Record, string, error) {
		if !known && rec.Calls >= as.Call {
			return nil, "", errNumberTaken
		}
		next, text, err := change(rec)
		if err != nil {
			return nil, "", err
		}
		if as.Answer = text; known {
			return response.Answered(rec, next, as), text, nil
		}
		return response.AnsweredFirst(rec, next, as, only), text, nil
	}
}

// isOnly reports whether the call is the only one of its response, which the record
// learns of with it, also in a process that has not seen the response.
func (c *Call) isOnly() bool {
	return c.place != nil && c.place.Number() == 0 || c.place == nil && !c.observed && c.call.ID != ""
}

// needsRecord reports whether the call cannot be judged and answered without the
// session's record.
func (c *Call) needsRecord() bool {
	return c.operation != nil || c.runtime.judge.Policy != permission.Off || c.runtime.approver != nil || len(c.runtime.activates) > 0
}
