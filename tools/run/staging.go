package run

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// staging is a call of skill_run or skill_exec up to the start of its command. It stages the
// files of the plan into the workspace and builds the command. The [answer] reads its fields.
type staging struct {
	runner     *Runner
	scope      *skilltools.Scope
	plan       *plan
	skill      core.Skill
	load       loadRef // the load of the skill
	place      workspace.Workspace
	at         workspacePath // of place
	dir        string        // the skill's folder, relative to place
	hiddenDirs []string      // folders of the skill whose names the workspace uses itself
	cwd        string        // the working directory, relative to place
	program    *program
	timeout    time.Duration // the plan's timeout, bounded by the host
	outputs    collect.Spec  // the plan's outputs, bounded by the host
	scratch    scratch
	leave      func() // leaves the queue when a session has ended; nil for skill_run

	network      *networkAccess    // access to the network; nil is none
	dependencies deps.Status       // packages that the skill requires
	secrets      []terminal.Secret // the secrets of the command
	// hostEnv are the host's variables for this skill. isPrivileged reports that the command may
	// do more than others.
	hostEnv      map[string]string
	isPrivileged bool

	staged []workspace.StagedInput
	events reporter
	notes  *notes
}

// newStaging begins a call. standard is its timeout if neither the call nor the host sets one.
func newStaging(r *Runner, s *skilltools.Scope, p *plan, standard time.Duration) *staging {
	n := &notes{warnings: slices.Clip(p.warnings)}
	timeout := limitTimeout(p.timeout, r.Limits, standard, n)
	spec, warnings := p.outputs.Within(r.Outputs)
	n.add(warnings...)
	return &staging{runner: r, scope: s, plan: p, timeout: timeout, outputs: spec, notes: n}
}

// prepare opens the workspace, stages the files and builds the command. Without an error the
// caller must call release.
func (st *staging) prepare(ctx context.Context) (cmd executor.Command, err error) {
	if err := st.learnSecrets(ctx); err != nil {
		return cmd, err
	}
	st.findPrivileges(ctx)
	began := time.Now()
	if st.place, err = st.runner.workspace(ctx, st.scope.Key().Session); err != nil {
		return cmd, err
	}
	defer func() {
		if err != nil {
			st.release()
		}
	}()
	at, err := workspace.SeenAt(st.runner.Executor.Capabilities().WorkspaceAt, st.place)
	if err != nil {
		return cmd, err
	}
	st.at = workspacePath(at)
	st.plan = st.plan.withPaths(st.at)
	if err := st.plan.checkOutputs(false); err != nil {
		return cmd, err
	}
	st.outputs.Globs = st.plan.outputs.Globs
	st.scratch = scratch{place: st.place, agent: st.scope.Key().Agent, plan: st.plan}
	st.events = reporter{st.scope, st.skill.Name, st.notes}
	st.events.report(ctx, began, core.Event{Kind: core.WorkspaceCreate})
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
	limitDisk(&cmd.Limits, room, st.notes)
	return cmd, st.network.open(&cmd)
}

// loadRef identifies the load of a skill to which a command belongs. All commands of a load run
// the files that its first command has staged.
type loadRef struct {
	id     string // in the session
	digest string // of the delivered body, "" if the files come from a revision
	from   *catalog.Catalog
}

// choose resolves the skill and checks whether it may run.
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
	if st.skill, err = st.load.from.FrontMatter(ctx, st.skill.Name); err != nil {
		return modelError(ctx, err)
	}
	return nil
}

// loadOf returns the load of a skill. A skill that may run without a load counts as loaded once
// in every turn.
func (st *staging) loadOf(ctx context.Context, rec *state.Record, skill core.Skill) (loadRef, error) {
	from := st.scope.LoadedCatalog(rec)
	switch a := rec.Find(skill.Name); {
	case a != nil && a.Revision != "" && a.ID == skill.ID:
		return loadRef{id: a.ID + " " + a.Revision, from: from}, nil
	case a != nil:
		return loadRef{fmt.Sprintf("%q %s %d", st.scope.Key().Agent, a.Digest, a.Loaded), rec.Full(a.Digest), from}, nil
	}
	if !st.runner.AllowUnloaded {
		return loadRef{}, skilltools.NotLoaded(skill.Name)
	}
	digest, err := st.scope.Digest(ctx, skill.ID)
	if err != nil {
		return loadRef{}, err
	}
	return loadRef{fmt.Sprintf("%q %s turn %d", st.scope.Key().Agent, digest, rec.Turn), digest, from}, nil
}

// stage stages the skill, the conversation's files and the inputs into the workspace.
func (st *staging) stage(ctx context.Context) (err error) {
	began := time.Now()
	var done workspace.Staging
	if st.dir, done, err = st.stageSkill(ctx, st.skill, st.load); err != nil {
		return err
	}
	st.hiddenDirs = done.Renamed
	if st.dependencies, err = findDependencies(ctx, st.runner.installed, st.skill.Name, st.load.from, st.notes); err != nil {
		return err
	}
	if missing := st.dependencies.Missing; done.Copied && len(missing) > 0 {
		st.notes.add(fmt.Sprintf("the packages of %s are not installed, and commands cannot install them", strings.Join(missing, " and ")))
	}
	from := st.sources()
	files := attachments{st.scope, st.runner.Attached}
	if st.staged, err = files.stage(ctx, st.place, from, st.notes); err != nil {
		return err
	}
	if st.scope.ByPattern {
		if err := checkHostFiles(st.plan.inputs); err != nil {
			return err
		}
	}
	if len(st.plan.inputs) > 0 {
		_, warnings, err := st.place.Inputs(ctx, st.plan.inputs, from)
		if err != nil {
			return err
		}
		st.notes.add(warnings...)
	}
	st.events.report(ctx, began, core.Event{Kind: core.WorkspaceStage, Detail: stageDetail(st.skill.Name, done)})
	return nil
}

// stageSkill stages a skill for one of its loads.
func (st *staging) stageSkill(ctx context.Context, skill core.Skill, l loadRef) (dir string, done workspace.Staging, err error) {
	if dir, done, err = st.place.Stage(ctx, skill, l.id, l.from); err != nil {
		return "", done, err
	}
	if done.HasChecked && l.digest != "" {
		now, err := st.scope.Digest(ctx, skill.ID)
		if err != nil && ctx.Err() != nil {
			return "", done, ctx.Err()
		}
		if done.IsNewer || err != nil || now != l.digest {
			st.notes.add(fmt.Sprintf("skill %q has changed since it was loaded, and what runs are its files of now: load it again to read what it says", skill.Name))
		}
	}
	if !done.Copied || done.ChangedPath != "" { // report it once
		return dir, done, nil
	}
	st.notes.add(done.Warnings...)
	passed, err := l.from.SkippedFiles(ctx, skill.Name)
	for _, name := range passed {
		st.notes.add(fmt.Sprintf("not staged: %q of the skill is a link that cannot be followed, no regular file, or badly named", printable.Cut(name, 200)))
	}
	return dir, done, err
}

// stageDetail says what was staged, and why it was staged again.
func stageDetail(skill string, done workspace.Staging) string {
	if done.ChangedPath == "" {
		return skill
	}
	return fmt.Sprintf("%s: staged again, %q was changed", skill, done.ChangedPath)
}

// sources returns the sources of inputs.
func (st *staging) sources() workspace.Sources {
	from := workspace.Sources{Artifacts: st.runner.Resolve.Artifacts, Resolve: st.runner.Resolve.Resolve}
	if st.runner.Artifacts != nil {
		from.Artifacts = st.runner.Artifacts
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
	return st.scope.Begin(ctx)
}

// release ends the use of the workspace and of the place in the queue.
func (st *staging) release() {
	st.scratch.remove()
	st.place.Release()
	if st.leave != nil {
		st.leave()
	}
}

// scratch holds what is staged for one command only, and removed after it.
type scratch struct {
	place      workspace.Workspace
	agent      string
	plan       *plan
	editor     string // relative to the workspace
	home, temp string // directories of a privileged command, relative to the workspace
}

// name derives a name from the plan, so that the same conversation always has the same bytes.
func (s *scratch) name(of string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %+v", s.agent, *s.plan))
	return fmt.Sprintf("%s-%x", of, sum[:4])
}

func (s *scratch) remove() {
	if s.editor != "" {
		_ = s.place.Remove(s.editor) // a command may have removed it
	}
	for _, dir := range []string{s.home, s.temp} {
		if dir != "" {
			_ = s.place.Discard(dir) // the rest is removed with the workspace
		}
	}
}

// editorHead is the beginning of the program that $EDITOR runs. The text follows from the fourth
// line on.
const editorHead = "#!/bin/sh\nfor last; do :; done\nexec tail -n +4 \"$0\" > \"$last\"\n"

// stageEditor stages a program that writes the text of editor_text, for commands that start an
// editor. Each call has its own program, because the calls of one message run at the same time.
// It does not replace a file that an earlier command has left under the same name.
func (s *scratch) stageEditor() (string, error) {
	first := s.name("runs/editor")
	if s.temp != "" { // where no other command writes
		first = s.temp + "/editor"
	}
	for n := range maxEditors {
		name := first
		if n > 0 {
			name += fmt.Sprint("-", n+1)
		}
		err := s.place.Create(name, 0o700, []byte(editorHead+s.plan.editor))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("stage editor_text: %w", err)
		}
		s.editor = name
		return name, nil
	}
	return "", tools.ModelErrorf("editor_text cannot be staged: remove runs/editor-* first")
}

// checkHostFiles returns an error for directories of the host if patterns restrict what may be
// read, because no pattern was compared with the names in them.
func checkHostFiles(inputs []workspace.Input) error {
	for _, in := range inputs {
		host, _ := workspace.InputPaths(in)
		if host == "" {
			continue
		}
		if info, err := os.Stat(host); err == nil && info.IsDir() {
			return tools.ModelErrorf("input %q is a directory: where patterns say what may be read, name its files one by one", printable.Cut(in.From, 200))
		}
	}
	return nil
}
