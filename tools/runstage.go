package tools

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/workspace"
)

// loadRef is the load of a skill that a command belongs to: what runs are the files
// that the first command after it found.
type loadRef struct {
	id     string // in the session
	digest string // of the body that was delivered
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
	j.load, err = j.loadOf(ctx, rec, j.skill)
	return err
}

// loadOf finds the load of a skill. One that may run without counts as loaded by
// every turn.
func (j *running) loadOf(ctx context.Context, rec *session.Record, skill core.Skill) (loadRef, error) {
	if a := rec.Find(skill.Name); a != nil {
		return loadRef{fmt.Sprintf("%q %s %d", j.scope.Key.Agent, a.Digest, a.Loaded), a.Digest}, nil
	}
	if !j.Unloaded {
		return loadRef{}, notLoaded(skill.Name)
	}
	_, body, err := j.scope.Catalog.Body(ctx, skill.Name)
	if err != nil {
		return loadRef{}, unreadable(ctx, err, "skill %q cannot be read", skill.Name)
	}
	return loadRef{fmt.Sprintf("%q %s turn %d", j.scope.Key.Agent, body.Digest, rec.Turn), body.Digest}, nil
}

// stage puts the skill, the conversation's files and the inputs into the
// workspace.
func (j *running) stage(ctx context.Context) (err error) {
	began := time.Now()
	var done workspace.Staging
	if j.dir, done, err = j.stageSkill(ctx, j.skill, j.load); err != nil {
		return err
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

// stageSkill stages a skill for a load of it.
func (j *running) stageSkill(ctx context.Context, skill core.Skill, l loadRef) (dir string, done workspace.Staging, err error) {
	if dir, done, err = j.place.Stage(ctx, skill, l.id, j.scope.Catalog); err != nil {
		return "", done, err
	}
	if done.Looked {
		_, body, err := j.scope.Catalog.Body(ctx, skill.Name)
		if err != nil && ctx.Err() != nil {
			return "", done, ctx.Err()
		}
		if done.Newer || err != nil || body.Digest != l.digest {
			j.warnings = append(j.warnings, fmt.Sprintf("skill %q has changed since it was loaded, and what runs are its files of now: load it again to read what it says", skill.Name))
		}
	}
	if !done.Copied || done.Changed != "" { // told once
		return dir, done, nil
	}
	j.warnings = append(j.warnings, done.Warnings...)
	passed, err := j.scope.Catalog.Passed(ctx, skill.Name)
	for _, name := range passed {
		j.warnings = append(j.warnings, fmt.Sprintf("not staged: %q of the skill is a link that cannot be followed, no regular file, or badly named", cut(name, 200)))
	}
	return dir, done, err
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
		skill, err := find(j.scope, rec, name)
		if err != nil {
			return err
		}
		l, err := j.loadOf(ctx, rec, skill)
		if err != nil {
			return err
		}
		began := time.Now()
		_, done, err := j.stageSkill(ctx, skill, l)
		if err == nil && done.Copied {
			j.scope.Emit(ctx, core.Event{Kind: core.WorkspaceStage, Skill: skill.Name, Duration: time.Since(began), Detail: stageDetail(skill.Name, done)})
		}
		return err
	}
	return from
}
