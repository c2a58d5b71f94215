package call

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// ask asks the approver about the call, unless an earlier approval of the session covers it. rec
// is the record as the call sees it.
func (c *Call) ask(ctx context.Context, rec *state.Record) (core.Decision, error) {
	grant, bound, err := newGrant(ctx, c.call, &c.request, c.operation != nil, rec, c.Audiences.SkillsOf(c.state))
	if err != nil {
		return core.Decision{}, err
	}
	return c.approve(ctx, rec, grant, core.Ask{Reason: c.verdict.Reason, Bound: bound, Lasting: lastingText(grant)}, nil)
}

// askRemote asks about a call that runs code while text of a skill from a server is in view. No
// list can allow such a call. Without an approver it is denied.
func (c *Call) askRemote(ctx context.Context, rec *state.Record) (core.Decision, error) {
	k := remoteSkills(c.skills(), rec)[0]
	why := fmt.Sprintf("the text of skill %q comes from %s", k.Name, k.Origin)
	if c.Approver == nil {
		return c.deny(ctx, judging.Verdict{Skill: k.Name, Decider: fromServer + ", without an approver", Reason: "denied: " + why + ", and there is nobody who could approve what runs while it is in view. Go on without running anything."}), nil
	}
	c.verdict.Reason, c.verdict.Decider = why, fromServer
	return c.ask(ctx, rec)
}

// loadedWhileWaiting answers a call that was approved before the text of a server's skill came
// into view.
const loadedWhileWaiting = "denied: a skill that comes from a server was loaded while this call waited. Make this call again."

// askAboutChange prepares the change of a call and asks about it, unless an earlier approval of
// the session covers it. It is used for operations with Prepare.
func (c *Call) askAboutChange(ctx context.Context, rec *state.Record) (core.Decision, error) {
	prepared, err := c.operation.Prepare(ctx, c.scoped().Public(), c.args)
	if err != nil {
		return core.Decision{}, err
	}
	c.prepared = prepared
	if prepared == nil || prepared.Question == nil {
		return c.allow(ctx, c.verdict), nil
	}
	q := prepared.Question
	c.verdict.Decider = "an edit of a skill"
	grant := &state.Grant{Tool: c.call.Name, Use: digestOf(q.Lasting), Skills: map[string]string{}}
	return c.approve(ctx, rec, grant, core.Ask{Reason: "an edit of a skill", Detail: q.Detail, Bound: q.Bound, Lasting: q.LastingText}, q)
}

// approve asks the approver, unless rec has the grant. If the approver allows the call for the
// session, it saves grant. q is the question of the operation, nil for none.
func (c *Call) approve(ctx context.Context, rec *state.Record, grant *state.Grant, ask core.Ask, q *tools.Question) (core.Decision, error) {
	v := c.verdict
	isGranted, err := c.isGranted(ctx, rec, grant)
	if err != nil {
		return core.Decision{}, err
	}
	switch {
	case isGranted:
		v.Reason, v.Decider = "approved for the session", theApprover
		return c.allow(ctx, v), nil
	case c.Approver == nil: // only questions of operations come here without an approver
		return c.denyEdit(ctx, judging.Verdict{Reason: q.NoApprover, Decider: noApprover}, q, q.NoApprover), nil
	}
	ask.Key, ask.Call = c.key, c.call
	for _, a := range rec.Active {
		ask.Skills = append(ask.Skills, a.Skill)
	}
	c.Report.Emit(ctx, core.Event{Kind: core.ToolAsked, Key: c.key, Call: c.call, Detail: ask.Reason, Decider: decider(&v)})
	answer, err := c.Approver(ctx, ask)
	if err != nil {
		return core.Decision{}, err
	}
	v.Decider = theApprover
	c.reportApproval(ctx, answer)
	c.record.Invalidate() // others may have saved the record while the approver was waiting
	switch answer {
	case core.AnswerSession:
		v.Reason = "approved for the session"
		of := c.grantKey(ctx)
		if err := saveGrant(ctx, c.Stores.Of(of), of, grant); err != nil {
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

// denyEdit is deny, and also informs the operation whose question q was denied. q is nil for
// none.
func (c *Call) denyEdit(ctx context.Context, v judging.Verdict, q *tools.Question, why string) core.Decision {
	if q != nil && q.Denied != nil {
		q.Denied(ctx, why)
	}
	return c.deny(ctx, v)
}

// grantKey returns the key of the agent that keeps the approvals of the session: the agent of the
// call or, in a fork, its parent.
func (c *Call) grantKey(ctx context.Context) core.SessionKey {
	if f := callctx.ForkOf(ctx); f.Is(c.key) {
		return f.Parent
	}
	return c.key
}

// isGranted reports whether an earlier approval for the session covers the call of want. rec is
// the record as the call sees it.
func (c *Call) isGranted(ctx context.Context, rec *state.Record, want *state.Grant) (bool, error) {
	if want == nil {
		return false, nil
	}
	if key := c.grantKey(ctx); key != c.key {
		var err error
		if rec, err = c.Stores.Load(ctx, key); err != nil {
			return false, err
		}
	}
	return hasGrant(rec, want), nil
}

// hasGrant reports whether an earlier approval for the session covers the call of want.
func hasGrant(rec *state.Record, want *state.Grant) bool {
	return slices.ContainsFunc(rec.Grants, func(g state.Grant) bool {
		if g.Tool != want.Tool || g.Use != want.Use {
			return false
		}
		for name, digest := range want.Skills {
			if g.Skills[name] != digest {
				return false
			}
		}
		return true
	})
}

// lastingText says, in the question to the approver, what an answer for the session allows.
func lastingText(grant *state.Grant) string {
	switch {
	case grant == nil:
		return "nothing but this call"
	case grant.Use != "":
		return "this call, with the same arguments"
	}
	return "every call of " + grant.Tool
}

// newGrant returns the grant that an approval for the session saves. It is nil if an approval can
// only cover this call. The string is a checksum of the question. An approval counts only while
// call, loaded skills and files are the same.
//
// For a command, and for a call that isExact, the grant covers this call with the present files.
// For any other tool it covers all calls. rec is the record as the call sees it, and skills the
// catalog of its agent.
func newGrant(ctx context.Context, call core.ToolCall, request *permission.Request, exact bool, rec *state.Record, skills *catalog.Catalog) (*state.Grant, string, error) {
	grant := &state.Grant{Tool: call.Name, Skills: map[string]string{}}
	for _, a := range rec.Active {
		parts := []string{rec.Full(a.Digest)}
		for _, h := range rec.Lists {
			if h.Skill == a.Skill && !h.Old {
				parts = append(append(parts, "listed"), h.Tools...)
			}
		}
		if k, ok := skills.Snapshot().Skill(cmp.Or(a.ID, a.Skill)); ok && k.Origin != "" {
			parts = append(parts, k.ID, k.Revision) // the revision stands for all files of the skill
		}
		grant.Skills[a.Skill] = digestOf(parts...)
	}
	isReadable := true
	if request.Takes == permission.Command || exact {
		ref := request.Skill
		if a := rec.Find(ref); a != nil {
			ref = cmp.Or(a.ID, ref) // the name may mean another skill now
		}
		files, err := digestFiles(ctx, skills, ref)
		if err != nil {
			return nil, "", err
		}
		isReadable = files != ""
		grant.Use = digestOf(canonical(call.Arguments), request.Text, files)
	}
	parts := []string{call.Name, grant.Use, canonical(call.Arguments)}
	for _, name := range slices.Sorted(maps.Keys(grant.Skills)) {
		parts = append(parts, name, grant.Skills[name])
	}
	if !isReadable {
		grant = nil
	}
	return grant, digestOf(parts...), nil
}

// saveGrant saves a grant for the session of key. It does nothing if grant is nil.
func saveGrant(ctx context.Context, records *state.Records, key core.SessionKey, grant *state.Grant) error {
	if grant == nil {
		return nil
	}
	_, err := records.Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Key = key
		next.Grant(*grant)
		return next, nil
	})
	return err
}

// digestFiles returns a checksum of the names and contents of all files of a skill, because a
// script may change while SKILL.md stays the same. It returns "" if the skill is too large or
// cannot be read, and "none" if skill is "".
func digestFiles(ctx context.Context, skills *catalog.Catalog, skill string) (string, error) {
	if skill == "" {
		return "none", nil
	}
	names, more, err := skills.Files(ctx, skill, maxBoundFiles)
	if err != nil || more {
		return "", ctx.Err()
	}
	var parts []string
	size := 0
	for _, name := range names {
		data, err := skills.ReadFile(ctx, skill, name)
		if size += len(data); err != nil || size > maxBoundBytes {
			return "", ctx.Err()
		}
		parts = append(parts, name, digestOf(string(data)))
	}
	return digestOf(parts...), nil
}

// digestOf returns the SHA-256 of parts in lower-case hex. It hashes the length of each part too,
// so different lists have different hashes.
func digestOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
