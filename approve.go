package satchel

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/canonjson"
	"github.com/satchel-go/satchel/tools"
)

// ask lets the approver decide about the call, unless an earlier answer of the session covers
// it. rec is the record as the call sees it.
func (c *Call) ask(ctx context.Context, rec *state.Record) (core.Decision, error) {
	grant, bound, err := call.Bind(ctx, c.call, &c.request, c.operation != nil, rec, c.runtime.audiences.SeenBy(c.state))
	if err != nil {
		return core.Decision{}, err
	}
	return c.approve(ctx, rec, grant, core.Ask{Reason: c.verdict.Reason, Bound: bound, Lasting: call.Lasting(grant)}, nil)
}

// askRemote asks about a call that runs code while the text of a server is in view:
// no list decides that, and without an approver it is denied.
func (c *Call) askRemote(ctx context.Context, rec *state.Record) (core.Decision, error) {
	k := call.Remote(c.skills(), rec)[0]
	why := fmt.Sprintf("the text of skill %q comes from %s", k.Name, k.Origin)
	if c.runtime.approver == nil {
		return c.deny(ctx, judging.Verdict{Skill: k.Name, Reason: "denied: " + why + ", and there is nobody who could approve what runs while it is in view. Go on without running anything."}), nil
	}
	c.verdict.Reason = why
	return c.ask(ctx, rec)
}

// cameMeanwhile is the answer to a call that was approved before the text of a
// server came into view.
const cameMeanwhile = "denied: a skill that comes from a server was loaded while this call waited. Make this call again."

// question prepares the change of a call whose operation does so, and asks about it, unless
// an answer for the session covers it.
func (c *Call) question(ctx context.Context, rec *state.Record) (core.Decision, error) {
	prepared, err := c.operation.Prepare(ctx, &c.scoped().Scope, c.args)
	if err != nil {
		return core.Decision{}, err
	}
	c.prepared = prepared
	if prepared == nil || prepared.Question == nil {
		return c.allow(ctx, c.verdict), nil
	}
	q := prepared.Question
	grant := &state.Grant{Tool: c.call.Name, Use: canonjson.Sum(q.Lasting), Skills: map[string]string{}}
	return c.approve(ctx, rec, grant, core.Ask{Reason: "an edit of a skill", Detail: q.Detail, Bound: q.Bound, Lasting: q.LastingText}, q)
}

// approve asks the approver, unless grant, which is saved with an answer for the session,
// has been saved before. q is the question of the operation, nil for none.
func (c *Call) approve(ctx context.Context, rec *state.Record, grant *state.Grant, ask core.Ask, q *tools.Question) (core.Decision, error) {
	r, v := c.runtime, c.verdict
	switch {
	case grant != nil && rec.Granted(grant.Tool, grant.Use, grant.Skills):
		v.Reason = "approved for the session"
		return c.allow(ctx, v), nil
	case r.approver == nil: // a question of an operation: others are not asked then
		return c.denyEdit(ctx, judging.Verdict{Reason: q.NoApprover}, q, q.NoApprover), nil
	}
	ask.Key, ask.Call = c.key, c.call
	for _, a := range rec.Active {
		ask.Skills = append(ask.Skills, a.Skill)
	}
	r.report.Emit(ctx, core.Event{Kind: core.ToolAsked, Key: c.key, Call: c.call, Detail: ask.Reason})
	answer, err := r.approver(ctx, ask)
	if err != nil {
		return core.Decision{}, err
	}
	c.saving.Forget() // others may have saved the record while the approver was waiting
	switch answer {
	case core.AnswerSession:
		v.Reason = "approved for the session"
		if err := call.Save(ctx, r.stores.Of(c.key), c.key, grant); err != nil {
			return core.Decision{}, err
		}
	case core.AnswerAllow:
		v.Reason = "approved"
	default:
		v.Reason = "denied: this call of " + c.call.Name + " was not approved. Do not try to do the same in another way: go on without it, or say what you would need."
		return c.denyEdit(ctx, v, q, "not approved"), nil
	}
	c.isApproved = true
	return c.allow(ctx, v), nil
}

// denyEdit is deny for a call about which q was asked, nil for none.
func (c *Call) denyEdit(ctx context.Context, v judging.Verdict, q *tools.Question, why string) core.Decision {
	if q != nil && q.Denied != nil {
		q.Denied(ctx, why)
	}
	return c.deny(ctx, v)
}

// allow reports that the call may be executed.
//
//nolint:unparam // deny has the same shape
func (c *Call) allow(ctx context.Context, v judging.Verdict) core.Decision {
	c.runtime.report.Emit(ctx, core.Event{Kind: core.ToolAllowed, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	return core.Decision{}
}

// deny reports that the call may not be executed.
func (c *Call) deny(ctx context.Context, v judging.Verdict) core.Decision {
	c.runtime.report.Emit(ctx, core.Event{Kind: core.ToolDenied, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	if o := c.operation; o != nil && o.Refuse != nil {
		v.Reason = o.Refuse("denied", v.Reason)
	}
	return core.Decision{Denied: true, Reason: v.Reason}
}
