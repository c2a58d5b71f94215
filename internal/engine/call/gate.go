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
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Decide decides whether the call may be executed: first the host's gate decides, then the
// lists of the loaded skills, then the approver. A call is judged once: a second Decide
// returns the same decision. A call for which it returned an error is not judged.
func (c *Call) Decide(ctx context.Context) (core.Decision, error) {
	if c.gate == nil {
		d, err := c.judge(ctx)
		if err != nil {
			return core.Decision{}, err
		}
		if d.Denied {
			d.Reason = c.saving.WithLoad(d.Reason)
		}
		c.gate = &d
	}
	if c.judged != nil && c.saving.Record() == nil && !c.gate.Denied && c.operation != nil {
		return c.judgeAgain(ctx)
	}
	return *c.gate, nil
}

// judge decides about a call that was not judged yet.
func (c *Call) judge(ctx context.Context) (core.Decision, error) {
	if c.operation != nil && c.place.Excess() {
		return c.deny(ctx, judging.Verdict{Reason: tooMany}), nil
	}
	if c.Calls.Gate != nil {
		if d := c.Calls.Gate(ctx, c.key, c.call); d.Denied {
			return c.deny(ctx, judging.Verdict{Reason: d.Reason}), nil
		}
	}
	for _, try := range []func(context.Context) (refusal string, err error){c.inactive, c.reload} {
		if refusal, err := try(ctx); err != nil {
			return core.Decision{}, err
		} else if refusal != "" {
			return c.deny(ctx, judging.Verdict{Reason: refusal}), nil
		}
	}
	c.request = c.requests(ctx)
	asks := c.operation != nil && c.operation.Prepare != nil
	runs := runsBesideRemote(c.skills(), &c.request)
	if c.request.Tool.Always && !asks || !asks && !runs && c.Bounds.Judge.Policy == permission.Off && c.Approver == nil && !c.Bounds.IsBound(ctx, c.key) {
		v, err := c.Bounds.Judge.Decide(ctx, c.request, nil)
		if err != nil {
			return core.Decision{}, err
		}
		return c.allow(ctx, v), nil
	}
	missed, err := c.saving.Wait(ctx, c.place.WaitForChanges)
	if err != nil {
		return core.Decision{}, err
	}
	if missed && c.Bounds.Judge.Policy.Restricts() && !c.request.Tool.Always {
		return c.deny(ctx, judging.Verdict{Reason: unknownLists}), nil
	}
	rec, err := c.saving.Load(ctx)
	if err != nil {
		return core.Decision{}, err
	}
	c.judged = rec
	rec = c.place.RecordFor(rec)
	if skill, err := skilltools.Known(c.skills(), rec, c.request.Skill); err == nil {
		c.request.Skill = skill.Name
	}
	if c.verdict, err = c.Bounds.Decide(ctx, c.key, c.state, rec, c.request); err != nil {
		return core.Decision{}, err
	}
	switch {
	case c.verdict.Question != "" && c.Approver != nil && !asks:
		c.verdict.Reason = c.verdict.Question
		d, err := c.ask(ctx, rec)
		c.lapsed = err == nil && !d.Denied
		return d, err
	case c.verdict.Outcome == judging.Denied:
		return c.deny(ctx, c.verdict), nil
	case asks:
		return c.question(ctx, rec)
	case runs && len(remoteSkills(c.skills(), rec)) > 0:
		return c.askRemote(ctx, rec)
	case c.verdict.Outcome == judging.Granted, c.Approver == nil, c.request.Takes == judging.Inert,
		callctx.IsUnknownTool(ctx) && !c.Bounds.Names.IsOfHost(c.call.Name):
		return c.allow(ctx, c.verdict), nil
	}
	return c.ask(ctx, rec)
}

// tooMany is the answer to a call that comes after too many of its response.
const tooMany = "error: not executed: one message may hold 256 calls of skill tools; make this call again in your next message if you still need it"

// unknownLists is the answer to a call that comes before an earlier load of its
// response: the load may bring a list.
const unknownLists = "denied: a call before this one in the same message has not been executed, and it may change which tools are allowed. Make this call again."

// reload loads the skill that the call runs, where only its text is left of an
// ended load, before the call is judged: the skill's list judges this very call. It
// returns why the call cannot run, "" if nothing speaks against it. The host's gate may
// deny that as it may deny a call of skill_load.
func (c *Call) reload(ctx context.Context) (refusal string, err error) {
	if c.operation == nil || !c.operation.LoadsAgain() || c.Rules.Mode != loadmode.Adaptive || c.place != nil && !c.place.Changes() {
		return "", nil
	}
	defer c.place.Settle()
	if _, err := c.saving.Wait(ctx, c.place.WaitForChanges); err != nil {
		return "", err
	}
	err = c.saving.LoadAgain(ctx, &c.scoped().Scope, c.args.Text("skill"), func(skill string) bool {
		return c.Calls.Gate != nil && c.Calls.Gate(ctx, c.key, LoadOf(c.call, skill)).Denied
	})
	if told, ok := errors.AsType[tools.ModelError](err); ok {
		return string(told), nil
	}
	return "", err
}

// inactive returns why a tool of the host may not be called yet, "" if nothing speaks
// against it.
func (c *Call) inactive(ctx context.Context) (string, error) {
	skills := c.ToolSkills[c.call.Name]
	if c.operation != nil || len(skills) == 0 {
		return "", nil
	}
	missed, err := c.saving.Wait(ctx, c.place.WaitForChanges)
	if err != nil {
		return "", err
	}
	if missed {
		return unknownLists, nil
	}
	rec, err := c.saving.Load(ctx)
	if err != nil {
		return "", err
	}
	rec = c.place.RecordFor(rec)
	for _, name := range skills {
		if skill, err := skilltools.Known(c.skills(), rec, name); err == nil && rec.Find(skill.Name) != nil {
			return "", nil
		}
	}
	return notActive(c.call.Name, skills, rec), nil
}

// requests returns what the call asks for, read as the tool itself will read it.
func (c *Call) requests(ctx context.Context) permission.Request {
	tool := c.Bounds.Tool(c.call.Name)
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

// narrowed reports whether the call passed only because a pattern allows its command.
// interpreted reports whether that pattern allows a script only through the interpreter for
// its extension, and not by its path.
func (c *Call) narrowed(ctx context.Context) (pattern, interpreted bool, err error) {
	if !c.verdict.Pattern || len(c.request.Lines) < 2 {
		return c.verdict.Pattern, false, nil
	}
	byPath := c.request
	byPath.Lines = byPath.Lines[:1]
	v, err := c.Bounds.Decide(ctx, c.key, c.state, c.place.RecordFor(c.judged), byPath)
	return true, !v.Pattern, err
}

// judgeAgain decides by the lists once more after an approver was asked: a skill
// that was loaded while it was waiting may deny the call.
func (c *Call) judgeAgain(ctx context.Context) (core.Decision, error) {
	rec, err := c.saving.Load(ctx)
	if err != nil || rec.Version == c.judged.Version {
		return *c.gate, err
	}
	remote := func(rec *state.Record) int { return len(remoteSkills(c.skills(), c.place.RecordFor(rec))) }
	if runsBesideRemote(c.skills(), &c.request) && remote(rec) > remote(c.judged) {
		d := c.deny(ctx, judging.Verdict{Reason: cameMeanwhile})
		c.gate = &d
		return d, nil
	}
	c.judged = rec
	if c.verdict, err = c.Bounds.Decide(ctx, c.key, c.state, c.place.RecordFor(rec), c.request); err != nil {
		return core.Decision{}, err
	}
	if c.verdict.Outcome == judging.Denied && !(c.lapsed && c.verdict.Question != "") {
		d := c.deny(ctx, c.verdict)
		d.Reason = c.saving.WithLoad(d.Reason)
		c.gate = &d
	}
	return *c.gate, nil
}

// allow reports that the call may be executed.
//
//nolint:unparam // deny has the same shape
func (c *Call) allow(ctx context.Context, v judging.Verdict) core.Decision {
	c.Report.Emit(ctx, core.Event{Kind: core.ToolAllowed, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	return core.Decision{}
}

// deny reports that the call may not be executed.
func (c *Call) deny(ctx context.Context, v judging.Verdict) core.Decision {
	c.Report.Emit(ctx, core.Event{Kind: core.ToolDenied, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	if o := c.operation; o != nil && o.Refuse != nil {
		v.Reason = o.Refuse("denied", v.Reason)
	}
	return core.Decision{Denied: true, Reason: v.Reason}
}

// runsBesideRemote reports whether a call that would do q runs code where some of the
// skills are served from afar.
func runsBesideRemote(skills *catalog.Snapshot, q *permission.Request) bool {
	runs := q.Takes == permission.Command || q.Takes != judging.Inert && slices.Contains(q.Tool.As, "Bash")
	return runs && !q.Idle && slices.ContainsFunc(skills.Skills(), func(k core.Skill) bool { return k.Origin != "" })
}

// remoteSkills returns the skills that are served from afar and have a text in view.
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

// notActive returns why a tool of the host that belongs to these skills may not be called
// yet, "" if one of them is loaded.
func notActive(tool string, skills []string, rec *state.Record) string {
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
