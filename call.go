package satchel

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Call is one tool call from the moment that an agent makes it until it has ended, from
// [Agent.Open]. It holds what is known about the call, so that nothing is decoded, judged or
// looked up twice. The executor of the call uses its methods one after another.
type Call struct {
	runtime   *Runtime
	key       core.SessionKey
	state     *view.State
	call      core.ToolCall
	operation *tools.Operation // nil: a tool of the host
	args      tools.Args       // of an operation, decoded
	place     *state.Place     // nil: no known response made the call
	saving    call.Saving      // its record, and what is saved of it

	// open: the call is not closed yet, and Shutdown waits for it.
	open bool

	// prepared is the change of the call, nil where the operation prepares none.
	// isApproved: a person has allowed this very call.
	prepared   *tools.Prepared
	isApproved bool

	// gate is the decision, nil until the call is judged. request, verdict and
	// judged are what it rests on: what the call would do, what the lists say of
	// it, and the record that held them.
	gate    *core.Decision
	request permission.Request
	verdict judging.Verdict
	judged  *state.Record
	// lapsed: a person has allowed what only lapsed lists deny.
	lapsed bool
}

// Open begins a tool call of the agent, one of Satchel's tools or of the host's:
// it decodes the arguments and finds the call's place in the last response. Then
// ask [Call.Gate], let [Call.Run] answer a call of one of [Runtime.Tools], and
// [Call.Close] the call in every case: other calls of the response wait for
// those that change what is loaded.
//
// The error is one of the store, [ErrReserved], or [errShutdown].
func (a Agent) Open(ctx context.Context, made core.ToolCall) (*Call, error) {
	r := a.runtime
	if err := admit(a.key); err != nil {
		return nil, err
	}
	if !r.open.Enter() {
		return nil, errShutdown
	}
	c := &Call{runtime: r, key: a.key, call: made, state: r.states.Of(a.key), operation: r.offer.Set.Operation(made.Name), open: true}
	if err := r.audiences.Know(ctx, a.key, c.state); err != nil {
		r.open.Leave()
		return nil, err
	}
	c.saving = call.Saving{Stores: r.stores, Key: a.key, Call: made}
	last := c.state.LastResponse()
	if last == nil && c.needsRecord() {
		rec, err := c.saving.Load(ctx)
		if err != nil {
			r.open.Leave()
			return nil, err
		}
		last = c.state.Recall(rec)
	}
	c.place = last.Open(made)
	c.saving.Place, c.saving.Observed = c.place, last.Observed()
	if c.operation != nil {
		c.args = c.operation.Decode(made.Arguments)
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

// scoped returns what the operation may use of the runtime.
func (c *Call) scoped() *call.Scope {
	return c.runtime.scopes.Call(c.state, &c.saving, c.operation.Awaits())
}

// skills are those that the agent sees.
func (c *Call) skills() *catalog.Snapshot {
	return c.runtime.audiences.SeenBy(c.state).Snapshot()
}

// needsRecord reports whether the call cannot be judged and answered without the
// session's record.
func (c *Call) needsRecord() bool {
	return c.operation != nil || c.runtime.judge.Policy != permission.Off || c.runtime.approver != nil || len(c.runtime.activates) > 0
}

// Within returns the context for the host's tool of a call that passed the gate.
// The lists of the agent that made the call bound every agent that runs under this
// context, of whatever runtime, beside its own lists. They also bound an agent to which
// the call hands the conversation over, where the host's context comes from [WithSession]
// or [BeginTurn]. They hold in this process only. The error is one of the store, or that
// of ctx.
func (c *Call) Within(ctx context.Context) (context.Context, error) {
	if c.operation != nil {
		return ctx, nil
	}
	return c.runtime.bounds.Within(ctx, c.key, c.call, func(ctx context.Context) (*state.Record, error) {
		if _, err := c.saving.Wait(ctx, c.place.WaitForChanges); err != nil {
			return nil, err
		}
		rec, err := c.saving.Load(ctx)
		if err != nil {
			return nil, err
		}
		return c.place.Sees(rec), nil
	})
}
