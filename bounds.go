package satchel

import (
	"context"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// decide judges a request by the lists that hold for the agent, and then by those of
// the agents that called it.
func (r *Runtime) decide(ctx context.Context, key core.SessionKey, state *agentstate.State, rec *session.Record, q permission.Request) (permission.Verdict, error) {
	lists := r.lists(rec)
	if skill, ok := r.audiences.SeenBy(state).Snapshot().Skill(q.Skill); ok && q.Skill != "" {
		q.Skill = skill.Name
		held := slices.ContainsFunc(lists, func(l permission.List) bool { return l.Skill == skill.Name })
		switch {
		case held:
		case rec.Find(skill.Name) != nil || skill.AllowedTools == nil:
			q.Unlisted = true
		case r.runner != nil && r.runner.Unloaded: // a skill runs without being loaded: its list may deny, but grants nothing
			lists = append(lists, permission.List{Skill: skill.Name, Rules: permission.Rules(skill.AllowedTools), Repaired: true})
		}
	}
	for _, name := range r.toolsOf(state) {
		q.Offered = append(q.Offered, r.toolOf(name))
	}
	v, err := r.judging(state).Decide(ctx, q, lists)
	if err != nil || v.Outcome == permission.Denied {
		return v, err
	}
	return r.bounded(ctx, key, rec, q, v)
}

// boundsOf returns what the callers of an agent that runs under ctx leave to it. rec is
// the agent's record, nil if nothing there counts.
func (r *Runtime) boundsOf(ctx context.Context, key core.SessionKey, rec *session.Record) ([]bound, error) {
	callers, _ := ctx.Value(boundKey{}).([]bound)
	handed, err := r.handed(ctx, key, rec)
	return slices.Concat(callers, handed), err
}

// isBounded reports whether agents that called this one may leave it some bounds. Where
// this process has not seen the agent in its run, its record tells.
func (r *Runtime) isBounded(ctx context.Context, key core.SessionKey) bool {
	in, _ := handedInRun(ctx)
	rec := in.recordOf(key.Agent)
	if in != nil && rec == nil {
		return true
	}
	bounds, err := r.boundsOf(ctx, key, rec)
	return err != nil || len(bounds) > 0
}

// bounded judges a request by the lists of the agents that called this one. It
// returns v, the verdict of the agent's own lists, where they do not deny it.
func (r *Runtime) bounded(ctx context.Context, key core.SessionKey, rec *session.Record, q permission.Request, v permission.Verdict) (permission.Verdict, error) {
	q.Unlisted = false // the skill is loaded by this agent, not by its callers
	bounds, err := r.boundsOf(ctx, key, rec)
	if err != nil {
		return v, err
	}
	for _, b := range bounds {
		if b.key == key || b.frees(key.Agent) || isFree(r.free, key.Agent) {
			continue
		}
		caller, err := b.decide(ctx, q)
		if err != nil || caller.Outcome == permission.Denied {
			return caller, err
		}
		v.Pattern = v.Pattern || caller.Pattern
	}
	return v, nil
}
