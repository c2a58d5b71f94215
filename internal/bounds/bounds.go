// Package bounds decides what an agent may do: by the lists of allowed tools of the skills
// that it has loaded, and by those of the agents above it, which have called it or handed
// the conversation over to it, in this process or in another one.
package bounds

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Bounds decides for the agents of a runtime. Its exported fields are set before its first
// use and not changed then.
type Bounds struct {
	// Judge has the policy. What the catalog mentions is added for each decision.
	Judge permission.Judge
	Mode  loadmode.Mode
	// Free are the agents that are bounded by their own lists only.
	Free []string
	// Asks says that somebody is asked about calls that no list grants.
	Asks bool
	// Unloaded says that commands may be of skills that are not loaded.
	Unloaded bool
	Names    *permission.Names
	Set      *tools.Set
	// Mentions are the tools that the lists of a catalog name, nil where it has no list.
	Mentions  func(*catalog.Catalog) *permission.Mentions
	Stores    *records.Stores
	States    *agentstate.States
	Audiences *agentstate.Audiences
	Log       *slog.Logger

	warned sync.Map // agents whose unmapped tools were told
	ended  atomic.Bool
}

// End says that the runtime is closed. Its lists are asked for then only where no other
// runtime could have them.
func (b *Bounds) End() { b.ended.Store(true) }

// Decide judges a request by the lists that hold for the agent of rec, and then by those
// of the agents above it.
func (b *Bounds) Decide(ctx context.Context, key core.SessionKey, agent *agentstate.State, rec *state.Record, q permission.Request) (permission.Verdict, error) {
	lists := b.lists(rec, "")
	if skill, err := tools.Known(b.Audiences.SeenBy(agent).Snapshot(), rec, q.Skill); err == nil && q.Skill != "" {
		q.Skill = skill.Name
		lists = b.lists(rec, q.Skill)
		held := slices.ContainsFunc(lists, func(l permission.List) bool { return l.Skill == skill.Name })
		switch {
		case held:
		case rec.Find(skill.Name) != nil || skill.AllowedTools == nil:
			q.Unlisted = true
		case b.Unloaded: // a skill runs without being loaded: its list may deny, but grants nothing
			lists = append(lists, permission.List{Skill: skill.Name, Rules: permission.Rules(skill.AllowedTools), Repaired: true})
		}
	}
	for _, name := range b.toolsOf(agent) {
		q.Offered = append(q.Offered, b.Tool(name))
	}
	v, err := b.judging(agent).Decide(ctx, q, lists)
	if err != nil || v.Outcome == permission.Denied && v.Question == "" {
		return v, err
	}
	return b.byOthers(ctx, key, rec, q, v)
}

// byOthers judges a request by the lists of the agents above that of rec. It returns v,
// the verdict of the agent's own lists, where they do not deny it.
func (b *Bounds) byOthers(ctx context.Context, key core.SessionKey, rec *state.Record, q permission.Request, v permission.Verdict) (permission.Verdict, error) {
	q.Unlisted = false // the skill is loaded by this agent, not by those above it
	above, err := b.above(ctx, key, rec)
	if err != nil {
		return v, err
	}
	for _, other := range above {
		if other.key == key || other.frees(key.Agent) || isFree(b.Free, key.Agent) {
			continue
		}
		verdict, err := other.decide(ctx, q)
		switch {
		case err != nil || verdict.Outcome == permission.Denied && verdict.Question == "":
			return verdict, err
		case verdict.Question != "" && v.Question == "":
			verdict.Pattern = verdict.Pattern || v.Pattern
			v = verdict
		}
		v.Pattern = v.Pattern || verdict.Pattern
	}
	return v, nil
}

// Tool returns what lists know of a tool: the names that stand for it, and what a pattern
// is compared with.
func (b *Bounds) Tool(name string) permission.Tool {
	o := b.Set.Operation(name)
	if o == nil {
		return b.Names.Tool(name)
	}
	known := name
	if o.Runs != nil {
		known = "skill_run"
	}
	tool := b.Names.Tool(known)
	tool.Name, tool.Always = name, tool.Always || o.Always
	return tool
}

// judging returns the judge, which knows all tools that the lists of those skills name
// which an agent sees: of all skills while its audience is not known.
func (b *Bounds) judging(state *agentstate.State) *permission.Judge {
	judge := b.Judge
	judge.Mentions = b.Mentions(b.Audiences.KnownOf(state))
	return &judge
}

// lists returns the lists of allowed tools that hold in the session of rec for a call of
// runs, a skill; "" for other calls.
func (b *Bounds) lists(rec *state.Record, runs string) []permission.List {
	all := listsOf(heldBy(rec, runs))
	for i := range all {
		all[i].Stays = b.Mode == loadmode.Session && !all[i].Lapsed
	}
	return all
}

// heldBy returns the lists of a record that hold for a call of a skill. Those that are not
// of a loaded skill are marked old, and those of skills that a search has loaded are left
// out unless their own skill runs.
func heldBy(rec *state.Record, runs string) []state.ToolList {
	var held []state.ToolList
	for _, h := range rec.Lists {
		if h.Guessed && h.Skill != runs {
			continue
		}
		h.Old = h.Old || rec.Find(h.Skill) == nil
		held = append(held, h)
	}
	return held
}

func listsOf(held []state.ToolList) []permission.List {
	var all []permission.List
	for _, h := range held {
		all = append(all, permission.List{Skill: h.Skill, Rules: permission.Rules(h.Tools), Repaired: h.Repaired || h.Guessed, Lapsed: h.Old})
	}
	return all
}

// toolsOf returns the names of the tools that the last request of the agent offered.
// Before its first request they are those of the runtime.
func (b *Bounds) toolsOf(state *agentstate.State) []string {
	if offered := state.Offered(); len(offered) > 0 {
		return offered
	}
	var own []string
	for _, tool := range b.Set.Tools() {
		own = append(own, tool.Name)
	}
	return own
}
