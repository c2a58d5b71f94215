package satchel

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/background"
	"github.com/satchel-go/satchel/internal/bounds"
	"github.com/satchel-go/satchel/internal/clearing"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/equipment"
	"github.com/satchel-go/satchel/internal/events"
	"github.com/satchel-go/satchel/internal/overview"
	"github.com/satchel-go/satchel/internal/records"
	"github.com/satchel-go/satchel/internal/shortening"
	"github.com/satchel-go/satchel/internal/steps"
	"github.com/satchel-go/satchel/internal/turns"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/tools/run"
)

// New opens the skills and returns a runtime. It fails for options that cannot
// work and for a place of skills that cannot be opened; a skill that cannot be
// read is a diagnostic ([Runtime.Diagnostics]) and hides nothing else.
func New(opts ...Option) (*Runtime, error) {
	s, err := newSettings(opts)
	if err != nil {
		return nil, err
	}
	r := connect(s)
	if r.offer.Runner == nil && r.offer.Executes() {
		r.offer.Runner = &run.Runner{}
	}
	if r.offer.Runner != nil {
		if r.offer.Runner.CommandsFromEnv {
			policy, err := run.PolicyFromEnv(os.Getenv)
			if err != nil {
				return nil, fmt.Errorf("%w: WithRunner: %w", ErrOption, err)
			}
			if policy.Restricts() {
				r.offer.Runner.Policy = policy
			}
		}
		r.closers = equipment.Equip(r.offer.Runner, r.logger, r.tell.Swept, ErrClosed)
		r.terminals = terminal.New(r.offer.Runner.Sessions)
	}
	if err := r.offer.Choose(); err != nil {
		return nil, errors.Join(err, r.unequip())
	}
	if r.catalog = s.shared; r.catalog == nil {
		opened, err := catalog.Open(context.Background(), append([]catalog.Root{catalog.Reading(catalog.WithLogger(s.logger), catalog.WithChanged(r.changed))}, s.roots...))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open skills: %w", err), r.unequip())
		}
		r.catalog = opened
	}
	r.audiences = agentstate.Audiences{Catalog: r.catalog, Of: r.audience}
	if err := r.list(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.offer.Runner != nil && (r.offer.Set.Has("skill_run") || r.offer.Set.Has("skill_exec")) {
		if why := r.offer.Runner.Executor.Capabilities().Unavailable; why != "" {
			r.logger.Warn("commands of skills cannot run on this machine", "why", why)
		}
	}
	if r.source != nil && r.shared == nil {
		r.closers = append(r.closers, background.Follow(r.source, r.Refresh, func(err error) {
			if _, told := errors.AsType[*catalog.RootError](err); !told {
				r.logger.Warn("the skills cannot be read again", "error", err)
			}
		}))
	}
	return r, nil
}

// changed reports skills that have changed while the catalog was watched.
func (r *Runtime) changed(ctx context.Context, s *catalog.Snapshot) { r.tell.Scanned(ctx, s) }

// connect returns a runtime whose parts know each other, before there are tools and skills.
func connect(s settings) *Runtime {
	r := &Runtime{
		settings: s,
		stores:   &records.Stores{Kept: state.NewRecords(s.store), Anonymous: state.NewRecords(session.NewMemory()), Log: s.logger},
		states:   agentstate.New(agentstate.Max),
	}
	r.tell = &events.Teller{Hook: r.events, Breaks: r.onBreak, Log: r.logger, States: r.states, Lifecycle: r.lifecycle}
	r.shortener = shortening.Shortener{Stores: r.stores, Warn: r.budget.Warn, Summarize: r.loading.Summarize, Log: r.logger}
	r.chain = steps.Chain(r.loading.Placement)
	if r.judge.Home == "" {
		r.judge.Home, _ = os.UserHomeDir() // without one, "~" is just a name
	}
	r.bounds = &bounds.Bounds{
		Judge: r.judge, Mode: r.loading.Mode, Free: r.free, Asks: r.approver != nil, Names: permission.NewNames(r.tooling...),
		Mentions: func(skills *catalog.Catalog) *permission.Mentions { return r.overviews.Of(skills).Mentions() },
		Stores:   r.stores, States: r.states, Audiences: &r.audiences, Log: r.logger,
	}
	r.clearing = clearing.Clearing{
		Mode: r.loading.Mode, Placement: r.loading.Placement, Policy: r.loading.Clearing, Prices: r.loading.Prices,
		Content: func(ctx context.Context, key core.SessionKey, rec *state.Record) (*steps.Content, error) {
			return r.states.Of(key).Shown(rec, r.stores.Texts(ctx, key))
		},
	}
	return r
}

// list fixes the tools and how requests list the skills. Where the tools search the
// catalog, its index is built meanwhile.
func (r *Runtime) list() error {
	for _, name := range r.overview.Pinned {
		if _, err := r.catalog.Snapshot().Resolve(name); err != nil {
			return fmt.Errorf("%w: WithOverview: Pinned: %w", ErrOption, err)
		}
	}
	r.offer.Suggests = r.activation.Likely > 0 && !r.activation.First
	searches, err := r.offer.List(r.catalog.Snapshot().Visible())
	if err != nil {
		return err
	}
	if searches {
		r.closers = append(r.closers, background.Do(func(ctx context.Context) {
			_ = r.catalog.Index(ctx) // the first search will meet the same error
		}))
	}
	r.clearing.Delivers, r.bounds.Set = r.offer.Set.Delivers(), r.offer.Set
	r.bounds.Unloaded = r.offer.Runner != nil && r.offer.Runner.Unloaded
	r.overviews = &overview.Overviews{
		Catalog: r.catalog, Text: r.offer.Text, Renderer: r.offer.Renderer,
		Unlisted: r.offer.Vocabulary != nil && r.offer.Vocabulary.Unlisted, Owns: r.offer.Set.Has,
		Records: r.stores.Of, Pin: r.stores.Pin, Rendered: func(whole bool, o *overview.Overview) {
			if whole {
				r.tell.Scanned(context.Background(), r.catalog.Snapshot())
			}
			r.tell.Cut(o.Fit)
			if o.Empty {
				r.tell.Unseen(whole, r.catalog.Snapshot())
			}
		},
	}
	r.turns = turns.Turns{
		Mode: r.loading.Mode, Once: r.offer.Runner != nil && r.offer.Runner.Once, Set: r.offer.Set, Runner: r.offer.Runner, Activation: r.activation, Stores: r.stores,
		Audiences: &r.audiences, Overviews: r.overviews, Clearing: &r.clearing, Bounds: r.bounds, Tell: r.tell, Scope: r.scope,
	}
	r.tell.Scanned(context.Background(), r.catalog.Snapshot())
	return nil
}
