package run

import (
	"cmp"
	"context"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/deps"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// staging is one call of skill_run or skill_exec up to the start of its command:
// it puts what the plan names into the workspace and builds the command. What it
// learns on the way is for the [answer].
type staging struct {
	*Runner
	scope *tools.Scope
	plan  *plan
	skill core.Skill
	load  loadRef // of the skill
	place workspace.Workspace
	dir   string // of the skill, relative to the workspace
	// program is what runs; the second is how else the script can be run.
	program   string
	otherwise [][]string
	timeout   time.Duration // from the plan, as far as the host allows
	outputs   outputs.Spec  // likewise
	editor    string        // what editor_text staged, relative to the workspace
	home      string        // of this command alone, relative to the workspace
	leave     func()        // tells the queue that a session has ended; nil for skill_run

	out    *way              // access to the network; nil is none
	found  deps.Found        // packages that the skill requires
	given  []terminal.Secret // the secrets of the command
	staged []workspace.StagedInput
	notes
}

// newStaging begins a call; standard is its timeout if neither the call nor the
// host sets one.
func newStaging(r *Runner, s *tools.Scope, p *plan, standard time.Duration) *staging {
	st := &staging{Runner: r, scope: s, plan: p, notes: notes{warnings: slices.Clip(p.warnings)}}
	st.hold(standard)
	return st
}

// run stages, executes and collects as soon as there is a place to run.
func (r *Runner) run(ctx context.Context, s *tools.Scope, p *plan, places *queue) (string, error) {
	st := newStaging(r, s, p, executor.DefaultTimeout)
	if err := st.choose(ctx); err != nil {
		return "", err
	}
	if err := r.checkRuns(); err != nil {
		return "", err
	}
	st.network(ctx)
	patience := st.timeout
	if patience < 0 {
		patience = maxTimeout
	}
	leave, err := places.enter(ctx, s.Key.Session, patience, st.alone())
	if err != nil {
		return "", err
	}
	defer leave()
	cmd, err := st.prepare(ctx)
	if err != nil {
		return "", st.modelError(ctx, err)
	}
	defer st.release()
	if err := st.begin(ctx); err != nil {
		return "", err
	}
	began := time.Now()
	result, err := fallback{r.Executor, st}.Run(ctx, cmd)
	st.reportEnd(ctx, began, result, err)
	st.keep(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", st.modelError(ctx, err)
	}
	return (&answer{st}).write(ctx, result)
}

// begin notes that the command is about to start.
func (st *staging) begin(ctx context.Context) error {
	if st.scope.Begin == nil {
		return nil
	}
	return st.scope.Begin(ctx)
}

// prepare opens the workspace, stages and builds. Without an error the caller
// must release the workspace.
func (st *staging) prepare(ctx context.Context) (cmd executor.Command, err error) {
	if err := st.learnSecrets(ctx); err != nil {
		return cmd, err
	}
	began := time.Now()
	if st.place, err = st.Workspaces.Of(ctx, st.scope.Key.Session); err != nil {
		return cmd, err
	}
	defer func() {
		if err != nil {
			st.release()
		}
	}()
	st.report(ctx, core.WorkspaceCreate, began, "")
	if err := st.stage(ctx); err != nil {
		return cmd, err
	}
	room, err := st.place.Room(ctx, false)
	if err != nil {
		return cmd, err
	}
	if cmd, err = st.build(ctx); err != nil {
		return cmd, err
	}
	st.within(&cmd.Limits, room)
	return cmd, st.out.open(&cmd)
}

// within limits the disk space of a command to the room that there is. In a full
// workspace only that room bounds it, because the command may be the one that
// removes something.
func (st *staging) within(limits *executor.Limits, room workspace.Room) {
	switch {
	case room.Full != nil:
		limits.Disk = room.Limit
		st.warnings = append(st.warnings, "before this command: "+room.Full.Error())
	case limits.Disk != executor.Unlimited:
		limits.Disk = min(limits.OrDefaults().Disk, room.Limit)
	}
}

// build builds the command of the request.
func (st *staging) build(ctx context.Context) (executor.Command, error) {
	cwd, err := st.place.Dir(st.dir, st.plan.cwd)
	if err != nil {
		return executor.Command{}, err
	}
	env, err := st.environment(ctx)
	if err != nil {
		return executor.Command{}, err
	}
	args, err := st.arguments(env)
	if err == nil {
		err = st.plan.checkLengths(args, env, st.restricted())
	}
	if err != nil {
		return executor.Command{}, err
	}
	limits := st.Limits
	limits.Timeout = st.timeout
	return executor.Command{
		Args: args, Env: env, Limits: limits, Stdin: st.plan.input(),
		Workspace: st.place.Path(), Dir: cwd,
		Skills: path.Dir(st.dir), Writable: []string{workspace.VenvDir(st.dir)},
	}, nil
}

// seen returns the path at which the command finds a path of the workspace.
func (st *staging) seen(rel string) string {
	base := st.Executor.Capabilities().WorkspaceAt
	if base == "" {
		base = st.place.Path()
	}
	return filepath.Join(base, filepath.FromSlash(rel))
}

func (st *staging) report(ctx context.Context, kind core.EventKind, began time.Time, detail string) {
	st.tell(ctx, began, core.Event{Kind: kind, Detail: detail})
}

// tell reports a step that began at a given time.
func (st *staging) tell(ctx context.Context, began time.Time, e core.Event) {
	e.Skill, e.Duration, e.Detail = st.skill.Name, time.Since(began), st.redact(e.Detail)
	st.scope.Emit(ctx, e)
}

// reportEnd reports the end of the command, whatever ended it.
func (st *staging) reportEnd(ctx context.Context, began time.Time, result executor.Result, err error) {
	if result.Reason == "" && ctx.Err() != nil {
		result.Reason = executor.ReasonCancelled
	}
	detail := string(cmp.Or(result.Reason, executor.ReasonSetup))
	if err != nil {
		detail += ": " + err.Error()
	}
	st.report(ctx, core.WorkspaceRun, began, detail)
}

// keep calls the Keep of the places, if they have one, for what the command left.
func (st *staging) keep(ctx context.Context) {
	keeper, ok := st.Workspaces.(workspace.Keeper)
	if !ok {
		return
	}
	if err := keeper.Keep(ctx, st.place); err != nil {
		st.warnings = append(st.warnings, "workspace not kept: "+err.Error())
	}
}

// release ends the use of the workspace and removes what was staged for this call
// alone.
func (st *staging) release() {
	if st.editor != "" {
		_ = st.place.Remove(st.editor) // a command may have removed it
	}
	if st.home != "" {
		_ = st.place.Discard(st.home) // what cannot be removed goes with the workspace
	}
	st.place.Release()
	if st.leave != nil {
		st.leave()
	}
}
