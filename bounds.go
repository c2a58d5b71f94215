package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
)

// boundsOf returns what the callers of an agent that runs under ctx leave to it.
func (r *Runtime) boundsOf(ctx context.Context, key core.SessionKey) []bound {
	bounds, _ := ctx.Value(boundKey{}).([]bound)
	return slices.Concat(bounds, r.transfers.to(ctx, key))
}

// bounded judges a request by the lists of the agents that called this one. It
// returns v, the verdict of the agent's own lists, where they do not deny it.
func (r *Runtime) bounded(ctx context.Context, key core.SessionKey, q permission.Request, v permission.Verdict) (permission.Verdict, error) {
	q.Unlisted = false // the skill is loaded by this agent, not by its callers
	for _, b := range r.boundsOf(ctx, key) {
		if b.key == key || isFree(b.free, key.Agent) || isFree(r.free, key.Agent) {
			continue
		}
		caller, err := b.judge.Decide(ctx, q, b.lists)
		if err != nil {
			return v, err
		}
		if caller.Outcome == permission.Denied {
			caller.Reason += " These lists are of the agent that called you."
			return caller, nil
		}
		v.Pattern = v.Pattern || caller.Pattern
	}
	return v, nil
}
