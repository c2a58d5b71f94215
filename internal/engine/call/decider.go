package call

import (
	"cmp"
	"context"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
)

// What decides about calls apart from lists, as in [core.Event].Decider.
const (
	theApprover   = "the approver"
	noApprover    = "no approver"
	fromServer    = "a skill from a server"
	anEarlierCall = "an earlier call of the message"
	noRule        = "no rule"
)

// decider returns what decided about a call with that verdict. It is never "".
func decider(v *judging.Verdict) string {
	switch {
	case v.Decider != "":
		return v.Decider
	case v.Skill != "":
		return "allowed-tools of " + v.Skill
	case v.Outcome == judging.Granted:
		return cmp.Or(v.Reason, noRule)
	}
	return noRule
}

// reportApproval reports the answer of the approver.
func (c *Call) reportApproval(ctx context.Context, answer core.Answer) {
	e := core.Event{Kind: core.ToolApproval, Key: c.key, Call: c.call, Detail: "not approved"}
	switch answer {
	case core.AnswerSession:
		e.Approved, e.Detail = true, "approved for the session"
	case core.AnswerAllow:
		e.Approved, e.Detail = true, "approved"
	}
	c.Report.Emit(ctx, e)
}
