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
	"github.com/satchel-go/satchel/tools"
)

// Allowlists judges calls by the allowed-tools lists of loaded skills. Its exported fields are
// not changed after its first use.
type Allowlists struct {
	// Judge has the host's policy. Each decision adds the tools that the catalog mentions.
	Judge judging.Judge
	Mode  loadmode.Mode
	// HasApprover reports that the host has an approver for calls that no list allows.
	HasApprover bool
	// RunsUnloaded reports that commands may run skills that are not loaded.
	RunsUnloaded bool
	Names        *judging.Names
	Set          *skilltools.Set
	// Overviews has the tools that the lists of a catalog mention.
	Overviews *view.Overviews
	Agents    *state.Agents
	Audiences *view.Audiences
	Log       *slog.Logger

	// warned has the agents whose unmapped tools were logged.
	warned sync.Map
}

// Decide judges a request by the lists of the agent of rec, and then by those of the agents above
// it.
func (b *Allowlists) Decide(ctx context.Context, key core.SessionKey, agent *state.Agent, rec *state.Record, q permission.Request) (judging.Verdict, error) {
	var lists []judging.List
	if q.Skill == "" {
		lists = b.lists(rec, "")
	} else {
		q, lists = b.resolveSkill(agent, rec, q)
	}
	for _, name := range b.toolsOf(agent) {
		q.Offered = append(q.Offered, b.Tool(name))
	}
	judge := b.judgeFor(agent)
	if v, isForbidden := judge.Forbid(ctx, b.deniable(q), b.denials(rec, q.Skill)); isForbidden {
		return v, ctx.Err()
	}
	v, err := judge.Decide(ctx, q, lists)
	if err != nil || v.Outcome == judging.Denied && v.Question == "" {
		return v, err
	}
	return b.decideAbove(ctx, key, q, v)
}

// resolveSkill returns a request with the canonical name of its skill, and the lists that apply to
// it. A request whose skill is unknown gets the lists of other calls.
func (b *Allowlists) resolveSkill(agent *state.Agent, rec *state.Record, q permission.Request) (permission.Request, []judging.List) {
	skill, err := skilltools.ResolveFor(b.Audiences.SkillsOf(agent).Snapshot(), rec, q.Skill)
	if err != nil {
		return q, b.lists(rec, "")
	}
	q.Skill = skill.Name
	lists := b.lists(rec, q.Skill)
	held := slices.ContainsFunc(lists, func(l judging.List) bool { return l.Skill == skill.Name })
	switch {
	case held:
	case rec.Find(skill.Name) != nil || skill.AllowedTools == nil:
		q.Unlisted = true
	case b.RunsUnloaded: // the list of a skill that is not loaded may deny calls, but grants none
		lists = append(lists, judging.List{Skill: skill.Name, Rules: judging.Rules(skill.AllowedTools), NeedsApproval: true})
	}
	return q, lists
}

// decideAbove judges a request by the lists of the agents above that of key. v is the verdict of
// the agent's own lists; decideAbove returns it if no other list denies the request.
func (b *Allowlists) decideAbove(ctx context.Context, key core.SessionKey, q permission.Request, v judging.Verdict) (judging.Verdict, error) {
	q.Unlisted = false // the skill is loaded by this agent, not by those above it
	for _, other := range b.listsAbove(ctx, key) {
		if other.key == key {
			continue
		}
		verdict, err := other.decide(ctx, q)
		switch {
		case err != nil || verdict.Outcome == judging.Denied && verdict.Question == "":
			return verdict, err
		case verdict.Question != "" && v.Question == "":
			verdict.ByPattern = verdict.ByPattern || v.ByPattern
			v = verdict
		}
		v.ByPattern = v.ByPattern || verdict.ByPattern
	}
	return v, nil
}

// Tool returns the description of a tool for the lists: the names that stand for it, and which
// argument patterns are compared with.
func (b *Allowlists) Tool(name string) permission.Tool {
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

// judgeFor returns the judge with the tools that the lists of an agent's catalog mention. It uses
// the whole catalog if the agent's audience is not resolved yet.
func (b *Allowlists) judgeFor(state *state.Agent) *judging.Judge {
	judge := b.Judge
	judge.Mentions = b.Overviews.Of(b.Audiences.SkillsOrAll(state)).Mentions()
	return &judge
}

// lists returns the allowed-tools lists of the record for a call that runs a file of skill runs,
// "" for any other call. Lists of skills that a search has loaded only apply to their own skill.
func (b *Allowlists) lists(rec *state.Record, runs string) []judging.List {
	var all []judging.List
	for _, h := range rec.Lists {
		if h.Guessed && h.Skill != runs {
			continue
		}
		lapsed := h.Old || rec.Find(h.Skill) == nil
		all = append(all, judging.List{
			Skill: h.Skill, Rules: judging.Rules(h.Tools), NeedsApproval: h.Repaired || h.Guessed,
			IsLapsed: lapsed, IsKept: !lapsed && (b.Mode == loadmode.Session || rec.IsPermanent(h.Skill)),
		})
	}
	return all
}

// deniable returns a request for disallowed-tools. They may deny Satchel's own tools that edit
// skills, and never those that load, read, search and unload.
func (b *Allowlists) deniable(q permission.Request) permission.Request {
	if o := b.Set.Operation(q.Tool.Name); o != nil && o.Kind == tools.Edits {
		q.Tool.Always = false
	}
	return q
}

// undeniable returns the names of the agent's own tools that no disallowed-tools deny.
func (b *Allowlists) undeniable() (names []string) {
	for _, tool := range b.Set.Tools() {
		if b.deniable(permission.Request{Tool: b.Tool(tool.Name)}).Tool.Always {
			names = append(names, tool.Name)
		}
	}
	return names
}

// denials returns the disallowed-tools of the loaded skills for a call that runs a file of skill
// runs, "" for any other call. Those of skills that a search has loaded apply to their own skill.
func (b *Allowlists) denials(rec *state.Record, runs string) []judging.Denial {
	var all []judging.Denial
	for _, d := range rec.Denials {
		if rec.Find(d.Skill) != nil && (!d.Guessed || d.Skill == runs) {
			all = append(all, judging.Denial{Skill: d.Skill, Rules: judging.Rules(d.Tools)})
		}
	}
	return all
}

// toolsOf returns the names of the tools in the agent's last request, or Satchel's tools before
// the first request.
func (b *Allowlists) toolsOf(state *state.Agent) []string {
	if offered := state.Tools(); len(offered) > 0 {
		return offered
	}
	var own []string
	for _, tool := range b.Set.Tools() {
		own = append(own, tool.Name)
	}
	return own
}

// Restrictions returns a line for the answer to a load. It says which tools the lists of rec
// allow, which tools they deny, and which listed tools do not exist. It returns "" if lists deny
// nothing.
func (b *Allowlists) Restrictions(state *state.Agent, rec *state.Record) string {
	lists, denied := b.lists(rec, ""), ""
	denials := b.denials(rec, "")
	if b.Judge.Policy.Restricts() {
		denied = judging.Disallowed(denials, b.undeniable())
	}
	if len(lists) == 0 || !b.Judge.Policy.Restricts() {
		return denied
	}
	judge := b.judgeFor(state)
	line := "tools allowed now: "
	if b.HasApprover && !slices.ContainsFunc(lists, func(l judging.List) bool { return !l.NeedsApproval }) {
		line = "tools allowed now, each after a question: "
	}
	line += judge.Allowed(lists)
	var gone, asked []string
	for _, name := range b.toolsOf(state) {
		switch tool := b.Tool(name); {
		case judging.Denies(tool, denials): // denied says it
		case judge.Names(tool, lists) || slices.Contains(gone, name) || slices.Contains(asked, name):
		case b.HasApprover && judge.IsApprovable(tool, lists):
			asked = append(asked, name)
		default:
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		line += "; not available " + judge.Until(lists) + ": " + joinNames(gone)
	}
	if len(asked) > 0 {
		line += "; after a question until the user's next message: " + joinNames(asked)
	}
	if denied != "" {
		line += "; " + denied
	}
	if vain := b.unusableEntries(state, lists); vain != "" {
		line += "\n" + vain
	}
	return line
}

// unusableEntries says which listed tools the agent does not have, and which names stand for no
// known tool. Before the agent's first request it only says the latter.
func (b *Allowlists) unusableEntries(state *state.Agent, lists []judging.List) string {
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
		parts = append(parts, "listed, but you have no such tool: "+joinNames(absent))
	}
	if unknown = slices.Compact(unknown); len(unknown) > 0 {
		parts = append(parts, "listed, but no known tool has this name: "+joinNames(unknown))
	}
	return strings.Join(parts, "; ")
}

// joinNames joins at most maxNamed names, and says how many more there are.
func joinNames(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed:maxNamed], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// WarnUnmapped logs the agent's tools to which lists do not apply unless they name them, because
// their kind is not known. It does so once for each agent.
func (b *Allowlists) WarnUnmapped(ctx context.Context, key core.SessionKey, tools []string) {
	if !b.Judge.Policy.Restricts() || b.Judge.Policy == permission.RestrictAll {
		return
	}
	if _, known := b.warned.LoadOrStore(key.Agent, true); known {
		return
	}
	if unmapped := slices.DeleteFunc(b.Names.Unmapped(tools), b.Set.Has); len(unmapped) > 0 {
		b.Log.WarnContext(ctx, "lists of allowed tools do not speak of these tools unless they name them: say what they are with satchel.Permissions.HostTools",
			"agent", key.Agent, "tools", joinNames(unmapped))
	}
}

// noteUse reports that the model has used a skill. If a search had loaded the skill, it notes that in
// the record. A use runs a command of the skill, reads a file of it, or selects docs. A refused call
// is no use.
func (c *Call) noteUse(ctx context.Context, answer string) error {
	isUse := c.operation.StartsCommand() || c.operation.Name == skilltools.SelectDocsName || c.ShowsFile(&c.call)
	if !isUse || skilltools.IsRefusal(c.operation, answer) {
		return nil
	}
	rec, err := c.record.Load(ctx)
	if err != nil {
		return err
	}
	used := c.usedSkill(rec)
	if c.Report.Hook != nil && used != "" && c.args.Text("mode") != "clear" {
		how := skilltools.UsedDoc
		if c.operation.StartsCommand() {
			how = skilltools.UsedRun
		}
		c.Report.Emit(ctx, core.Event{Kind: core.SkillUsed, Key: c.key, Call: c.call, Skill: used, Detail: how})
	}
	if !rec.HasGuess(used) {
		return nil
	}
	_, err = c.record.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		next := rec.Clone()
		next.UseGuess(c.usedSkill(rec))
		return next, "", nil
	})
	return err
}

// usedSkill returns the name under which the skill of the call is loaded, "" if it names none. A
// call that reads a file may name none and mean the skill that was loaded last.
func (c *Call) usedSkill(rec *state.Record) string {
	name := c.request.Skill
	if !c.operation.StartsCommand() {
		if name = c.args.Text("skill"); name == "" && len(rec.Active) > 0 {
			name = rec.Active[len(rec.Active)-1].Skill
		}
	}
	if name == "" {
		return ""
	}
	skill, err := skilltools.ResolveFor(c.skills(), rec, name)
	if err != nil {
		return ""
	}
	return skill.Name
}
