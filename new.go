package satchel

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/engine/turn"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
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
	r := &Runtime{settings: s, states: view.NewStates(view.MaxAgents), chain: steps.Chain(s.loading.Placement)}
	r.stores = &view.Stores{Kept: state.NewRecords(r.store), Anonymous: state.NewRecords(session.NewMemory()), Log: r.logger}
	r.report = &view.Reporter{Hook: r.events, Breaks: r.onBreak, Log: r.logger, States: r.states, Lifecycle: r.lifecycle}
	r.shortener = view.Shortener{Stores: r.stores, Warn: r.budget.Warn, Summarize: r.loading.Summarize, Log: r.logger}
	if err := r.openRunner(); err != nil {
		return nil, err
	}
	if err := r.offer.Choose(); err != nil {
		return nil, errors.Join(err, r.closeOwned())
	}
	if r.catalog = r.shared; r.catalog == nil {
		reading := catalog.Reading(catalog.WithLogger(r.logger), catalog.WithChanged(r.report.Scanned))
		if r.catalog, err = catalog.Open(context.Background(), append([]catalog.Root{reading}, r.roots...)); err != nil {
			return nil, errors.Join(fmt.Errorf("open skills: %w", err), r.closeOwned())
		}
	}
	r.audiences = view.Audiences{Catalog: r.catalog, Of: r.audience}
	if err := r.list(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.overviews = &view.Overviews{
		Catalog: r.catalog, Text: r.offer.Text, Renderer: r.offer.Renderer, Stores: r.stores, Report: r.report,
		Unlisted: r.offer.Vocabulary != nil && r.offer.Vocabulary.Unlisted, Owns: r.offer.Set.Has,
	}
	r.bounds = call.Bounds{
		Judge: r.judge, Mode: r.loading.Mode, Asks: r.approver != nil, Names: judging.NewNames(r.tooling...), Set: r.offer.Set,
		Unloaded: r.offer.Runner != nil && r.offer.Runner.Unloaded, Overviews: r.overviews, States: r.states, Audiences: &r.audiences, Log: r.logger,
	}
	r.clearing = view.Clearing{
		Mode: r.loading.Mode, Placement: r.loading.Placement, Policy: r.loading.Clearing, Prices: r.loading.Prices,
		Delivers: r.offer.Set.Delivers(), States: r.states, Stores: r.stores,
	}
	r.scopes = call.Scopes{
		Stores: r.stores, Audiences: &r.audiences, Bounds: &r.bounds, Offer: &r.offer, Report: r.report, Terminals: r.terminals, Rules: r.rules(),
	}
	r.turns = turn.Turns{
		Mode: r.loading.Mode, Once: r.offer.Runner != nil && r.offer.Runner.Once, Set: r.offer.Set, Runner: r.offer.Runner, Activation: r.activation,
		Stores: r.stores, Audiences: &r.audiences, Overviews: r.overviews, Clearing: &r.clearing, Bounds: &r.bounds, Report: r.report, Scopes: &r.scopes,
	}
	r.report.Scanned(context.Background(), r.catalog.Snapshot())
	r.warnUnavailable()
	for _, source := range r.sources {
		r.closers = append(r.closers, turn.Follow(source, r.Refresh, func(err error) {
			if _, told := errors.AsType[*catalog.RootError](err); !told {
				r.logger.Warn("the skills cannot be read again", "error", err)
			}
		}))
	}
	return r, nil
}

// openRunner opens what runs commands, if anything does.
func (r *Runtime) openRunner() error {
	if r.offer.Runner == nil && r.offer.Executes() {
		r.offer.Runner = &run.Runner{}
	}
	if r.offer.Runner == nil {
		return nil
	}
	if r.offer.Runner.CommandsFromEnv {
		policy, err := run.PolicyFromEnv(os.Getenv)
		if err != nil {
			return fmt.Errorf("%w: WithRunner: %w", ErrOption, err)
		}
		if policy.Restricts() {
			r.offer.Runner.Policy = policy
		}
	}
	r.closers = call.Equip(r.offer.Runner, r.logger, r.report.Swept, ErrClosed)
	r.terminals = terminal.New(terminal.Limits(r.offer.Runner.Sessions))
	return nil
}

// list fixes how requests list the skills. Where the tools search the catalog, its index
// is built meanwhile.
func (r *Runtime) list() error {
	for _, name := range r.overview.Pinned {
		if _, err := r.catalog.Snapshot().Resolve(name); err != nil {
			return fmt.Errorf("%w: WithOverview: Pinned: %w", ErrOption, err)
		}
	}
	r.offer.Suggests = r.activation.Likely > 0 && !r.activation.First
	searches, err := r.offer.List(r.catalog.Snapshot().Visible())
	if err == nil && searches {
		r.closers = append(r.closers, turn.Do(func(ctx context.Context) {
			_ = r.catalog.Index(ctx) // the first search will meet the same error
		}))
	}
	return err
}

// rules are those for all calls.
func (r *Runtime) rules() tools.Rules {
	rules := tools.Rules{
		Mode: r.loading.Mode, Max: r.loading.Max, Victim: r.loading.Victim, Limits: r.limits, Budget: r.budget, References: r.overview.References,
	}
	if v := r.offer.Vocabulary; v != nil {
		rules.Loads, rules.Evicts = v.Loads(), v.Evicts
	}
	return rules
}

// warnUnavailable warns of a machine on which the commands of skills cannot run.
func (r *Runtime) warnUnavailable() {
	if r.offer.Runner == nil || !r.offer.Set.Has("skill_run") && !r.offer.Set.Has("skill_exec") {
		return
	}
	if why := r.offer.Runner.Executor.Capabilities().Unavailable; why != "" {
		r.logger.Warn("commands of skills cannot run on this machine", "why", why)
	}
}
