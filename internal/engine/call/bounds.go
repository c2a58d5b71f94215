package call

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
)

// Bounds decides for the agents of a runtime. Its exported fields are set before its first
// use and not changed then.
type Bounds struct {
	// Judge has the policy. What the catalog mentions is added for each decision.
	Judge judging.Judge
	Mode  loadmode.Mode
	// Asks says that somebody is asked about calls that no list grants.
	Asks bool
	// Unloaded says that commands may be of skills that are not loaded.
	Unloaded bool
	Names    *judging.Names
	Set      *skilltools.Set
	// Overviews know which tools the lists of a catalog name.
	Overviews *view.Overviews
	Agents    *state.Agents
	Audiences *view.Audiences
	Log       *slog.Logger

	warned sync.Map // agents whose unmapped tools were told
}

// Decide judges a request by the lists that hold for the agent of rec, and then by those
// of the agents above it.
func (b *Bounds) Decide(ctx context.Context, key core.SessionKey, agent *state.Agent, rec *state.Record, q permission.Request) (judging.Verdict, error) {
	lists := b.lists(rec, "")
	if skill, err := skilltools.Known(b.Audiences.SeenBy(agent).Snapshot(), rec, q.Skill); err == nil && q.Skill != "" {
		q.Skill = skill.Name
		lists = b.lists(rec, q.Skill)
		held := slices.ContainsFunc(lists, func(l judging.List) bool { return l.Skill == skill.Name })
		switch {
		case held:
		case rec.Find(skill.Name) != nil || skill.AllowedTools == nil:
			q.Unlisted = true
		case b.Unloaded: // a skill runs without being loaded: its list may deny, but grants nothing
			lists = append(lists, judging.List{Skill: skill.Name, Rules: judging.Rules(skill.AllowedTools), Repaired: true})
		}
	}
	for _, name := range b.toolsOf(agent) {
		q.Offered = append(q.Offered, b.Tool(name))
	}
	v, err := b.judging(agent).Decide(ctx, q, lists)
	if err != nil || v.Outcome == judging.Denied && v.Question == "" {
		return v, err
	}
	return b.byOthers(ctx, key, q, v)
}

// byOthers judges a request by the lists of the agents above that of key. It returns v,
// the verdict of the agent's own lists, where they do not deny it.
func (b *Bounds) byOthers(ctx context.Context, key core.SessionKey, q permission.Request, v judging.Verdict) (judging.Verdict, error) {
	q.Unlisted = false // the skill is loaded by this agent, not by those above it
	for _, other := range b.above(ctx, key) {
		if other.key == key {
			continue
		}
		verdict, err := other.decide(ctx, q)
		switch {
		case err != nil || verdict.Outcome == judging.Denied && verdict.Question == "":
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
	if o.RunArguments != nil {
		known = "skill_run"
	}
	tool := b.Names.Tool(known)
	tool.Name, tool.Always = name, tool.Always || o.IsUnrestricted()
	return tool
}

// judging returns the judge, which knows all tools that the lists of those skills name
// which an agent sees: of all skills while its audience is not known.
func (b *Bounds) judging(state *state.Agent) *judging.Judge {
	judge := b.Judge
	judge.Mentions = b.Overviews.Of(b.Audiences.KnownOf(state)).Mentions()
	return &judge
}

// lists returns the lists of allowed tools that hold in the session of rec for a call of
// runs, a skill; "" for other calls. Lists of skills that are not loaded any more have
// lapsed, and those of skills that a search has loaded count only for their own skill.
func (b *Bounds) lists(rec *state.Record, runs string) []judging.List {
	var all []judging.List
	for _, h := range rec.Lists {
		if h.Guessed && h.Skill != runs {
			continue
		}
		lapsed := h.Old || rec.Find(h.Skill) == nil
		all = append(all, judging.List{
			Skill: h.Skill, Rules: judging.Rules(h.Tools), Repaired: h.Repaired || h.Guessed,
			Lapsed: lapsed, Stays: b.Mode == loadmode.Session && !lapsed,
		})
	}
	return all
}

// toolsOf returns the names of the tools that the last request of the agent offered.
// Before its first request they are those of the runtime.
func (b *Bounds) toolsOf(state *state.Agent) []string {
	if offered := state.Tools(); len(offered) > 0 {
		return offered
	}
	var own []string
	for _, tool := range b.Set.Tools() {
		own = append(own, tool.Name)
	}
	return own
}

// Restricted writes a line for the answer to a load: which tools the lists of a record
// allow, which they take away, and which listed tools do not exist. It returns "" where
// lists take nothing away.
func (b *Bounds) Restricted(state *state.Agent, rec *state.Record) string {
	lists := b.lists(rec, "")
	if len(lists) == 0 || !b.Judge.Policy.Restricts() {
		return ""
	}
	judge := b.judging(state)
	line := "tools allowed now: "
	if b.Asks && !slices.ContainsFunc(lists, func(l judging.List) bool { return !l.Repaired }) {
		line = "tools allowed now, each after a question: "
	}
	line += judge.Allowed(lists)
	var gone, asked []string
	for _, name := range b.toolsOf(state) {
		switch tool := b.Tool(name); {
		case judge.Names(tool, lists) || slices.Contains(gone, name) || slices.Contains(asked, name):
		case b.Asks && judge.Lapses(tool, lists):
			asked = append(asked, name)
		default:
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		line += "; not available " + judge.Until(lists) + ": " + atMost(gone)
	}
	if len(asked) > 0 {
		line += "; after a question until the user's next message: " + atMost(asked)
	}
	if vain := b.unusable(state, lists); vain != "" {
		line += "\n" + vain
	}
	return line
}

// unusable says which listed tools the agent does not have, and which names no tool is
// known by. Before the agent's first request its tools are not known, so it says only
// the latter.
func (b *Bounds) unusable(state *state.Agent, lists []judging.List) string {
	var tools []permission.Tool
	offered := state.Tools()
	for _, name := range offered {
		tools = append(tools, b.Tool(name))
	}
	var absent, unknown []string
	for _, l := range lists {
		a, u := b.Names.Missing(l.Rules, tools)
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
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// WarnUnmapped logs the tools that lists ignore unless they name them, because nothing
// says what kind of tool they are. It does so once for each name of an agent.
func (b *Bounds) WarnUnmapped(ctx context.Context, key core.SessionKey, tools []string) {
	if !b.Judge.Policy.Restricts() || b.Judge.Policy == permission.RestrictAll {
		return
	}
	if _, known := b.warned.LoadOrStore(key.Agent, true); known {
		return
	}
	if unmapped := slices.DeleteFunc(b.Names.Unmapped(tools), b.Set.Has); len(unmapped) > 0 {
		b.Log.WarnContext(ctx, "lists of allowed tools do not speak of these tools unless they name them: say what they are with satchel.Permissions.HostTools",
			"agent", key.Agent, "tools", atMost(unmapped))
	}
}
