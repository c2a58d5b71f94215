package tools

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/workspace"
)

// running is one call of skill_run on its way.
type running struct {
	*Runner
	scope *Scope
	req   *runRequest
	skill core.Skill
	// digest is that of the body that was loaded: the version that is staged.
	digest string
	place  *workspace.Workspace
	dir    string // of the skill, relative to the workspace
	editor string // name of what editor_text stages; two sessions have two

	secrets  []secret
	staged   []workspace.StagedInput
	warnings []string
}

// run stages, executes and collects.
func (r *Runner) run(ctx context.Context, s *Scope, req *runRequest) (string, error) {
	j := &running{Runner: r, scope: s, req: req}
	if err := j.choose(ctx); err != nil {
		return "", err
	}
	cmd, err := j.prepare(ctx)
	if err != nil {
		return "", told(ctx, err)
	}
	defer j.place.Release()
	began := time.Now()
	result, err := r.Executor.Run(ctx, cmd)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", told(ctx, errors.New(j.redact(err.Error())))
	}
	j.report(ctx, core.WorkspaceRun, began, string(result.Reason))
	return j.answer(ctx, result)
}

// prepare opens the workspace, stages and builds. Without an error the caller
// releases the workspace.
func (j *running) prepare(ctx context.Context) (cmd executor.Command, err error) {
	began := time.Now()
	if j.place, err = j.Workspaces.Of(ctx, j.scope.Key.Session); err != nil {
		return cmd, err
	}
	defer func() {
		if err != nil {
			j.place.Release()
		}
	}()
	j.report(ctx, core.WorkspaceCreate, began, "")
	if err := j.stage(ctx); err != nil {
		return cmd, err
	}
	if cmd, err = j.build(ctx); err != nil {
		return cmd, err
	}
	if err := j.place.CheckFull(ctx); err != nil && !j.frees() {
		return cmd, err
	}
	return cmd, nil
}

// frees reports a command that may make room in a full workspace.
func (j *running) frees() bool {
	return strings.HasPrefix(strings.TrimSpace(j.req.command), "rm ")
}

// choose finds the skill and whether it may run.
func (j *running) choose(ctx context.Context) error {
	rec, err := j.scope.Record(ctx)
	if err != nil {
		return err
	}
	if j.skill, err = find(j.scope, rec, j.req.skill); err != nil {
		return err
	}
	if a := rec.Find(j.skill.Name); a != nil {
		j.digest = a.Digest
		return nil
	}
	if !j.Unloaded {
		return notLoaded(j.skill.Name)
	}
	_, body, err := j.scope.Catalog.Body(ctx, j.skill.Name)
	j.digest = body.Digest
	if err != nil {
		return unreadable(ctx, err, "skill %q cannot be read", j.skill.Name)
	}
	return nil
}

// stage puts the skill, the conversation's files and the inputs into the
// workspace.
func (j *running) stage(ctx context.Context) (err error) {
	began := time.Now()
	var done workspace.Staging
	if j.dir, done, err = j.place.Stage(ctx, j.skill, j.digest, j.scope.Catalog); err != nil {
		return err
	}
	if done.Copied && done.Changed == "" { // told once
		passed, err := j.scope.Catalog.Passed(ctx, j.skill.Name)
		if err != nil {
			return err
		}
		for _, name := range passed {
			j.warnings = append(j.warnings, fmt.Sprintf("not staged: %q of the skill is a link that cannot be followed, no regular file, or badly named", cut(name, 200)))
		}
	}
	from := j.sources()
	if err := j.attach(ctx, from); err != nil {
		return err
	}
	if len(j.req.inputs) > 0 {
		_, warnings, err := j.place.Inputs(ctx, j.req.inputs, from)
		if err != nil {
			return err
		}
		j.warnings = append(j.warnings, warnings...)
	}
	j.report(ctx, core.WorkspaceStage, began, stageDetail(j.skill.Name, done))
	return nil
}

// stageDetail says what was staged, and why for a second time.
func stageDetail(skill string, done workspace.Staging) string {
	if done.Changed == "" {
		return skill
	}
	return fmt.Sprintf("%s: staged anew, %q was changed", skill, done.Changed)
}

// sources are where inputs come from.
func (j *running) sources() workspace.Sources {
	from := j.Resolve
	if j.Artifacts != nil {
		from.Artifacts = j.Artifacts
	}
	from.StageSkill = func(ctx context.Context, name string) error {
		rec, err := j.scope.Record(ctx)
		if err != nil {
			return err
		}
		skill, err := findLoaded(j.scope, rec, name)
		if err != nil {
			return err
		}
		a := rec.Find(skill.Name)
		if a == nil {
			return notLoaded(skill.Name)
		}
		began := time.Now()
		_, done, err := j.place.Stage(ctx, skill, a.Digest, j.scope.Catalog)
		if err == nil && done.Copied {
			j.scope.Emit(ctx, core.Event{Kind: core.WorkspaceStage, Skill: skill.Name, Duration: time.Since(began), Detail: stageDetail(skill.Name, done)})
		}
		return err
	}
	return from
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
	j.scope.Emit(ctx, core.Event{Kind: kind, Skill: j.skill.Name, Duration: time.Since(began), Detail: detail})
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
