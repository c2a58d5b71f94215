// Package view builds the requests of agents from their messages and records. It decides which
// skills an agent sees, which notes about changes it gets, and which texts leave the view.
package view

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// Overview is the rendered list of skills for one snapshot of the catalog. All sessions share it.
type Overview struct {
	Snapshot *catalog.Snapshot
	// IsEmpty reports that there is no skill to list.
	IsEmpty  bool
	Fit      processors.Fit
	Mentions func() *judging.Mentions

	text catalog.Content
	// listing has one line with the digest and the name of each visible skill. Listings of two
	// snapshots are compared to find changes.
	listing catalog.Content
}

// Overviews renders and caches overviews, both of the whole catalog and of the parts that
// audiences see. Its exported fields are not changed after its first use.
type Overviews struct {
	Catalog *catalog.Catalog
	// Text renders the overview, with its Guidance after the list. If the host has a Renderer,
	// that renders the list instead.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	// IsUnlisted reports that requests list no skills, because agents find skills by the tools of
	// Set.
	IsUnlisted bool
	Set        *skilltools.Set
	// Preload are the ids of the skills whose bodies follow the overview.
	Preload []string
	// Stores pin the listing and the overview of a session.
	Stores *state.Stores
	// Report reports overviews that leave skills out.
	Report *Reporter

	full       atomic.Pointer[Overview]
	mu         sync.Mutex
	byAudience *lru.Cache[*catalog.Snapshot, *Overview]
}

// Of returns the present overview of a catalog, or of the part of it that an audience sees.
func (v *Overviews) Of(skills *catalog.Catalog) *Overview {
	snapshot := skills.Snapshot()
	if o := v.full.Load(); o != nil && o.Snapshot == snapshot {
		return o
	}
	if skills == v.Catalog {
		o := v.render(snapshot)
		if before := v.full.Swap(o); before == nil || before.Snapshot != snapshot {
			v.reportRendered(true, o)
		}
		return o
	}
	o, isCached := v.forAudience(snapshot)
	if !isCached {
		v.reportRendered(false, o)
	}
	return o
}

// reportRendered reports an overview after it was rendered. isFull says that it is for the whole
// catalog.
func (v *Overviews) reportRendered(isFull bool, o *Overview) {
	if isFull {
		v.Report.ReportScan(context.Background(), v.Catalog.Snapshot())
	}
	v.Report.ReportCut(o.Fit)
	if o.IsEmpty {
		v.Report.ReportUnseen(isFull, v.Catalog.Snapshot())
	}
}

// forAudience returns the overview of a snapshot from the cache. isCached is false if it had to
// render it.
func (v *Overviews) forAudience(snapshot *catalog.Snapshot) (o *Overview, isCached bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.byAudience == nil {
		v.byAudience = lru.New[*catalog.Snapshot, *Overview](maxAudiences, nil)
	}
	if o, isCached = v.byAudience.Get(snapshot); !isCached {
		o = v.render(snapshot)
		v.byAudience.Put(snapshot, o, 1)
	}
	return o, isCached
}

// render renders the overview of a snapshot.
func (v *Overviews) render(snapshot *catalog.Snapshot) *Overview {
	skills := snapshot.Visible()
	render := v.Text.Render
	if v.Renderer != nil {
		render = func(skills []core.Skill) string { return withRules(v.Renderer(skills), v.Text.Guidance) }
	}
	o := &Overview{Snapshot: snapshot, IsEmpty: len(skills) == 0 && !v.IsUnlisted, listing: contentOf(processors.OverviewText{}.Listing(skills))}
	o.Mentions = sync.OnceValue(func() *judging.Mentions { return mentionsIn(snapshot) })
	if !o.IsEmpty {
		o.text = contentOf(render(skills))
	}
	if v.Renderer == nil {
		o.Fit = v.Text.Fit(skills)
	}
	return o
}

// mentionsIn collects the tool names in the allowed-tools lists of a snapshot. It returns nil if
// no skill has a list.
func mentionsIn(snapshot *catalog.Snapshot) *judging.Mentions {
	var lists [][]judging.Rule
	for _, skill := range snapshot.Skills() {
		if skill.AllowedTools != nil {
			lists = append(lists, judging.Rules(skill.AllowedTools))
		}
	}
	if lists == nil {
		return nil
	}
	return judging.NewMentions(lists...)
}

// withRules appends rules to the text of the host's renderer, unless either is empty.
func withRules(list, rules string) string {
	if list == "" || rules == "" {
		return list
	}
	return list + "\n" + rules
}

// contentOf returns text with its digest.
func contentOf(text string) catalog.Content {
	return catalog.Content{Text: text, Digest: session.Digest(text)}
}

// rankedText returns the text of an overview. If the host asked for ranking and the list does not
// describe all skills in full, skills that match the first user message come first.
func (v *Overviews) rankedText(ctx context.Context, o *Overview, skills *catalog.Catalog, scan *state.Scan) (catalog.Content, error) {
	if !v.ranks(o, scan) {
		return o.text, nil
	}
	text, err := v.rankedOverview(ctx, o, skills, scan)
	if err != nil {
		return catalog.Content{}, err
	}
	return contentOf(text.Render(o.Snapshot.Visible())), nil
}

// ranks reports whether the first user message changes the order of the skills in an overview.
func (v *Overviews) ranks(o *Overview, scan *state.Scan) bool {
	return v.Text.Ranked && v.Renderer == nil && scan.First >= 0 && o.Fit.Bare+o.Fit.Missing > 0
}

// rankedOverview returns how to write an overview of a conversation, with the skills that match its
// first user message if they come first.
func (v *Overviews) rankedOverview(ctx context.Context, o *Overview, skills *catalog.Catalog, scan *state.Scan) (processors.OverviewText, error) {
	text := v.Text
	if !v.ranks(o, scan) {
		return text, nil
	}
	found, err := skills.Search(ctx, catalog.Query{Phrasings: []string{scan.Messages[scan.First].Text}, Limit: maxRanked})
	if err != nil {
		return text, err
	}
	for _, h := range found.Hits {
		text.Likely = append(text.Likely, h.Skill.Name)
	}
	return text, nil
}

// Audiences finds the part of a catalog that an agent sees.
type Audiences struct {
	Catalog *catalog.Catalog
	// Of returns the audience of an agent and which skills it sees. A nil allow means all skills.
	// If Of is nil, all agents see all skills.
	Of func(ctx context.Context, key core.SessionKey) (audience string, allow func(core.Skill) bool, err error)
	// Refresher refreshes Catalog after changes. It is nil if no source reports changes.
	Refresher *Refresher
}

// FinishRefresh returns when Catalog has every change that a source has reported before the
// call. It does nothing if there is none. The error is that of ctx.
func (a *Audiences) FinishRefresh(ctx context.Context) error {
	if a.Refresher == nil {
		return nil
	}
	return a.Refresher.Finish(ctx)
}

// Resolve calls Of for an agent, and stores the resulting catalog in agent.
func (a *Audiences) Resolve(ctx context.Context, key core.SessionKey, agent *state.Agent) (*catalog.Catalog, error) {
	if a.Of == nil {
		return a.Catalog, nil
	}
	if f := callctx.ForkOf(ctx); f.Is(key) {
		key = f.Parent
	}
	audience, allow, err := a.Of(ctx, key)
	if err != nil {
		return nil, err
	}
	skills := a.Catalog
	if allow != nil {
		skills = a.Catalog.For(audience, allow)
	}
	agent.SetSkills(skills)
	return skills, nil
}

// ResolveOnce calls Resolve if this process has not resolved the agent's audience yet.
func (a *Audiences) ResolveOnce(ctx context.Context, key core.SessionKey, agent *state.Agent) error {
	if agent.Skills() != nil {
		return nil
	}
	_, err := a.Resolve(ctx, key, agent)
	return err
}

// SkillsOf returns the catalog that an agent sees. It is empty if the agent's audience is not
// resolved yet.
func (a *Audiences) SkillsOf(agent *state.Agent) *catalog.Catalog {
	if a.Of != nil && agent.Skills() == nil {
		return a.Catalog.For("", func(core.Skill) bool { return false })
	}
	return a.SkillsOrAll(agent)
}

// SkillsOrAll is SkillsOf, but returns the whole catalog if the audience is not resolved yet.
func (a *Audiences) SkillsOrAll(agent *state.Agent) *catalog.Catalog {
	if seen := agent.Skills(); seen != nil {
		return seen
	}
	return a.Catalog
}
