package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/session"
)

// transferTool is the tool by which an agent of Eino's adk hands its conversation
// over.
const transferTool = "transfer_to_agent"

// Within returns the context for the host's tool of a call that passed the gate.
// An agent that runs under it, of whatever runtime, is bounded by the lists of the
// agent that made the call as well as by its own, and so is an agent to which the
// call transfers, where it has the session or the run (hook.WithRun) in common, also
// when it goes on in another process: what bounds it is in its own record, and where that
// is lost, it may do only what no list could forbid. [WithFreeAgents] names the
// exceptions. The error is one of the store, or that of ctx.
func (c *Call) Within(ctx context.Context) (context.Context, error) {
	r := c.runtime
	if c.operation != nil {
		return ctx, nil
	}
	var rec *session.Record
	if r.judge.Policy.Restricts() || r.isBounded(ctx, c.key) {
		if _, err := c.saving.Wait(ctx, c.place.WaitForChanges); err != nil {
			return nil, err
		}
		var err error
		if rec, err = c.saving.Load(ctx); err != nil {
			return nil, err
		}
		rec = c.place.Sees(rec)
	}
	bounds, err := r.handed(ctx, c.key, rec)
	if err != nil {
		return nil, err
	}
	if rec != nil {
		bounds = append(slices.Clip(bounds), r.leftBy(ctx, rec)...)
	}
	if to := transferTo(c.call.Arguments); c.call.Name == transferTool && to != "" {
		if err := r.handOver(ctx, c.key, to, bounds); err != nil {
			return nil, err
		}
	}
	if len(bounds) == 0 {
		return ctx, nil
	}
	callers, _ := ctx.Value(boundKey{}).([]bound)
	return context.WithValue(ctx, boundKey{}, slices.Concat(callers, bounds)), nil
}

// leftBy is boundBy for a call of the agent. In a run a call without a record comes from
// an agent that has lost it, and with it the lists, if it can have had any.
func (r *Runtime) leftBy(ctx context.Context, rec *session.Record) []bound {
	in, _ := handedInRun(ctx)
	if in == nil || rec.Version > 0 || !r.leavesLists(rec.Key) {
		return r.boundBy(rec)
	}
	return []bound{r.lostBound(rec.Key)}
}
