package satchel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// Gate decides on a tool call of the agent, Satchel's or the host's, before it
// is executed: by the hook of [WithGate], then by the lists of the loaded
// skills, then by the approver. In one response, loads of lower position count
// and loads of higher position do not. Each decision is an event.
//
// After Gate has let a call pass it must be executed, or [Runtime.Finished] be
// told: other calls of the response wait for those that change what is loaded.
//
// An error means that the run must stop: its context ended, the store failed, or
// the approver returned it.
func (r *Runtime) Gate(ctx context.Context, key core.SessionKey, call core.ToolCall) (core.Decision, error) {
	life := r.live.of(key)
	own := life.judged(call) // before the hook, which may take its time
	if r.gate != nil {
		if d := r.gate(ctx, key, call); d.Denied {
			return r.deny(ctx, key, call, permission.Verdict{Reason: d.Reason}), nil
		}
	}
	use := r.use(ctx, call)
	if use.Tool.Always || r.judge.Policy == permission.Off && r.approver == nil {
		r.allow(ctx, key, call, r.judge.Decide(use, nil))
		return core.Decision{}, nil
	}
	if life.fresh() {
		rec, err := r.storeOf(key).Load(ctx, key)
		if err != nil {
			return core.Decision{}, err
		}
		life.recall(rec)
		own = life.judged(call)
	}
	missed, err := life.waitLoads(ctx, own)
	if err != nil {
		return core.Decision{}, err
	}
	if missed && r.judge.Policy == permission.Restrict {
		return r.deny(ctx, key, call, permission.Verdict{Reason: unknownLists}), nil
	}
	rec, err := r.storeOf(key).Load(ctx, key)
	if err != nil {
		return core.Decision{}, err
	}
	rec = life.at(rec, own)
	v := r.judge.Decide(use, r.lists(rec))
	switch {
	case v.Outcome == permission.Denied:
		return r.deny(ctx, key, call, v), nil
	case v.Outcome == permission.Granted, r.approver == nil, use.Takes == permission.Inert:
		r.allow(ctx, key, call, v)
		return core.Decision{}, nil
	}
	return r.ask(ctx, key, call, rec, &use, v)
}

// unknownLists is the answer to a call that comes before a load of lower position:
// the load may bring a list.
const unknownLists = "denied: a call before this one in the same message has not been executed, and it may change which tools are allowed. Make this call again."

func (r *Runtime) allow(ctx context.Context, key core.SessionKey, call core.ToolCall, v permission.Verdict) {
	r.Emit(ctx, core.Event{Kind: core.ToolAllowed, Key: key, Call: call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
}

func (r *Runtime) deny(ctx context.Context, key core.SessionKey, call core.ToolCall, v permission.Verdict) core.Decision {
	r.Emit(ctx, core.Event{Kind: core.ToolDenied, Key: key, Call: call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	return core.Decision{Denied: true, Reason: v.Reason}
}

// use reads a call as the tool that is called will.
func (r *Runtime) use(ctx context.Context, call core.ToolCall) permission.Use {
	tool := r.names.Tool(call.Name)
	if !r.Owns(call.Name) {
		if text, ok := ctx.Value(inputKey{}).(string); ok {
			return tool.UseText(text)
		}
		return tool.Use(call.Arguments)
	}
	o := r.set.Operation(call.Name)
	tool.Always = tool.Always || o.Always
	if o.Use == nil {
		return tool.Use(call.Arguments)
	}
	use := o.Used(call.Arguments)
	use.Tool = tool
	if skill, ok := r.catalog.Snapshot().Skill(use.Skill); ok {
		use.Skill = skill.Name
	}
	return use
}

// lists are the lists that hold.
func (r *Runtime) lists(rec *session.Record) []permission.List {
	var all []permission.List
	for _, h := range rec.Held {
		all = append(all, permission.List{
			Skill: h.Skill, Rules: permission.Rules(h.Tools), Repaired: h.Repaired,
			Stays: r.mode == loadmode.Session && !h.Old && rec.Find(h.Skill) != nil,
		})
	}
	return all
}

// maxUnavailable bounds the names of tools in the answer to a load.
const maxUnavailable = 40

// restricted says, for the answer to a load, what the lists leave and which
// tools they do not.
func (r *Runtime) restricted(life *life) func(*session.Record) string {
	if r.judge.Policy != permission.Restrict {
		return nil
	}
	return func(rec *session.Record) string {
		lists := r.lists(rec)
		if len(lists) == 0 {
			return ""
		}
		line := "tools allowed now: "
		if r.approver != nil && !slices.ContainsFunc(lists, func(l permission.List) bool { return !l.Repaired }) {
			line = "tools allowed now, each after a question: "
		}
		line += r.judge.Allowed(lists)
		var none []string
		for _, name := range r.toolsOf(life) {
			tool := r.names.Tool(name)
			if o := r.set.Operation(name); (o == nil || !o.Always) && !r.judge.Names(tool, lists) && !slices.Contains(none, name) {
				none = append(none, name)
			}
		}
		if len(none) == 0 {
			return line
		}
		if more := len(none) - maxUnavailable; more > 0 {
			none = append(none[:maxUnavailable], fmt.Sprintf("%d more", more))
		}
		return line + "; not available " + r.judge.Until(lists) + ": " + strings.Join(none, ", ")
	}
}

// toolsOf are the tools that the agent was offered last.
func (r *Runtime) toolsOf(life *life) []string {
	if names := life.offered(); len(names) > 0 {
		return names
	}
	names := make([]string, 0, len(r.offered))
	for _, t := range r.offered {
		names = append(names, t.Name)
	}
	return names
}
