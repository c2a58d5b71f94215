package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/deps"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/session"
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
	st.withinCeilings(standard)
	return st
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

// loadRef is the load of a skill to which a command belongs. The command runs the
// files as the first command after that load found them.
type loadRef struct {
	id     string // in the session
	digest string // of the body that was delivered, "" where the files are of a revision
	from   *catalog.Catalog
}

// choose finds the skill and whether it may run.
func (st *staging) choose(ctx context.Context) error {
	rec, err := st.scope.Record(ctx)
	if err != nil {
		return err
	}
	if st.skill, err = st.scope.Skill(rec, st.plan.skill); err != nil {
		return err
	}
	if st.load, err = st.loadOf(ctx, rec, st.skill); err != nil || st.load.digest != "" {
		return err
	}
	if st.skill, err = st.load.from.Front(ctx, st.skill.Name); err != nil {
		return modelError(ctx, err)
	}
	return nil
}

// loadOf finds the load of a skill. A skill that may run without one counts as
// loaded anew in every turn.
func (st *staging) loadOf(ctx context.Context, rec *session.Record, skill core.Skill) (loadRef, error) {
	from := st.scope.Loaded(rec)
	switch a := rec.Find(skill.Name); {
	case a != nil && a.Revision != "" && a.ID == skill.ID:
		return loadRef{id: a.ID + " " + a.Revision, from: from}, nil
	case a != nil:
		return loadRef{fmt.Sprintf("%q %s %d", st.scope.Key.Agent, a.Digest, a.Loaded), a.Digest, from}, nil
	}
	if !st.Unloaded {
		return loadRef{}, tools.NotLoaded(skill.Name)
	}
	digest, err := st.scope.Digest(ctx, skill.Name)
	if err != nil {
		return loadRef{}, err
	}
	return loadRef{fmt.Sprintf("%q %s turn %d", st.scope.Key.Agent, digest, rec.Turn), digest, from}, nil
}

// stage puts the skill, the conversation's files and the inputs into the
// workspace.
func (st *staging) stage(ctx context.Context) (err error) {
	began := time.Now()
	var done workspace.Staging
	if st.dir, done, err = st.stageSkill(ctx, st.skill, st.load); err != nil {
		return err
	}
	if err := st.findDependencies(ctx, done.Copied); err != nil {
		return err
	}
	from := st.sources()
	if err := st.attach(ctx, from); err != nil {
		return err
	}
	if err := st.checkHostFiles(); err != nil {
		return err
	}
	if len(st.plan.inputs) > 0 {
		_, warnings, err := st.place.Inputs(ctx, st.plan.inputs, from)
		if err != nil {
			return err
		}
		st.warnings = append(st.warnings, warnings...)
	}
	st.report(ctx, core.WorkspaceStage, began, stageDetail(st.skill.Name, done))
	return nil
}

// stageSkill stages a skill for a load of it.
func (st *staging) stageSkill(ctx context.Context, skill core.Skill, l loadRef) (dir string, done workspace.Staging, err error) {
	if dir, done, err = st.place.Stage(ctx, skill, l.id, l.from); err != nil {
		return "", done, err
	}
	if done.Looked && l.digest != "" {
		now, err := st.scope.Digest(ctx, skill.Name)
		if err != nil && ctx.Err() != nil {
			return "", done, ctx.Err()
		}
		if done.Newer || err != nil || now != l.digest {
			st.warnings = append(st.warnings, fmt.Sprintf("skill %q has changed since it was loaded, and what runs are its files of now: load it again to read what it says", skill.Name))
		}
	}
	if !done.Copied || done.Changed != "" { // report it once
		return dir, done, nil
	}
	st.warnings = append(st.warnings, done.Warnings...)
	passed, err := l.from.Passed(ctx, skill.Name)
	for _, name := range passed {
		st.warnings = append(st.warnings, fmt.Sprintf("not staged: %q of the skill is a link that cannot be followed, no regular file, or badly named", callargs.Cut(name, 200)))
	}
	return dir, done, err
}

// stageDetail says what was staged, and why it was staged again.
func stageDetail(skill string, done workspace.Staging) string {
	if done.Changed == "" {
		return skill
	}
	return fmt.Sprintf("%s: staged anew, %q was changed", skill, done.Changed)
}

// sources returns where inputs come from.
func (st *staging) sources() workspace.Sources {
	from := st.Resolve
	if st.Artifacts != nil {
		from.Artifacts = st.Artifacts
	}
	from.StageSkill = func(ctx context.Context, name string) error {
		rec, err := st.scope.Record(ctx)
		if err != nil {
			return err
		}
		skill, err := st.scope.Skill(rec, name)
		if err != nil {
			return err
		}
		l, err := st.loadOf(ctx, rec, skill)
		if err != nil {
			return err
		}
		began := time.Now()
		_, done, err := st.stageSkill(ctx, skill, l)
		if err == nil && done.Copied {
			st.scope.Emit(ctx, core.Event{Kind: core.WorkspaceStage, Skill: skill.Name, Duration: time.Since(began), Detail: stageDetail(skill.Name, done)})
		}
		return err
	}
	return from
}

// begin notes that the command is about to start.
func (st *staging) begin(ctx context.Context) error {
	if st.scope.Begin == nil {
		return nil
	}
	return st.scope.Begin(ctx)
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
