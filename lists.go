package satchel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
)

// judging returns the judge, which knows all tools that the lists of those skills name
// which an agent sees: of all skills while its audience is not known.
func (r *Runtime) judging(state *agentstate.State) *permission.Judge {
	judge := r.judge
	judge.Mentions = r.overviews.Of(r.audiences.KnownOf(state)).Mentions()
	return &judge
}

// lists returns the lists of allowed tools that hold in the session of rec.
func (r *Runtime) lists(rec *session.Record) []permission.List {
	all := listsOf(rec.Lists)
	for i, h := range rec.Lists {
		all[i].Stays = r.mode == loadmode.Session && !h.Old && rec.Find(h.Skill) != nil
	}
	return all
}

func listsOf(held []session.ToolList) []permission.List {
	var all []permission.List
	for _, h := range held {
		all = append(all, permission.List{Skill: h.Skill, Rules: permission.Rules(h.Tools), Repaired: h.Repaired})
	}
	return all
}

// toolOf returns what lists know of a tool: the names that stand for it, and what a
// pattern is compared with.
func (r *Runtime) toolOf(name string) permission.Tool {
	tool := r.names.Tool(name)
	if o := r.set.Operation(name); o != nil && o.Runs != nil {
		tool = r.names.Tool("skill_run")
		tool.Name = name
	}
	if o := r.set.Operation(name); o != nil && o.Always {
		tool.Always = true
	}
	return tool
}

// toolsOf returns the names of the tools that the last request of the agent
// offered. Before its first request they are those of the runtime.
func (r *Runtime) toolsOf(state *agentstate.State) []string {
	if names := state.Offered(); len(names) > 0 {
		return names
	}
	return r.toolNames()
}

// maxUnavailable bounds how many tools one sentence of an answer names.
const maxUnavailable = 40

// restricted returns a function that writes a line for the answer to a load: which
// tools the lists allow, which they take away, and which listed tools do not exist.
// It returns nil where lists take nothing away.
func (r *Runtime) restricted(state *agentstate.State) func(*session.Record) string {
	if !r.judge.Policy.Restricts() {
		return nil
	}
	return func(rec *session.Record) string {
		lists := r.lists(rec)
		if len(lists) == 0 {
			return ""
		}
		judge := r.judging(state)
		line := "tools allowed now: "
		if r.approver != nil && !slices.ContainsFunc(lists, func(l permission.List) bool { return !l.Repaired }) {
			line = "tools allowed now, each after a question: "
		}
		line += judge.Allowed(lists)
		var gone []string
		for _, name := range r.toolsOf(state) {
			if tool := r.toolOf(name); !judge.Names(tool, lists) && !slices.Contains(gone, name) {
				gone = append(gone, name)
			}
		}
		if len(gone) > 0 {
			line += "; not available " + judge.Until(lists) + ": " + atMost(gone)
		}
		if vain := r.inVain(state, lists); vain != "" {
			line += "\n" + vain
		}
		return line
	}
}

// inVain says which listed tools the agent does not have, and which names no tool is
// known by. Before the agent's first request its tools are not known, so it says only
// the latter.
func (r *Runtime) inVain(state *agentstate.State, lists []permission.List) string {
	var tools []permission.Tool
	offered := state.Offered()
	for _, name := range offered {
		tools = append(tools, r.toolOf(name))
	}
	var absent, unknown []string
	for _, l := range lists {
		a, u := r.names.Missing(l.Rules, tools)
		absent, unknown = append(absent, a...), append(unknown, u...)
	}
	slices.Sort(absent)
	slices.Sort(unknown)
	var parts []string
	if absent = slices.Compact(absent); len(absent) > 0 && len(offered) > 0 {
		parts = append(parts, "listed, but you have no such tool: "+atMost(absent))
	}
	if unknown = slices.Compact(unknown); len(unknown) > 0 {
		parts = append(parts, "listed, but no known tool has this name: "+atMost(unknown))
	}
	return strings.Join(parts, "; ")
}

// atMost joins names. Of too many it says how many it leaves out.
func atMost(names []string) string {
	if more := len(names) - maxUnavailable; more > 0 {
		names = append(names[:maxUnavailable:maxUnavailable], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// CodeOverview says that the overview has no room for every description, or for every name.
const CodeOverview skillmd.Code = "overview-cut"

// Diagnostics returns the problems of the skills as they are now: first those of
// their files, in the order of the files, then the entries of allowed-tools that allow
// nothing, and last what the overview has no room for.
func (r *Runtime) Diagnostics() []skillmd.Diagnostic {
	o := r.overviews.Of(r.catalog)
	all := slices.Clone(o.Snapshot.Diagnostics())
	for _, skill := range o.Snapshot.Skills() {
		all = append(all, r.names.Findings(skill)...)
	}
	if !o.Fit.IsWhole() {
		all = append(all, skillmd.Diagnostic{Code: CodeOverview, Severity: skillmd.Warning, Message: "overview: " + o.Fit.String()})
	}
	return all
}

// warnUnmapped logs the tools that lists ignore unless they name them, because
// nothing says what kind of tool they are. It does so once for each name of an agent.
func (r *Runtime) warnUnmapped(ctx context.Context, key core.SessionKey, tools []string) {
	if !r.judge.Policy.Restricts() || r.judge.Policy == permission.RestrictAll {
		return
	}
	if _, known := r.warned.LoadOrStore(key.Agent, true); known {
		return
	}
	unmapped := r.names.Unmapped(tools)
	unmapped = slices.DeleteFunc(unmapped, r.set.Has)
	if len(unmapped) > 0 {
		r.logger.WarnContext(ctx, "lists of allowed tools do not speak of these tools unless they name them: say what they are with WithHostTools",
			"agent", key.Agent, "tools", atMost(unmapped))
	}
}
