// Package view builds the requests of agents from their messages and records. It decides what
// each agent sees of the catalog, which notes of changes it gets, and what is cleared.
package view

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// Overview is the text about one snapshot of the catalog that sessions get, rendered once for
// all of them, and the tools that its lists name.
type Overview struct {
	Snapshot *catalog.Snapshot
	// Empty says that there is no skill to list.
	Empty    bool
	Fit      processors.Fit
	Mentions func() *judging.Mentions

	text catalog.Content
	// listing has the digest of every visible skill, one a line. The next snapshot
	// is compared with it to find what has changed.
	listing catalog.Content
}

// Overviews keeps the overviews of a catalog and of the parts of it that audiences see.
// Its exported fields are set before its first use and not changed then.
type Overviews struct {
	Catalog *catalog.Catalog
	// Text renders, with its Guidance after the list. Where the host has a Renderer,
	// that writes the list.
	Text     processors.OverviewText
	Renderer func([]core.Skill) string
	// Unlisted says that requests list no skills: agents know them by the answers of
	// the tools of Set.
	Unlisted bool
	Set      *skilltools.Set
	// Stores keep the listings and the overview of a session.
	Stores *state.Stores
	// Report gets what an overview leaves out.
	Report *Reporter

	whole atomic.Pointer[Overview]
	mu    sync.Mutex
	parts *lru.Cache[*catalog.Snapshot, *Overview]
}

// Of returns the overview of a catalog, that of an audience perhaps, as it is now.
func (v *Overviews) Of(skills *catalog.Catalog) *Overview {
	snapshot := skills.Snapshot()
	if o := v.whole.Load(); o != nil && o.Snapshot == snapshot {
		return o
	}
	if skills == v.Catalog {
		o := v.render(snapshot)
		if before := v.whole.Swap(o); before == nil || before.Snapshot != snapshot {
			v.reportRendered(true, o)
		}
		return o
	}
	o, known := v.part(snapshot)
	if !known {
		v.reportRendered(false, o)
	}
	return o
}

// reportRendered reports an overview once it is rendered. isWhole says that it is that of
// the whole catalog.
func (v *Overviews) reportRendered(isWhole bool, o *Overview) {
	if isWhole {
		v.Report.Scanned(context.Background(), v.Catalog.Snapshot())
	}
	v.Report.Cut(o.Fit)
	if o.Empty {
		v.Report.Unseen(isWhole, v.Catalog.Snapshot())
	}
}

func (v *Overviews) part(snapshot *catalog.Snapshot) (o *Overview, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.parts == nil {
		v.parts = lru.New[*catalog.Snapshot, *Overview](maxParts, nil)
	}
	if o, known = v.parts.Get(snapshot); !known {
		o = v.render(snapshot)
		v.parts.Put(snapshot, o, 1)
	}
	return o, known
}

// render makes the overview of a snapshot.
func (v *Overviews) render(snapshot *catalog.Snapshot) *Overview {
	skills := snapshot.Visible()
	render := v.Text.Render
	if v.Renderer != nil {
		render = func(skills []core.Skill) string { return withRules(v.Renderer(skills), v.Text.Guidance) }
	}
	o := &Overview{Snapshot: snapshot, Empty: len(skills) == 0 && !v.Unlisted, listing: digested(processors.OverviewText{}.Listing(skills))}
	o.Mentions = sync.OnceValue(func() *judging.Mentions { return mentionsIn(snapshot) })
	if !o.Empty {
		o.text = digested(render(skills))
	}
	if v.Renderer == nil {
		o.Fit = v.Text.Fit(skills)
	}
	return o
}

// mentionsIn collects the tools that the lists of a snapshot name, nil where it has no
// list.
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

// withRules adds the rules to what a host has rendered, unless that is nothing.
func withRules(list, rules string) string {
	if list == "" || rules == "" {
		return list
	}
	return list + "\n" + rules
}

// digested returns a text in the form of a text from a catalog.
func digested(text string) catalog.Content {
	return catalog.Content{Text: text, Digest: session.Digest(text)}
}

// ranked returns the text of an overview, by the first message of the user where the host
// wants it so and not every skill is described whole.
func (v *Overviews) ranked(ctx context.Context, o *Overview, skills *catalog.Catalog, scan *state.Scan) (catalog.Content, error) {
	if !v.Text.Ranked || v.Renderer != nil || scan.First < 0 || o.Fit.Bare+o.Fit.Missing == 0 {
		return o.text, nil
	}
	found, err := skills.Search(ctx, catalog.Query{Phrasings: []string{scan.Messages[scan.First].Text}, Limit: maxLikely})
	if err != nil {
		return catalog.Content{}, err
	}
	text := v.Text
	for _, h := range found.Hits {
		text.Likely = append(text.Likely, h.Skill.Name)
	}
	return digested(text.Render(o.Snapshot.Visible())), nil
}

// Audiences finds the part of a catalog that an agent sees.
type Audiences struct {
	Catalog *catalog.Catalog
	// Of says who sees which skills; a nil allow allows all. Where Of is nil everybody
	// sees all.
	Of func(ctx context.Context, key core.SessionKey) (audience string, allow func(core.Skill) bool, err error)
}

// Ask asks for the audience of an agent, and keeps its catalog.
func (a *Audiences) Ask(ctx context.Context, key core.SessionKey, agent *state.Agent) (*catalog.Catalog, error) {
	if a.Of == nil {
		return a.Catalog, nil
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

// Know asks for the audience of an agent where this process has not yet.
func (a *Audiences) Know(ctx context.Context, key core.SessionKey, agent *state.Agent) error {
	if agent.Skills() != nil {
		return nil
	}
	_, err := a.Ask(ctx, key, agent)
	return err
}

// SeenBy is the catalog that an agent sees: nothing while its audience is not known.
func (a *Audiences) SeenBy(agent *state.Agent) *catalog.Catalog {
	if a.Of != nil && agent.Skills() == nil {
		return a.Catalog.For("", func(core.Skill) bool { return false })
	}
	return a.KnownOf(agent)
}

// KnownOf is SeenBy, but all while the audience of the agent is not known.
func (a *Audiences) KnownOf(agent *state.Agent) *catalog.Catalog {
	if seen := agent.Skills(); seen != nil {
		return seen
	}
	return a.Catalog
}
