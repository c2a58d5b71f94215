package satchel

import (
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/canonjson"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// question asks about a call whose operation has a question of its own, unless an
// answer for the session covers it.
func (c *Call) question(ctx context.Context, rec *session.Record) (core.Decision, error) {
	r, v := c.runtime, c.verdict
	s := r.scope(c.key, c.state)
	s.Record = c.load
	q, err := c.operation.Question(ctx, s, c.args)
	if err != nil || q == nil {
		return c.allow(ctx, v), err
	}
	grant := &session.Grant{Tool: c.call.Name, Use: canonjson.Sum(q.Lasting), Skills: map[string]string{}}
	if rec.Granted(grant.Tool, grant.Use, grant.Skills) {
		v.Reason = "approved for the session"
		return c.allow(ctx, v), nil
	}
	if r.approver == nil {
		return c.deny(ctx, permission.Verdict{Reason: q.Nobody}), nil
	}
	question := core.Ask{Key: c.key, Call: c.call, Reason: "an edit of a skill", Detail: q.Detail, Bound: q.Bound, Lasting: q.LastingText}
	for _, a := range rec.Active {
		question.Skills = append(question.Skills, a.Skill)
	}
	r.tell.Emit(ctx, core.Event{Kind: core.ToolAsked, Key: c.key, Call: c.call, Detail: question.Reason})
	answer, err := r.approver(ctx, question)
	if err != nil {
		return core.Decision{}, err
	}
	c.record = nil // others may have saved the record while the approver was waiting
	switch answer {
	case core.AnswerSession:
		if err := c.grant(ctx, grant); err != nil {
			return core.Decision{}, err
		}
		v.Reason = "approved for the session"
	case core.AnswerAllow:
		v.Reason = "approved"
	default:
		v.Reason = "denied: this call of " + c.call.Name + " was not approved. Do not try to do the same in another way: go on without it, or say what you would need."
		return c.deny(ctx, v), nil
	}
	c.approval = q.Approval
	return c.allow(ctx, v), nil
}
