package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/engine/turn"
	"github.com/satchel-go/satchel/internal/engine/view"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools/run"
)

// New opens the skills and returns a runtime. It fails if an option cannot work, or if a place
// of skills cannot be opened. A skill that cannot be read is a diagnostic
// ([Runtime.Diagnostics]) and affects no other skill.
func New(opts ...Option) (*Runtime, error) {
	s, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	agents := state.NewAgents(state.MaxAgents)
	report := &view.Reporter{Hook: s.hook(), Breaks: s.onBreak, Log: s.logger, Agents: agents, HasLifecycle: s.lifecycle, WarnsOfBreaks: s.guardsPrefix, Traces: s.tracer != nil}
	terminals, closers, err := s.openRunner(report)
	if err != nil {
		return nil, err
	}
	skills, err := s.openCatalog(report)
	if err != nil {
		return nil, errors.Join(err, closeAll(closers))
	}
	r := &Runtime{config: s, catalog: skills, refresher: view.NewRefresher(skills, report, s.logger), closers: closers}
	offer, err := s.newOffer(skills.Snapshot())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	preload, err := s.preloads(context.Background(), skills)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	stores := &state.Stores{Named: state.NewRecords(s.store), Anonymous: state.NewRecords(session.NewMemory()), Log: s.logger}
	if s.tracer != nil {
		numbers := state.NewCallNumbers(agents, s.logger)
		stores.Named.Numbers, stores.Anonymous.Numbers = numbers, numbers
		r.closers = append([]func() error{numbers.Close}, r.closers...)
	}
	audiences := &view.Audiences{Catalog: skills, Of: s.audience}
	if len(s.extraSources) > 0 {
		audiences.Refresher = r.refresher
	}
	overviews := &view.Overviews{
		Catalog: skills, Text: offer.Text, Renderer: offer.Renderer, Stores: stores, Report: report, Preload: preload,
		IsUnlisted: offer.Vocabulary != nil && offer.Vocabulary.Unlisted, Set: offer.Set,
	}
	runs := offer.Runner != nil
	bounds := &call.Allowlists{
		Judge: s.judge, Mode: s.loading.Mode, HasApprover: s.approver != nil, Names: judging.NewNames(s.hostTools...), Set: offer.Set,
		RunsUnloaded: runs && offer.Runner.AllowUnloaded, Overviews: overviews, Agents: agents, Audiences: audiences, Log: s.logger,
	}
	r.calls = &call.Calls{
		Offer: offer, Rules: s.rules(), Stores: stores, Agents: agents, Audiences: audiences, Overviews: overviews, Allowlists: bounds,
		Report: report, Terminals: terminals, Prober: newProber(offer, skills, s.logger), Gate: s.gate, Approver: s.approver, ToolSkills: s.toolSkills, Forks: r.forks(),
	}
	if s.overview.Needs == Hide {
		r.calls.Hiding = &view.Hiding{Overviews: overviews, Unmet: r.calls.Unmet, Wait: r.calls.AwaitPrograms, Log: s.logger}
	}
	r.turns = &turn.Turns{
		Activation: s.activation, Calls: r.calls,
		Clearing: &view.Clearing{
			Mode: s.loading.Mode, Placement: s.loading.Placement, Policy: s.loading.Clearing, Prices: s.loading.Prices,
			Delivers: offer.Set.Delivers(), Agents: agents, Stores: stores,
		},
		Requests: &view.Requests{
			Mode: s.loading.Mode, Rule: s.loading.Summary, Chain: steps.Chain(s.loading.Placement), Delivers: offer.Set.Delivers(),
			Runs: runs, Once: runs && offer.Runner.Once, IsGuarded: s.guardsPrefix || s.tracer != nil, Stores: stores, Report: report,
			Tracing:   s.tracing(),
			Shortener: view.Shortener{Stores: stores, Warn: s.budget.Warn, Summarize: s.loading.Summarize, Log: s.logger},
		},
	}
	r.start()
	if err := r.checkPreloadNeeds(context.Background(), preload); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// start reports the skills of the catalog as events, and starts work in the background. It
// builds the index of the catalog if tools search it, and reads the sources of extensions again
// when they report changes.
func (r *Runtime) start() {
	if r.calls.Offer.Searches {
		r.closers = append(r.closers, view.RunInBackground(func(ctx context.Context) {
			_ = r.catalog.Index(ctx) // the first search will meet the same error
		}))
	}
	r.calls.Report.ReportScan(context.Background(), r.catalog.Snapshot())
	if r.calls.Prober != nil {
		r.closers = append([]func() error{r.calls.Prober.Close}, r.closers...) // it uses what the others close
		r.calls.Prober.Want()
	}
	r.warnUnavailable()
	r.closers = append(r.closers, r.refresher.Follow(r.extraSources))
}

// openRunner completes the runner if any tool runs commands. It returns the table of commands
// that continue between calls, and the functions that close what it opened.
func (s *config) openRunner(report *view.Reporter) (*terminal.Table, []func() error, error) {
	if s.choices.Runner == nil && s.choices.Executes() {
		s.choices.Runner = &run.Runner{}
	}
	runner := s.choices.Runner
	if runner == nil {
		return nil, nil, nil
	}
	if runner.CommandsFromEnv {
		policy, err := run.PolicyFromEnv(os.Getenv)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: WithRunner: %w", ErrOption, err)
		}
		if policy.Restricts() {
			runner.Policy = policy
		}
	}
	if err := runner.OpenDependencies(); err != nil {
		return nil, nil, fmt.Errorf("%w: WithRunner: %w", ErrOption, err)
	}
	terminals := terminal.New(terminal.Limits(runner.Sessions))
	closers := []func() error{func() error { terminals.Close(); return nil }}
	return terminals, append(closers, call.AddDefaults(runner, s.logger, report.ReportSweep, ErrClosed)...), nil
}

// openCatalog returns the catalog of WithCatalog, or opens one on the places of skills.
func (s *config) openCatalog(report *view.Reporter) (*catalog.Catalog, error) {
	if s.hostCatalog != nil {
		return s.hostCatalog, nil
	}
	opts := append([]catalog.Option{catalog.WithLogger(s.logger), catalog.WithChanged(report.ReportScan)}, s.catalogOptions...)
	skills, err := catalog.Open(context.Background(), s.roots, opts...)
	if err != nil {
		return nil, fmt.Errorf("open skills: %w", err)
	}
	return skills, nil
}

// newOffer decides which tools the model is offered, and how requests list the skills.
func (s *config) newOffer(skills *catalog.Snapshot) (*call.Offer, error) {
	if err := s.checkSkills(skills); err != nil {
		return nil, err
	}
	s.choices.Arguments = slices.ContainsFunc(skills.Skills(), func(skill core.Skill) bool { return skill.TakesArguments })
	s.choices.Suggests = s.activation.Suggestions > 0 && !s.activation.LoadFirst
	offer, err := call.NewOffer(s.choices, skills.Visible())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return offer, nil
}

// checkSkills returns an error if an option names a skill that does not exist.
func (s *config) checkSkills(skills *catalog.Snapshot) error {
	for _, name := range s.overview.Pinned {
		if _, err := skills.Resolve(name); err != nil {
			return fmt.Errorf("%w: WithOverview: Pinned: %w", ErrOption, err)
		}
	}
	if err := s.checkForks(skills); err != nil {
		return err
	}
	for _, tool := range slices.Sorted(maps.Keys(s.toolSkills)) {
		for _, name := range s.toolSkills[tool] {
			if _, err := skills.Resolve(name); err != nil {
				return fmt.Errorf("%w: WithPermissions: ToolSkills: %q: %w", ErrOption, tool, err)
			}
		}
	}
	return nil
}

// newProber returns the prober for programs that skills need, nil if nothing runs.
func newProber(offer *call.Offer, skills *catalog.Catalog, log *slog.Logger) *needs.Prober {
	if offer.Runner == nil {
		return nil
	}
	return needs.NewProber(offer.Runner, skills, log)
}

// tracing returns how views are described for the tracer, or nil if there is none.
func (s *config) tracing() *view.Tracing {
	if s.tracer == nil {
		return nil
	}
	l := &s.loading
	keeps := l.Mode == loadmode.Adaptive || l.Mode == loadmode.Turn && l.Clearing != (loadmode.CachePolicy{})
	return &view.Tracing{Mode: l.Mode, KeepsEnded: keeps && l.Placement == processors.InToolResult}
}

// rules returns the settings that all calls of Satchel's tools follow.
func (s *config) rules() skilltools.Rules {
	rules := skilltools.Rules{
		Mode: s.loading.Mode, Max: s.loading.Max, Victim: s.loading.Victim, Limits: s.limits.OrDefaults(), Budget: s.budget, References: s.overview.References,
		Reports: s.hook() != nil,
	}
	rules.OffersArguments, rules.HidesUnmet = s.choices.Arguments, s.overview.Needs == Hide
	rules.KeepsTexts = s.loading.Mode != loadmode.Once && s.loading.Placement == processors.InToolResult
	if v := s.choices.Vocabulary; v != nil {
		rules.LoadToolName, rules.EvictsOnLoad = v.Loads(), v.Evicts
	}
	return rules
}

// warnUnavailable logs a warning if the commands of skills cannot run on this machine.
func (r *Runtime) warnUnavailable() {
	offer := r.calls.Offer
	if offer.Runner == nil || !offer.Set.Has("skill_run") && !offer.Set.Has("skill_exec") {
		return
	}
	if why := offer.Runner.Executor.Capabilities().Unavailable; why != "" {
		r.logger.Warn("commands of skills cannot run on this machine", "why", why)
	}
}

// checkPreloadNeeds returns an error if unmet needs hide a preloaded skill from all sessions. It
// waits a moment for programs that are looked for.
func (r *Runtime) checkPreloadNeeds(ctx context.Context, ids []string) error {
	if r.calls.Hiding == nil {
		return nil
	}
	for _, id := range ids {
		skill, err := r.catalog.FrontMatter(ctx, id)
		if err != nil || skill.Needs == nil || skill.Needs.Always {
			continue
		}
		if line := needs.Line(r.calls.UnmetInAll(ctx, skill)); line != "" {
			return fmt.Errorf("%w: WithLoading: Preload: skill %q is hidden from the model: %s", ErrOption, skill.Name, line)
		}
	}
	return nil
}
