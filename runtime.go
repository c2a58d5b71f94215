package satchel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/tools/run"
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
	// command is skill_run, by which the scripts of another vocabulary run.
	command *tools.Operation
	chain   []processors.Processor

	anonymous *session.Memory
	// closers close what the runtime has made because the host left it out.
	closers []func() error
	// terminals are the commands that go on between calls; nil without a runner.
	terminals *terminal.Table
	runs      atomic.Int64
	states    *agentStates
	names     *permission.Names
	overview  atomic.Pointer[overview]
	// overviews are those of audiences, and seeing guards them.
	overviews *lru.Cache[*catalog.Snapshot, *overview]
	seeing    sync.Mutex
	mentioned atomic.Pointer[mentioned]
	scanned   atomic.Pointer[catalog.Snapshot]
	warned    sync.Map // agents whose unmapped tools were told
	transfers *transfers
	open      *openCalls
	closing   sync.Once
	closed    error // of Close
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
		return nil, fmt.Errorf("%w: WithCatalog excludes WithSkillDirs, WithSkillFS, WithSkillRoots and WithReading", ErrOption)
	}
	s.stock()
	r := &Runtime{
		settings:  s,
		anonymous: session.NewMemory(),
		states:    newAgentStates(maxStates),
		names:     permission.NewNames(s.tooling...),
		transfers: newTransfers(),
		open:      newOpenCalls(),
	}
	if s.vocabulary != nil && s.vocabulary.InSystem && !s.placed {
		r.placement = processors.InSystem
	}
	r.chain = processors.Chain(r.placement)
	r.store = session.NewPinCache(s.store, 0)
	if r.judge.Home == "" {
		r.judge.Home, _ = os.UserHomeDir() // without one, "~" is just a name
	}
	if r.runner == nil && r.executes() {
		r.runner = &run.Runner{}
	}
	if r.runner != nil && r.commands != nil {
		r.runner.Policy = *r.commands
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
	if err := r.offer(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.warnUnavailable()
	if r.source != nil && r.shared == nil {
		r.closers = append(r.closers, follow(r.source, r.Refresh, func(err error) { r.logger.Warn("the skills cannot be read again", "error", err) }))
	}
	return r, nil
}

// offer fixes the tools of the runtime. Where they search the catalog, its index is
// built meanwhile.
func (r *Runtime) offer() error {
	r.text.Pinned = r.pinned
	text := r.text
	text.Guidance = r.rules()
	if r.searches(text, r.catalog.Snapshot().Visible()) {
		if !r.set.Has(tools.SearchName) {
			if err := r.choose(tools.SearchName); err != nil {
				return err
			}
		}
		r.text.Search = tools.SearchName
		r.closers = append(r.closers, inBackground(r.catalog.Index))
	}
	r.offered = r.set.Tools()
	r.tellScanned(context.Background())
	return nil
}

// tellScanned reports what the catalog holds, once for each snapshot.
func (r *Runtime) tellScanned(ctx context.Context) {
	snapshot := r.catalog.Snapshot()
	if r.scanned.Swap(snapshot) == snapshot || r.events == nil {
		return
	}
	r.emit(ctx, core.Event{Kind: core.CatalogScanned, Detail: fmt.Sprintf("%d skills, %d diagnostics", snapshot.Len(), len(snapshot.Diagnostics()))})
	if !r.lifecycle {
		return
	}
	for _, kind := range []core.EventKind{core.SkillDiscovered, core.SkillRegistered} {
		for _, skill := range snapshot.Skills() {
			r.emit(ctx, core.Event{Kind: kind, Skill: skill.Name, Detail: skill.Location})
		}
	}
}

// warnUnavailable logs that the commands of skills cannot run on this machine.
func (r *Runtime) warnUnavailable() {
	if r.runner == nil || !r.set.Has("skill_run") && !r.set.Has("skill_exec") {
		return
	}
	if why := r.runner.Executor.Capabilities().Unavailable; why != "" {
		r.logger.Warn("commands of skills cannot run on this machine", "why", why)
	}
}

// executes reports whether the chosen tools run commands.
func (r *Runtime) executes() bool {
	if v := r.vocabulary; v != nil {
		return r.profile != tools.KnowledgeOnly && slices.ContainsFunc(v.Operations, func(o tools.Operation) bool {
			return o.Runs != nil && (r.tools == nil || slices.Contains(r.tools, o.Name))
		})
	}
	if r.tools == nil {
		return r.profile != tools.KnowledgeOnly
	}
	return slices.ContainsFunc(new(run.Runner).Operations(), func(o tools.Operation) bool { return slices.Contains(r.tools, o.Name) })
}

// choose builds the set of the tools that the options name, and of further ones.
func (r *Runtime) choose(further ...string) error {
	if r.vocabulary != nil {
		return r.chooseOf(r.vocabulary, further)
	}
	names := r.tools
	if names == nil {
		var err error
		if names, err = r.profile.Names(); err != nil {
			return err
		}
	}
	operations := append(tools.Default(), tools.Search())
	names = append(slices.Clone(names), further...)
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

// chooseOf is choose for another vocabulary.
func (r *Runtime) chooseOf(v *tools.Vocabulary, further []string) error {
	names := append(slices.Clone(r.tools), further...)
	var operations []tools.Operation
	for _, o := range v.Operations {
		if o.Runs != nil {
			if r.runner == nil || r.profile == tools.KnowledgeOnly {
				continue
			}
			run := r.runner.Run()
			o.Request = func(args tools.Args) permission.Request { return run.Request(run.Decode(o.Runs(args))) }
			r.command = &run
		}
		if operations = append(operations, o); r.tools == nil {
			names = append(names, o.Name)
		}
	}
	operations = append(operations, tools.Search())
	for _, o := range r.operations {
		operations, names = append(operations, o), append(names, o.Name)
	}
	set, err := tools.Choose(operations, names)
	if err != nil {
		return err
	}
	r.set, r.delivers = set, set.Delivers()
	return nil
}

// rules are those that follow the list of skills.
func (r *Runtime) rules() string {
	switch {
	case r.guidance != nil:
		return *r.guidance
	case r.text.Guidance != "":
		return r.text.Guidance
	case r.vocabulary != nil:
		rules := r.vocabulary.Guidance
		if r.set.Has(tools.SearchName) {
			rules += " " + tools.SearchGuidance
		}
		return rules
	}
	return r.set.Guidance()
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
		r.runner.Workspaces, r.closers = places, append(r.closers, places.close)
	} else if places, ok := r.runner.Workspaces.(interface {
		OnSweep(func(workspace.Swept)) (stop func())
	}); ok {
		stop := places.OnSweep(r.swept)
		r.closers = append(r.closers, func() error { stop(); return nil })
	}
	if r.runner.Executor == nil {
		standard := &standardSandbox{}
		if r.runner.Dependencies != nil {
			standard.options = append(standard.options, sandbox.WithReadable(r.runner.Dependencies.Dir()))
		}
		r.runner.Executor, r.closers = standard, append(r.closers, standard.close)
	}
	r.terminals = terminal.New(r.runner.Sessions)
}

func (r *Runtime) unequip() error {
	if r.terminals != nil {
		r.terminals.Close()
	}
	var errs []error
	for _, close := range r.closers {
		errs = append(errs, close())
	}
	return errors.Join(errs...)
}

// Close ends the commands that go on between calls, and closes what New opened:
// the catalog, and the workspaces with all that is in them. Calls under way may
// fail; [Runtime.Shutdown] lets them end first. Closing it again changes nothing.
func (r *Runtime) Close() error {
	r.closing.Do(func() {
		r.closed = r.unequip()
		if r.shared == nil {
			r.closed = errors.Join(r.closed, r.catalog.Close())
		}
	})
	return r.closed
}

// Shutdown lets the tool calls that are open end, and closes the runtime then, as
// [Runtime.Close] does. From its beginning on, [Agent.Prepare] and [Agent.Open] fail
// with [ErrShutdown], so a run ends before its next model call; a server first stops
// to take requests and waits for those that it has. If ctx ends before the calls do,
// the runtime is closed all the same, which ends their commands, and the error is that
// of ctx.
func (r *Runtime) Shutdown(ctx context.Context) error {
	var err error
	select {
	case <-r.open.stop():
	case <-ctx.Done():
		err = ctx.Err()
	}
	return errors.Join(err, r.Close())
}

// Tools are the tools to offer the model, in a fixed order. They are constant
// for the life of the runtime and depend neither on what is loaded nor on the
// catalog: a session that began while there was no skill to see is offered none of
// them, as core.View says. The caller must not change the slice.
func (r *Runtime) Tools() []core.Tool { return r.offered }

// toolNames returns the names of the runtime's own tools.
func (r *Runtime) toolNames() []string {
	names := make([]string, 0, len(r.offered))
	for _, t := range r.offered {
		names = append(names, t.Name)
	}
	return names
}

// Catalog returns the catalog.
func (r *Runtime) Catalog() *catalog.Catalog { return r.catalog }

// Refresh looks for changes of the skills. Sessions that have begun keep their
// overview; they are told of changes once, at their next user turn.
func (r *Runtime) Refresh(ctx context.Context) error {
	_, err := r.catalog.Refresh(ctx)
	r.tellScanned(ctx)
	return err
}

// emit reports an event to the hook of [WithEventHook] and to the log: denials at
// Info, all else at Debug.
func (r *Runtime) emit(ctx context.Context, e core.Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Turn == 0 {
		e.Turn = r.states.turnOf(e.Key)
	}
	if e.Kind == core.SkillActivated && e.Detail == "" {
		e.Detail = r.states.of(e.Key).foundBy(e.Skill)
	}
	e.Phase = e.Kind.Phase()
	if r.events != nil {
		r.events(ctx, e)
	}
	level := slog.LevelDebug
	if e.Kind == core.ToolDenied {
		level = slog.LevelInfo
	}
	if r.logger.Enabled(ctx, level) {
		r.logger.LogAttrs(ctx, level, string(e.Kind),
			slog.String("session", e.Key.Session), slog.String("agent", e.Key.Agent),
			slog.String("skill", e.Skill), slog.String("tool", e.Call.Name), slog.String("rule", e.Rule), slog.String("detail", e.Detail))
	}
}

// Ready reports why commands cannot run at all, and what to change; nil if they
// can, or if the runtime runs none. It opens the sandbox of a host that names no
// executor, as the first command would.
func (r *Runtime) Ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil || r.runner == nil {
		return err
	}
	if own, ok := r.runner.Executor.(*standardSandbox); ok {
		_, err := own.open()
		return err
	}
	if why := r.runner.Executor.Capabilities().Unavailable; why != "" {
		return fmt.Errorf("%w: %s", executor.ErrSetup, why)
	}
	return nil
}

// ErrNoSession reports a call that belongs to no session.
var ErrNoSession = errors.New("no session: put one into the context with satchel.WithSession")

// storeOf returns where the records of a session are kept.
func (r *Runtime) storeOf(key core.SessionKey) session.Store {
	if key.Anonymous {
		return r.anonymous
	}
	return r.store
}

// anonymousPrefix begins the ids of sessions that no host named.
const anonymousPrefix = "\x00run-"

// ErrReserved reports a session id that only the runtime itself may use.
var ErrReserved = errors.New("the session id is reserved: one may not begin with a NUL or with \"satchel:\"")

// admit refuses sessions of a host whose ids are those of the runtime's own records.
// Every public way to a session's state asks it first.
func admit(key core.SessionKey) error {
	if !key.Anonymous && (strings.HasPrefix(key.Session, "\x00") || strings.HasPrefix(key.Session, "satchel:")) {
		return fmt.Errorf("session %q: %w", key.Session, ErrReserved)
	}
	return nil
}

// swept reports a workspace that nobody had used for long.
func (r *Runtime) swept(s workspace.Swept) {
	detail := "idle"
	if s.Err != nil {
		detail += ": " + s.Err.Error()
	}
	r.emit(context.Background(), core.Event{Kind: core.WorkspaceCleanup, Key: core.SessionKey{Session: s.Session}, Duration: s.Took, Detail: detail})
}
