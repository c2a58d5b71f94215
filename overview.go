package satchel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/skillmd"
)

// overview is what sessions are told of one snapshot of the catalog, rendered
// once for all of them, and the tools that its lists name.
type overview struct {
	snapshot *catalog.Snapshot
	text     catalog.Content
	// listing has the digest of every visible skill, one a line. The next snapshot
	// is compared with it to find what has changed.
	listing  catalog.Content
	empty    bool
	fit      processors.Fit
	mentions func() *permission.Mentions
}

// maxOverviews bounds the overviews of audiences that are kept.
const maxOverviews = 64

// current returns the overview of the whole catalog as it is now.
func (r *Runtime) current() *overview { return r.overviewOf(r.catalog) }

// overviewOf returns the overview of a catalog, that of an audience perhaps, as it is
// now.
func (r *Runtime) overviewOf(skills *catalog.Catalog) *overview {
	snapshot := skills.Snapshot()
	if o := r.overview.Load(); o != nil && o.snapshot == snapshot {
		return o
	}
	if skills == r.catalog {
		o := r.render(snapshot)
		if before := r.overview.Swap(o); before == nil || before.snapshot != snapshot {
			r.tellScanned(context.Background())
			r.tellFit(o.fit)
		}
		return o
	}
	r.seeing.Lock()
	if r.overviews == nil {
		r.overviews = lru.New[*catalog.Snapshot, *overview](maxOverviews, nil)
	}
	o, known := r.overviews.Get(snapshot)
	if !known {
		o = r.render(snapshot)
		r.overviews.Put(snapshot, o, 1)
	}
	r.seeing.Unlock()
	if !known {
		r.tellFit(o.fit)
	}
	return o
}

// render makes the overview of a snapshot.
func (r *Runtime) render(snapshot *catalog.Snapshot) *overview {
	skills := snapshot.Visible()
	text := r.text
	text.Guidance = r.rules()
	render := text.Render
	if r.renderer != nil {
		render = func(skills []core.Skill) string { return withRules(r.renderer(skills), text.Guidance) }
	}
	o := &overview{snapshot: snapshot, empty: len(skills) == 0 && r.listsSkills(), listing: digested(processors.Listing(skills))}
	o.mentions = sync.OnceValue(func() *permission.Mentions { return mentionsIn(snapshot) })
	if !o.empty {
		o.text = digested(render(skills))
	}
	if r.renderer == nil {
		o.fit = text.Fit(skills)
	}
	return o
}

// mentionsIn collects the tools that the lists of a snapshot name, nil where it has no
// list.
func mentionsIn(snapshot *catalog.Snapshot) *permission.Mentions {
	var lists [][]permission.Rule
	for _, skill := range snapshot.Skills() {
		if skill.AllowedTools != nil {
			lists = append(lists, permission.Rules(skill.AllowedTools))
		}
	}
	if lists == nil {
		return nil
	}
	return permission.NewMentions(lists...)
}

// withRules adds the rules to what a host has rendered, unless that is nothing.
func withRules(list, rules string) string {
	if list == "" || rules == "" {
		return list
	}
	return list + "\n" + rules
}

// CodeOverview says that the overview has no room for every description, or for every name.
const CodeOverview skillmd.Code = "overview-cut"

// tellFit says once for each state of the catalog what the overview leaves out.
func (r *Runtime) tellFit(fit processors.Fit) {
	if fit.IsWhole() {
		return
	}
	ctx := context.Background()
	r.logger.WarnContext(ctx, "the overview does not show every skill whole", "shortened", fit.Shortened, "by_name_only", fit.Bare, "missing", fit.Missing)
	r.emit(ctx, core.Event{Kind: core.OverviewCut, Detail: fit.String()})
}

// maxLikely is how many skills a message ranks before others.
const maxLikely = 50

// ranked returns the text of an overview, by the first message of the user where the host
// wants it so and not every skill is described whole.
func (r *Runtime) ranked(ctx context.Context, o *overview, skills *catalog.Catalog, messages []core.Message) (catalog.Content, error) {
	first := slices.IndexFunc(messages, func(m core.Message) bool { return m.Role == core.User && !m.Rewritten })
	if !r.text.Ranked || r.renderer != nil || first < 0 || o.fit.Bare+o.fit.Missing == 0 {
		return o.text, nil
	}
	found, err := skills.Search(ctx, catalog.Query{Phrasings: []string{messages[first].Text}, Limit: maxLikely})
	if err != nil {
		return catalog.Content{}, err
	}
	text := r.text
	text.Guidance = r.rules()
	for _, h := range found.Hits {
		text.Likely = append(text.Likely, h.Skill.Name)
	}
	return digested(text.Render(o.snapshot.Visible())), nil
}

// freeze gives rec the overview of the catalog that its agent sees, as it is now. The session keeps it
// when the catalog changes, so that the beginning of its requests stays the same.
func (r *Runtime) freeze(ctx context.Context, rec *session.Record, skills *catalog.Catalog, messages []core.Message) error {
	o := r.overviewOf(skills)
	rec.Overview, rec.Listing, rec.Notes = "", o.listing.Digest, nil
	if err := r.pinListing(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	if o.text.Text == "" || rec.NoSkills {
		return nil
	}
	text, err := r.ranked(ctx, o, skills, messages)
	if err != nil {
		return err
	}
	rec.Overview = text.Digest
	return r.pin(ctx, rec.Key, text)
}

// announce adds a note to the user message that begins a turn if the catalog has
// changed since the session was last told of it.
func (r *Runtime) announce(ctx context.Context, rec *session.Record, skills *catalog.Catalog, messages []core.Message) error {
	if rec.NoSkills {
		return nil
	}
	for _, n := range rec.Notes {
		if !processors.Anchored(messages, n.Anchor, rec.Turn) {
			// The host has cut the message with this note from the history. The
			// provider's cache is lost already, so a new overview costs nothing.
			return r.freeze(ctx, rec, skills, messages)
		}
	}
	o := r.overviewOf(skills)
	if rec.Listing == o.listing.Digest {
		return nil
	}
	if !r.listsSkills() && !r.knowsSkills(messages) {
		rec.Listing = o.listing.Digest
		return r.pinListing(ctx, rec.Key, o.listing)
	}
	old, err := session.PinnedListing(ctx, r.storeOf(rec.Key), rec.Key.Session, rec.Listing, time.Now())
	if errors.Is(err, session.ErrNotPinned) {
		return r.freeze(ctx, rec, skills, messages) // the store has lost what the session was told
	}
	if err != nil {
		return err
	}
	note := r.text.ChangeNote(old, o.snapshot.Visible())
	if r.takesBack(old, skills) {
		// What the session may not see must not stay in its overview either.
		if err := r.freeze(ctx, rec, skills, messages); err != nil {
			return err
		}
		rec.Notes = []session.Note{{Anchor: rec.User, Text: note}}
		return nil
	}
	if err := r.pinListing(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	rec.Listing = o.listing.Digest
	rec.Notes = append(rec.Notes, session.Note{Anchor: rec.User, Text: note})
	return nil
}

// knowsSkills reports whether the agent has called one of the runtime's tools, from
// whose answers it knows skills that no request lists.
func (r *Runtime) knowsSkills(messages []core.Message) bool {
	return slices.ContainsFunc(messages, func(m core.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c core.ToolCall) bool { return r.set.Operation(c.Name) != nil })
	})
}

// unknownTool returns the answer to a call of a tool that does not exist. It names
// Satchel's tools where there are skills. It cannot name the host's tools, which the
// runtime does not always know.
func (r *Runtime) unknownTool(name string) string {
	if len(name) > 80 {
		name = name[:80]
	}
	text := fmt.Sprintf("error: there is no tool %q; call one that you were given", strings.ToValidUTF8(name, "\uFFFD"))
	if len(r.offered) == 0 || r.current().empty {
		return text
	}
	return text + ", such as " + strings.Join(r.toolNames(), ", ")
}
