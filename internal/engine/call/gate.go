package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Decide decides whether the call may be executed. First the host's gate decides, then the lists
// of the loaded skills, then the approver. Later calls of Decide return the same decision, unless
// the record has changed while an approver was asked.
func (c *Call) Decide(ctx context.Context) (core.Decision, error) {
	if c.decision == nil {
		d, err := c.judge(ctx)
		if err != nil {
			return core.Decision{}, err
		}
		if d.Denied {
			d.Reason = c.record.WithReload(d.Reason)
		}
		c.decision = &d
	}
	if c.judgedRecord != nil && c.record.Record() == nil && !c.decision.Denied && c.operation != nil {
		return c.rejudge(ctx)
	}
	return *c.decision, nil
}

// judge makes the decision of Decide.
func (c *Call) judge(ctx context.Context) (core.Decision, error) {
	if c.operation != nil && c.place.Excess() {
		return c.deny(ctx, judging.Verdict{Reason: tooMany, Decider: "the limit of calls in one message"}), nil
	}
	if c.Calls.Gate != nil {
		if d := c.Calls.Gate(ctx, c.key, c.call); d.Denied {
			return c.deny(ctx, judging.Verdict{Reason: d.Reason, Decider: "the host's gate"}), nil
		}
	}
	if err := c.finishRefresh(ctx); err != nil {
		return core.Decision{}, err
	}
	for _, try := range []struct {
		check   func(context.Context) (refusal string, err error)
		decider string
	}{{c.checkToolSkills, "the skills that the tool needs"}, {c.reload, "the reload of the skill"}} {
		if refusal, err := try.check(ctx); err != nil {
			return core.Decision{}, err
		} else if refusal != "" {
			return c.deny(ctx, judging.Verdict{Reason: refusal, Decider: try.decider}), nil
		}
	}
	c.request = c.requestOf(ctx)
	asks := c.operation != nil && c.operation.Prepare != nil
	runs := runsBesideRemote(c.skills(), &c.request)
	if c.request.Tool.Always && !asks || !asks && !runs && c.Allowlists.Judge.Policy == permission.Off && c.Approver == nil && !c.Allowlists.IsBound(ctx, c.key) {
		v, err := c.Allowlists.Judge.Decide(ctx, c.request, nil)
		if err != nil {
			return core.Decision{}, err
		}
		return c.allow(ctx, v), nil
	}
	missed, err := c.record.Wait(ctx, c.place.WaitForChanges)
	if err != nil {
		return core.Decision{}, err
	}
	if missed && c.Allowlists.Judge.Policy.Restricts() && !c.request.Tool.Always {
		return c.deny(ctx, judging.Verdict{Reason: unknownLists, Decider: anEarlierCall}), nil
	}
	rec, err := c.record.Load(ctx)
	if err != nil {
		return core.Decision{}, err
	}
	c.judgedRecord = rec
	rec = c.place.RecordFor(rec)
	if c.request.Skill != "" {
		if skill, err := skilltools.ResolveFor(c.skills(), rec, c.request.Skill); err == nil {
			c.request.Skill = skill.Name
		}
	}
	if c.verdict, err = c.Allowlists.Decide(ctx, c.key, c.state, rec, c.request); err != nil {
		return core.Decision{}, err
	}
	switch {
	case c.verdict.Question != "" && c.Approver != nil && !asks:
		c.verdict.Reason = c.verdict.Question
		d, err := c.ask(ctx, rec)
		c.isLapsedApproved = err == nil && !d.Denied
		return d, err
	case c.verdict.Outcome == judging.Denied:
		return c.deny(ctx, c.verdict), nil
	case asks:
		return c.askAboutChange(ctx, rec)
	case runs && len(remoteSkills(c.skills(), rec)) > 0:
		return c.askRemote(ctx, rec)
	case c.verdict.Outcome == judging.Granted, c.Approver == nil, c.request.Takes == judging.Inert,
		callctx.IsUnknownTool(ctx) && !c.Allowlists.Names.IsOfHost(c.call.Name):
		return c.allow(ctx, c.verdict), nil
	}
	return c.ask(ctx, rec)
}

// tooMany answers a call that comes after too many calls of its response.
const tooMany = "error: not executed: one message may hold 256 calls of skill tools; make this call again in your next message if you still need it"

// unknownLists answers a call that is executed before an earlier load of its response, because
// that load may add a list.
const unknownLists = "denied: a call before this one in the same message has not been executed, and it may change which tools are allowed. Make this call again."

// reload loads the skill that the call runs, if its load has ended but its text is still in view.
// It does so before the call is judged, so that the skill's list applies to this call. refusal
// says why the call cannot run, "" if it can. The host's gate may deny the load like a call of
// skill_load.
func (c *Call) reload(ctx context.Context) (refusal string, err error) {
	if c.operation == nil || !c.operation.Reloads() || !c.Rules.KeepsTexts || c.place != nil && !c.place.Changes() {
		return "", nil
	}
	defer c.place.Settle()
	if _, err := c.record.Wait(ctx, c.place.WaitForChanges); err != nil {
		return "", err
	}
	err = c.record.Reload(ctx, &c.scoped().Scope, c.args.Text("skill"), func(skill string) bool {
		return c.Calls.Gate != nil && c.Calls.Gate(ctx, c.key, LoadCall(c.call, skill)).Denied
	})
	if refused, ok := errors.AsType[tools.ModelError](err); ok {
		return string(refused), nil
	}
	return "", err
}

// checkToolSkills returns why a tool of the host may not be called yet, "" if it may. ToolSkills
// lists the skills that it needs.
func (c *Call) checkToolSkills(ctx context.Context) (string, error) {
	skills := c.ToolSkills[c.call.Name]
	if c.operation != nil || len(skills) == 0 {
		return "", nil
	}
	missed, err := c.record.Wait(ctx, c.place.WaitForChanges)
	if err != nil {
		return "", err
	}
	if missed {
		return unknownLists, nil
	}
	rec, err := c.record.Load(ctx)
	if err != nil {
		return "", err
	}
	rec = c.place.RecordFor(rec)
	for _, name := range skills {
		if skill, err := skilltools.ResolveFor(c.skills(), rec, name); err == nil && rec.Find(skill.Name) != nil {
			return "", nil
		}
	}
	return notLoadedText(c.call.Name, skills, rec), nil
}

// requestOf returns what the call would do, from the arguments as the tool will read them.
func (c *Call) requestOf(ctx context.Context) permission.Request {
	tool := c.Allowlists.Tool(c.call.Name)
	if c.operation == nil {
		if text, ok := callctx.Input(ctx); ok {
			return tool.RequestText(text)
		}
		return tool.Request(c.call.Arguments)
	}
	if c.operation.Request == nil {
		request := tool.Request(c.call.Arguments)
		if c.operation.Session != "" && c.Terminals != nil {
			request.Skill = c.Terminals.Skill(c.key, c.args.Text(c.operation.Session))
		}
		return request
	}
	request := c.operation.Request(c.args)
	request.Tool = tool
	return request
}

// matchPattern reports whether the call is allowed only because a pattern matches its command.
// interpreted reports whether the pattern matches only with the interpreter for the script's
// extension, and not by the script's path.
func (c *Call) matchPattern(ctx context.Context) (pattern, interpreted bool, err error) {
	if !c.verdict.ByPattern || len(c.request.Lines) < 2 {
		return c.verdict.ByPattern, false, nil
	}
	byPath := c.request
	byPath.Lines = byPath.Lines[:1]
	v, err := c.Allowlists.Decide(ctx, c.key, c.state, c.place.RecordFor(c.judgedRecord), byPath)
	return true, !v.ByPattern, err
}

// rejudge judges the call by the lists again after an approver was asked, because a skill that
// was loaded meanwhile may deny it.
func (c *Call) rejudge(ctx context.Context) (core.Decision, error) {
	rec, err := c.record.Load(ctx)
	if err != nil || rec.Version == c.judgedRecord.Version {
		return *c.decision, err
	}
	remote := func(rec *state.Record) int { return len(remoteSkills(c.skills(), c.place.RecordFor(rec))) }
	if runsBesideRemote(c.skills(), &c.request) && remote(rec) > remote(c.judgedRecord) {
		d := c.deny(ctx, judging.Verdict{Reason: loadedWhileWaiting, Decider: fromServer})
		c.decision = &d
		return d, nil
	}
	c.judgedRecord = rec
	if c.verdict, err = c.Allowlists.Decide(ctx, c.key, c.state, c.place.RecordFor(rec), c.request); err != nil {
		return core.Decision{}, err
	}
	if c.verdict.Outcome == judging.Denied && !(c.isLapsedApproved && c.verdict.Question != "") {
		d := c.deny(ctx, c.verdict)
		d.Reason = c.record.WithReload(d.Reason)
		c.decision = &d
	}
	return *c.decision, nil
}

// allow emits the event of an allowed call, and returns the decision.
//
//nolint:unparam // deny has the same shape
func (c *Call) allow(ctx context.Context, v judging.Verdict) core.Decision {
	c.Report.Emit(ctx, core.Event{Kind: core.ToolAllowed, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason, Decider: decider(&v)})
	return core.Decision{}
}

// deny emits the event of a denied call, and returns the decision.
func (c *Call) deny(ctx context.Context, v judging.Verdict) core.Decision {
	c.Report.Emit(ctx, core.Event{Kind: core.ToolDenied, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason, Decider: decider(&v)})
	if o := c.operation; o != nil && o.Refuse != nil {
		v.Reason = o.Refuse("denied", v.Reason)
	}
	return core.Decision{Denied: true, Reason: v.Reason}
}

// runsBesideRemote reports whether a call that would do q runs code, and some skills come from a
// server.
func runsBesideRemote(skills *catalog.Snapshot, q *permission.Request) bool {
	runs := q.Takes == permission.Command || q.Takes != judging.Inert && slices.Contains(q.Tool.As, "Bash")
	return runs && !q.Idle && slices.ContainsFunc(skills.Skills(), func(k core.Skill) bool { return k.Origin != "" })
}

// remoteSkills returns the skills from servers that have text in view.
func remoteSkills(skills *catalog.Snapshot, rec *state.Record) (all []core.Skill) {
	add := func(name string) {
		k, ok := skills.Skill(name)
		if ok && k.Origin != "" && !slices.ContainsFunc(all, func(have core.Skill) bool { return have.ID == k.ID }) {
			all = append(all, k)
		}
	}
	for _, a := range rec.Active {
		add(cmp.Or(a.ID, a.Skill))
	}
	for _, d := range rec.Deliveries {
		add(d.Skill)
	}
	return all
}

// notLoadedText returns why a tool of the host that needs one of these skills may not be called
// yet. It returns "" if one of them is loaded.
func notLoadedText(tool string, skills []string, rec *state.Record) string {
	if slices.ContainsFunc(skills, func(name string) bool { return rec.Find(name) != nil }) {
		return ""
	}
	if len(skills) == 1 {
		return fmt.Sprintf("denied: %s belongs to skill %q; load it first", tool, skills[0])
	}
	var quoted []string
	for _, name := range skills {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return fmt.Sprintf("denied: %s belongs to skills %s; load one of them first", tool, strings.Join(quoted, ", "))
}

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
