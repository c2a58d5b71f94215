package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// Runtime gives agents their skills. One runtime serves any number of agents
// and sessions; it is safe for concurrent use.
type Runtime struct {
	settings

	catalog  *catalog.Catalog
	set      *tools.Set
	offered  []core.Tool
	delivers map[string]bool
	chain    []processors.Processor

	anonymous *session.Memory
	// own closes what the host left to the runtime.
	own []func() error
	// terminals are the commands that go on between calls; nil without a runner.
	terminals *terminal.Table
	runs      atomic.Int64
	texts     *texts
	live      *lives
	names     *permission.Names
	overview  atomic.Pointer[overview]
}

// New opens the skills and returns a runtime. It fails for options that cannot
// work and for a place of skills that cannot be opened; a skill that cannot be
// read is a diagnostic ([Runtime.Diagnostics]) and hides nothing else.
func New(opts ...Option) (*Runtime, error) {
	s := defaults()
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o(&s); err != nil {
			return nil, err
		}
	}
	if s.shared != nil && (len(s.roots) > 0 || len(s.reading) > 0) {
		return nil, fmt.Errorf("%w: WithCatalog excludes WithSkillDirs, WithSkillFS and WithReading", ErrOption)
	}
	r := &Runtime{
		settings:  s,
		chain:     processors.Chain(s.placement),
		anonymous: session.NewMemory(),
		texts:     newTexts(maxTexts),
		live:      newLives(maxLives),
		names:     permission.NewNames(s.tooling...),
	}
	if r.judge.Home == "" {
		r.judge.Home, _ = os.UserHomeDir() // without one, "~" is just a name
	}
	if r.runner == nil && r.executes() {
		r.runner = &tools.Runner{}
	}
	r.equip()
	if err := r.choose(); err != nil {
		return nil, errors.Join(err, r.unequip())
	}
	if r.catalog = s.shared; r.catalog == nil {
		opened, err := catalog.Open(context.Background(), s.roots, append(s.reading, catalog.WithLogger(s.logger))...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open skills: %w", err), r.unequip())
		}
		r.catalog = opened
	}
	r.offered = r.set.Tools()
	return r, nil
}

// executes reports whether the chosen tools run commands.
func (r *Runtime) executes() bool {
	if r.tools == nil {
		return r.profile != tools.KnowledgeOnly
	}
	return slices.ContainsFunc(new(tools.Runner).Operations(), func(o tools.Operation) bool { return slices.Contains(r.tools, o.Name) })
}

func (r *Runtime) choose() error {
	names := r.tools
	if names == nil {
		var err error
		if names, err = r.profile.Names(); err != nil {
			return err
		}
	}
	operations := tools.Default()
	if r.runner != nil {
		for _, o := range r.runner.Operations() {
			operations = append(operations, o)
			if r.tools == nil && r.profile != tools.KnowledgeOnly {
				names = append(names, o.Name)
			}
		}
	}
	for _, o := range r.operations {
		operations = append(operations, o)
		names = append(names, o.Name)
	}
	set, err := tools.Choose(operations, names)
	if err != nil {
		return err
	}
	r.set, r.delivers = set, set.Delivers()
	return nil
}

// equip completes the runner with what the host left to the runtime.
func (r *Runtime) equip() {
	if r.runner == nil {
		return
	}
	if r.runner.Artifacts == nil {
		r.runner.Artifacts = artifacts.NewMemory()
	}
	if r.runner.Workspaces == nil {
		places := &standardPlaces{options: []workspace.Option{workspace.WithLogger(r.logger)}, swept: r.swept}
		r.runner.Workspaces, r.own = places, append(r.own, places.close)
	} else if places, ok := r.runner.Workspaces.(interface {
		OnSweep(func(workspace.Swept)) (stop func())
	}); ok {
		stop := places.OnSweep(r.swept)
		r.own = append(r.own, func() error { stop(); return nil })
	}
	if r.runner.Executor == nil {
		sandbox := &standardSandbox{}
		r.runner.Executor, r.own = sandbox, append(r.own, sandbox.close)
	}
	r.terminals = terminal.New(r.runner.Sessions)
}

func (r *Runtime) unequip() error {
	if r.terminals != nil {
		r.terminals.Close()
	}
	var errs []error
	for _, close := range r.own {
		errs = append(errs, close())
	}
	return errors.Join(errs...)
}

// Close ends the commands that go on between calls, and closes what New opened:
// the catalog, and the workspaces with all that is in them. Calls under way may
// fail.
func (r *Runtime) Close() error {
	err := r.unequip()
	if r.shared != nil {
		return err
	}
	return errors.Join(err, r.catalog.Close())
}

// Tools are the tools to offer the model, in a fixed order. They are constant
// for the life of the runtime and depend neither on what is loaded nor on the
// catalog: a session that began while there was no skill to see is offered none of
// them, as core.View says. The caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.offered }

// Owns reports whether name is one of [Runtime.Tools].
func (r *Runtime) Owns(name string) bool { return r.set.Has(name) }

// Catalog returns the catalog.
func (r *Runtime) Catalog() *catalog.Catalog { return r.catalog }

// Refresh looks for changes of the skills. Sessions that have begun keep their
// overview; they are told of changes once, at their next user turn.
func (r *Runtime) Refresh(ctx context.Context) error {
	_, err := r.catalog.Refresh(ctx)
	return err
}

// Emit reports an event to the hook of [WithEventHook] and to the log.
func (r *Runtime) Emit(ctx context.Context, e core.Event) {
	if r.events != nil {
		r.events(ctx, e)
	}
	if r.logger.Enabled(ctx, slog.LevelDebug) {
		r.logger.LogAttrs(ctx, slog.LevelDebug, string(e.Kind),
			slog.String("session", e.Key.Session), slog.String("agent", e.Key.Agent),
			slog.String("skill", e.Skill), slog.String("tool", e.Call.Name), slog.String("rule", e.Rule), slog.String("detail", e.Detail))
	}
}

// ErrNoSession reports a call that belongs to no session.
var ErrNoSession = errors.New("no session: put one into the context with satchel.WithSession")

// storeOf returns where the records of a session are kept.
func (r *Runtime) storeOf(key core.SessionKey) session.Store {
	if isAnonymous(key.Session) {
		return r.anonymous
	}
	return r.store
}
