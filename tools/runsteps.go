package tools

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/redact"
	"github.com/satchel-go/satchel/workspace"
)

// running is one call of skill_run on its way.
type running struct {
	*Runner
	scope *Scope
	req   *runRequest
	skill core.Skill
	load  loadRef // of the skill
	place *workspace.Workspace
	dir   string // of the skill, relative to the workspace
	// program is what runs, and otherwise how else the script can be run.
	program   string
	otherwise [][]string
	editor    string // what editor_text staged, relative to the workspace

	given    []redact.Secret // to the command
	secrets  []redact.Secret // that no answer shows
	hidden   *redact.Set     // the same, to be found
	staged   []workspace.StagedInput
	warnings []string
}

// run stages, executes and collects.
func (r *Runner) run(ctx context.Context, s *Scope, req *runRequest) (string, error) {
	j := &running{Runner: r, scope: s, req: req, warnings: req.warnings}
	if err := j.choose(ctx); err != nil {
		return "", err
	}
	cmd, err := j.prepare(ctx)
	if err != nil {
		return "", j.told(ctx, err)
	}
	defer j.release()
	began := time.Now()
	result, err := fallback{r.Executor, j}.Run(ctx, cmd)
	j.reportEnd(ctx, began, result, err)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", j.told(ctx, err)
	}
	return j.answer(ctx, result)
}

// prepare opens the workspace, stages and builds. Without an error the caller
// releases the workspace.
func (j *running) prepare(ctx context.Context) (cmd executor.Command, err error) {
	if err := j.learnSecrets(ctx); err != nil {
		return cmd, err
	}
	began := time.Now()
	if j.place, err = j.Workspaces.Of(ctx, j.scope.Key.Session); err != nil {
		return cmd, err
	}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	j.report(ctx, core.WorkspaceCreate, began, "")
	if err := j.stage(ctx); err != nil {
		return cmd, err
	}
	room, err := j.place.Room(ctx)
	if err != nil {
		return cmd, err
	}
	if cmd, err = j.build(ctx); err != nil {
		return cmd, err
	}
	j.within(&cmd.Limits, room)
	return cmd, nil
}

// within bounds the disk of a command by the room that there is. In a full
// workspace that is all that bounds it: the command may be the one that removes
// something.
func (j *running) within(limits *executor.Limits, room workspace.Room) {
	switch {
	case room.Full != nil:
		limits.Disk = room.Limit
		j.warnings = append(j.warnings, "before this command: "+room.Full.Error())
	case limits.Disk != executor.Unlimited:
		limits.Disk = min(limits.OrDefaults().Disk, room.Limit)
	}
}

// noteFull says what a command that was ended for what it wrote has left.
func (j *running) noteFull(ctx context.Context) {
	if _, err := j.place.Usage(ctx); err != nil {
		return
	}
	if room, err := j.place.Room(ctx); err == nil && room.Full != nil {
		j.warnings = append(j.warnings, "after this command: "+room.Full.Error())
	}
}

// build makes the command of the request.
func (j *running) build(ctx context.Context) (executor.Command, error) {
	cwd, err := j.place.Dir(j.dir, j.req.cwd)
	if err != nil {
		return executor.Command{}, err
	}
	env, err := j.environment(ctx)
	if err != nil {
		return executor.Command{}, err
	}
	args, err := j.arguments(env)
	if err == nil {
		err = j.checkLengths(args, env)
	}
	if err != nil {
		return executor.Command{}, err
	}
	limits := j.Limits
	if j.req.timeout > 0 {
		limits.Timeout = j.req.timeout
	}
	return executor.Command{
		Args: args, Env: env, Limits: limits, Stdin: j.stdin(),
		Dir:       filepath.Join(j.place.Path(), filepath.FromSlash(cwd)),
		Workspace: j.place.Path(),
		Skills:    filepath.Join(j.place.Path(), filepath.Dir(filepath.FromSlash(j.dir))),
		Writable:  []string{filepath.Join(j.place.Path(), filepath.FromSlash(workspace.VenvDir(j.dir)))},
	}, nil
}

// seen is the path under which the command finds a path of the workspace.
func (j *running) seen(rel string) string {
	base := j.Executor.Capabilities().WorkspaceAt
	if base == "" {
		base = j.place.Path()
	}
	return filepath.Join(base, filepath.FromSlash(rel))
}

func (j *running) report(ctx context.Context, kind core.EventKind, began time.Time, detail string) {
	j.scope.Emit(ctx, core.Event{Kind: kind, Skill: j.skill.Name, Duration: time.Since(began), Detail: j.redact(detail)})
}

// reportEnd reports the end of the command, however it came.
func (j *running) reportEnd(ctx context.Context, began time.Time, result executor.Result, err error) {
	if result.Reason == "" && ctx.Err() != nil {
		result.Reason = executor.ReasonCancelled
	}
	detail := string(cmp.Or(result.Reason, executor.ReasonSetup))
	if err != nil {
		detail += ": " + err.Error()
	}
	j.report(ctx, core.WorkspaceRun, began, detail)
}

// release ends the use of the workspace. What was staged for this call alone
// goes.
func (j *running) release() {
	if j.editor != "" {
		_ = j.place.Root().Remove(j.editor) // a command may have removed it
	}
	j.place.Release()
}

// told makes an error of a run the model's business, unless the run of the
// agent itself is over.
func told(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var already tell
	if errors.As(err, &already) {
		return already
	}
	return tellf("%s", cut(err.Error(), 1000))
}
