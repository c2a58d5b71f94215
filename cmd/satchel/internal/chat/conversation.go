package chat

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// conversation is an agent with its runtime and session.
type conversation struct {
	agent   agent
	Runtime *satchel.Runtime
	helpers map[string]*satchel.Runtime // of other agents, by name
	// work is nil where nothing may run.
	work *runResources
	out  *exporter // nil without --out
	// place stores the conversation. process distinguishes the turns of this process from those of
	// others with the same conversation.
	place    *place
	library  *places.Library
	log      *requestLog
	tracing  *tracing
	isInTurn atomic.Bool
	Session  string
	process  string
	show     *reporter
	turns    int
	compact  func(context.Context, *satchel.Runtime) error
	seen     *catalog.Snapshot
	warnings *places.Warnings
}

// Open opens the runtime and the agent that the flags describe.
func (f *Flags) Open(ctx context.Context, where Endpoint, policy skillrun.Policy, show *reporter) (_ *conversation, err error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	stored, err := f.storeFlags.open(ctx)
	if err != nil {
		return nil, err
	}
	c := &conversation{place: stored, Session: stored.id, process: rand.Text(), show: show, compact: f.SkillFlags.compact}
	switch {
	case stored.lasts() && f.Artifacts == "" && places.Scheme(f.Store) != "": // in memory, until the end of this chat
	case stored.lasts() && f.Artifacts == "":
		f.Artifacts = filepath.Join(f.Store, "artifacts")
	case !stored.lasts() && f.Artifacts != "":
		// Artifacts belong to a session: chats that share a directory share
		// theirs. Nothing else outlives a chat without --store.
		c.Session = "chat"
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.end())
		}
	}()
	if c.log, err = openRequestLog(f.RequestLog, c.Session); err != nil {
		return nil, fmt.Errorf("%w: %w", cli.ErrStart, err)
	}
	f.log, show.log = c.log, c.log
	if c.tracing, err = f.TraceFlags.open(show.err); err != nil {
		return nil, err
	}
	opts := slices.Concat(f.SkillFlags.options(), stored.options(), f.ForkFlags.options(f.forkRun()), c.tracing.options(), f.more)
	if f.Memory != nil {
		opts = append(opts, satchel.WithStore(f.Memory))
	}
	if f.env != nil {
		if c.library, err = f.libraryFlags.Open(ctx, f.env); err != nil {
			return nil, err
		}
		libraryOptions, err := f.libraryFlags.options(c.library, f.Vocabulary)
		if err != nil {
			return nil, err
		}
		opts = append(opts, libraryOptions...)
	}
	asks := c.library != nil && f.Edit == "ask" && f.approver != nil && f.approver.input != nil
	opts = append(opts, f.GateFlags.options(show, asks)...)
	opts = append(opts, f.events(f.observe(show)))
	if f.runs() {
		if err := c.openWork(ctx, f, policy); err != nil {
			return nil, err
		}
		opts = append(opts, satchel.WithRunner(c.work.runner))
	}
	if c.Runtime, err = satchel.New(opts...); err != nil {
		return nil, f.explainNew(err)
	}
	if err = f.checkCompact(c.Runtime); err != nil {
		return nil, err
	}
	awaitNeeds(ctx, c.Runtime)
	if err := c.openHelpers(f); err != nil {
		return nil, err
	}
	f.helpers, c.warnings = c.helpers, f.Warnings
	if f.Warnings != nil {
		f.Warnings.CheckVisible(f.Roots, c.Runtime.Catalog().Snapshot(), f.Audience)
	}
	connect := newEinoAgent
	if f.Framework == "langchaingo" {
		connect = newLangchainAgent
	}
	if c.agent, err = connect(ctx, c.Runtime, where, f, stored.history, show); err != nil {
		return nil, err
	}
	stored.tell(show)
	if c.work != nil && c.Runtime.Hooks().Owns("skill_run") && hasSkills(c.Runtime) {
		show.Caution(c.work.confinement())
	}
	return c, nil
}

// observe returns the function that gets the events of the agent.
func (f *Flags) observe(show *reporter) func(context.Context, core.Event) {
	if f.hook == nil {
		return show.Happened
	}
	return func(ctx context.Context, e core.Event) {
		show.Happened(ctx, e)
		f.hook(ctx, e)
	}
}

// check refuses flags that do not go together.
func (f *Flags) check() error {
	if f.MaxSteps < 1 {
		return fmt.Errorf("%w: --max-steps %d: want at least 1", cli.ErrUsage, f.MaxSteps)
	}
	if err := cmp.Or(f.SkillFlags.check(), f.ForkFlags.check(), f.TraceFlags.check()); err != nil {
		return err
	}
	switch {
	case !f.runs() && len(f.Attach) > 0:
		return fmt.Errorf("%w: --attach needs skills and --profile full: nothing else reads files", cli.ErrUsage)
	case !f.runs() && f.Out != "":
		return fmt.Errorf("%w: --out needs skills and --profile full: nothing else saves files", cli.ErrUsage)
	case f.Agent != "functions" && f.Agent != "" && f.Framework != "langchaingo":
		return fmt.Errorf("%w: --agent %s needs --framework langchaingo", cli.ErrUsage, f.Agent)
	}
	return nil
}

// openWork opens what commands need, and the directory of --out.
func (c *conversation) openWork(ctx context.Context, f *Flags, policy skillrun.Policy) (err error) {
	if c.work, err = f.RunFlags.open(ctx, policy); err != nil || f.Out == "" {
		return err
	}
	c.out, err = newExporter(ctx, f.Out, c.work.runner.Artifacts, c.Session)
	return err
}

// openHelpers opens the runtimes of the agents of --sub-agent.
func (c *conversation) openHelpers(f *Flags) error {
	c.helpers = map[string]*satchel.Runtime{}
	for name, dir := range f.SubAgent {
		helper := *f
		helper.Roots, helper.Carried = []source.Root{source.Dir(dir)}, nil
		helper.Activate = nil               // a helper has other skills, and only their tools
		if helper.Vocabulary == "unified" { // its tools are for the library
			helper.Vocabulary = ""
		}
		opts := slices.Concat(helper.SkillFlags.options(), helper.GateFlags.options(c.show, false), []satchel.Option{f.events(f.observe(c.show))}, c.tracing.options())
		if c.work != nil {
			runner := c.work.runner
			runner.Attached = nil // a helper does not see the files of the user
			opts = append(opts, satchel.WithRunner(runner))
		}
		rt, err := satchel.New(opts...)
		if err != nil {
			return fmt.Errorf("%w: --sub-agent %s: %w", cli.ErrStart, name, places.ExplainOpen(err))
		}
		c.helpers[name] = rt
		if f.Warnings != nil {
			f.Warnings.CheckVisible(helper.Roots, rt.Catalog().Snapshot(), "")
		}
	}
	return nil
}

// runs reports whether the model may run anything. It may if there are skills and the
// profile has a tool for running.
func (f *Flags) runs() bool {
	return f.Profile == "full" && (len(f.Roots)+len(f.SubAgent) > 0 || f.Carried != nil)
}

// Close ends the conversation. It warns if something could not be removed and does
// not fail, because every answer has been given.
func (c *conversation) Close() {
	if err := c.end(); err != nil {
		c.show.Warning(err.Error())
	}
}

// end drops the state of the session, unless a store keeps it, and removes its workspace.
func (c *conversation) end() error {
	var errs []error
	for _, rt := range c.helpers {
		errs = append(errs, rt.EndSession(context.Background(), c.Session), rt.Close())
	}
	if c.Runtime != nil {
		if !c.place.lasts() {
			errs = append(errs, c.Runtime.EndSession(context.Background(), c.Session))
		}
		errs = append(errs, c.Runtime.Close())
	}
	if c.work != nil {
		errs = append(errs, c.work.Close())
	}
	c.tracing.close()
	errs = append(errs, c.log.close(), c.out.close(), c.place.close(), c.library.Close())
	return errors.Join(errs...)
}

// Turn sends a prompt and shows the answer, or the error. Ctrl-C cancels it.
func (c *conversation) Turn(ctx context.Context, prompt string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	c.isInTurn.Store(true)
	defer c.isInTurn.Store(false)
	c.turns++
	c.show.Turn(prompt)
	c.check(ctx)
	ctx = satchel.WithSession(ctx, c.Session)
	ctx = satchel.BeginTurn(ctx, c.process+"-"+strconv.Itoa(c.turns))
	answer, err := c.agent.Turn(ctx, prompt)
	defer func() { // also of a turn that failed
		if err := c.out.export(context.WithoutCancel(ctx), c.show.Saved); err != nil {
			c.show.Warning(err.Error())
		}
	}()
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("cancelled")
		}
		c.show.Error(err)
		return err
	}
	c.show.Answer(answer)
	if err := c.compact(ctx, c.Runtime); err != nil {
		c.show.Warning(err.Error())
	}
	return nil
}

// check looks for changes of the skills and reports findings that are new.
func (c *conversation) check(ctx context.Context) {
	if c.warnings != nil {
		c.warnings.Begin()
	}
	if err := refresh(ctx, c.Runtime); err != nil {
		c.show.Warning("skills are as they were: " + err.Error())
	}
	snapshot := c.Runtime.Catalog().Snapshot()
	if snapshot == c.seen {
		return
	}
	var known []skillmd.Diagnostic
	if c.seen != nil {
		known = c.seen.Diagnostics()
	} else {
		showIgnoredForks(c.Runtime, c.show)
	}
	c.seen = snapshot
	for _, d := range snapshot.Diagnostics() {
		if d.Severity > skillmd.Info && !slices.Contains(known, d) {
			d.Message = places.Advice(d)
			c.show.Diagnostic(d.String())
		}
	}
}

// refresh looks for changes of the skills. It does not return errors that the runtime has logged.
func refresh(ctx context.Context, rt *satchel.Runtime) error {
	err := rt.Refresh(ctx)
	if _, isOfRoot := errors.AsType[*catalog.RootError](err); isOfRoot {
		return nil
	}
	return err
}

// hasSkills reports whether there is a skill that a model may see.
func hasSkills(rt *satchel.Runtime) bool {
	visible := func(s core.Skill) bool { return !s.Hidden }
	return slices.ContainsFunc(rt.Catalog().Snapshot().Skills(), visible)
}
