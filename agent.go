package satchel

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/internal/response"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// Agent is one agent in one session, from [Runtime.Agent]. It is a small value
// that holds no state of its own: everything is kept under its key. It is safe
// for concurrent use.
type Agent struct {
	runtime *Runtime
	key     core.SessionKey
}

// Agent returns the agent with this key. The key names a session and an agent in
// it; nothing has to exist under it yet.
func (r *Runtime) Agent(key core.SessionKey) Agent { return Agent{runtime: r, key: key} }

// Prepare returns the request as the model should be sent it; see
// [Runtime.Prepare]. The key of req is replaced by the agent's. During
// [Runtime.Shutdown] it fails with [ErrShutdown].
func (a Agent) Prepare(ctx context.Context, req core.Request) (core.View, error) {
	req.Key = a.key
	return a.runtime.Prepare(ctx, req)
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

// CallTool opens, judges, runs and closes a call of one of [Runtime.Tools], for a
// host with a loop of its own; the reason is the answer to a call that is denied.
// [Call.Run] says what the answer and the error are. Executing a call of the last
// response once more, after an interrupt or a restart, gives the same answer and
// changes nothing.
func (r *Runtime) CallTool(ctx context.Context, key core.SessionKey, call core.ToolCall) (string, error) {
	c, err := r.Agent(key).Open(ctx, call)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Run(ctx)
}

// maxCalls bounds the calls of the runtime's own tools in one response: each of them
// may be an entry of the record, which each of them reads.
const maxCalls = 256

// observe enters a complete response of the model; see hook.Runtime.
func (a Agent) observe(ctx context.Context, calls []core.ToolCall) error {
	r := a.runtime
	if err := admit(a.key); err != nil {
		return err
	}
	state := r.states.Of(a.key)
	made := make([]response.Made, 0, len(calls))
	changes, own := false, 0
	for _, call := range calls {
		m := response.Made{Call: call}
		o := r.set.Operation(call.Name)
		if o != nil {
			own++
			m.Excess = own > maxCalls
		}
		if o != nil && !m.Excess {
			m.Changes, m.Ordered = o.Changes && (o.ChangesWith == nil || o.IsChange(o.Decode(call.Arguments))) || r.mayLoadAgain(state, o, call), o.Ordered
			m.Once = r.once && o.Once
		}
		changes = changes || m.Changes || m.Once
		made = append(made, m)
	}
	again := r.once && !state.WereAnswered(calls)
	clean := true
	if changes || r.mode == loadmode.Once || !state.IsClean() {
		var events []core.Event
		rec, err := session.Update(ctx, r.stores.Of(a.key), a.key, func(rec *session.Record) (*session.Record, error) {
			next := rec.Clone()
			events = nil
			changed := loadmode.Spend(next, r.mode)
			if changed {
				events = records.Answered(rec, next)
			}
			if !response.CanWait(rec, made) {
				changed = response.Enter(next, made, again) || changed
			}
			if !changed {
				return nil, nil
			}
			return next, nil
		})
		if err != nil {
			return err
		}
		for _, e := range events {
			r.tell.Emit(ctx, e)
		}
		clean = len(rec.Unnumbered) == 0
	}
	state.Respond(response.New(made, time.After), len(calls), clean)
	return nil
}
