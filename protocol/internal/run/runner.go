package run

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// ErrUnavailable is wrapped if the server cannot run the job.
var ErrUnavailable = errors.New("no sandbox on this server")

// Runner runs jobs. Its fields do not change after the first run. The caller closes it after the
// last one.
type Runner struct {
	Executor   executor.Executor
	Workspaces workspace.Places
	Blobs      blobs.Store
	// Expiry is how long blobs of runs are kept; a negative value means for ever.
	Expiry time.Duration
	// OutputBlobs is how many blobs a run may make; 0 is 64.
	OutputBlobs int
	// Dependencies, if set, has the packages that skills require. The executor must show
	// its directory.
	Dependencies *deps.Cache
	// Limits bound each run; the timeout is that of the job.
	Limits executor.Limits
	// Languages are those that runs can have; see [Languages].
	Languages []string

	sets   sets
	spares spares
}

//go:embed all:lib
var library embed.FS

// languages has the command for programs of each language.
var languages = map[string]struct {
	program, boot, ext string
	args               []string
}{
	"python":     {"python3", "boot.py", ".py", []string{"-I", "-B", "-u", "-X", "utf8"}},
	"javascript": {"node", "boot.js", ".js", nil},
	"bash":       {"bash", "", ".sh", []string{"-c", `exec bash "$0" >&5 5>&-`}},
}

// Languages returns the languages that runs can have, in a fixed order. They are those of this
// machine, or of the one on which the executor finds its programs.
func Languages(ctx context.Context, on executor.Executor) (list []string) {
	for _, name := range []string{"python", "javascript", "bash"} {
		if isInstalled(ctx, on, languages[name].program) {
			list = append(list, name)
		}
	}
	return list
}

// isInstalled reports whether a program is on the PATH of commands, which is not that of this
// process.
func isInstalled(ctx context.Context, on executor.Executor, program string) bool {
	if finder, ok := on.(executor.Finder); ok {
		_, err := finder.Find(ctx, program, workspace.SystemPath)
		return err == nil
	}
	_, err := lookpath.Find(program, workspace.SystemPath)
	return err == nil
}

// activeRun is the state of one run.
type activeRun struct {
	*Runner
	Job
	ws        workspace.Workspace
	set       workspace.Workspace // with the skills that runs share; nil if there are none
	jobSkills []jobSkill          // the skills, as the helper sees them
	hidden    *redact.Set
	python    []string // directories of Python packages that the skills require
	node      []string // directories of Node packages
	// nodeOptions are for Node: ES modules then find the packages too.
	nodeOptions string
	logs        logs
	stdoutCopy  *stdoutCopy // what a bash script prints; nil for other languages
	channel     *channel
	result      Result
	lastReport  time.Time // when the program last reported progress
}

// Run runs a job to its end. When ctx ends, the run is killed. A run that fails is a result, not an
// error. The error is that of ctx, wraps ErrUnavailable, or is for the host alone. Run removes the
// workspace of the run; its blobs stay, and its staged skills stay for later runs.
func (r *Runner) Run(ctx context.Context, job Job) (_ Result, err error) {
	if job.Grant.Close != nil {
		defer job.Grant.Close()
	}
	if job.Skill != nil {
		job.Language, job.Function = job.Skill.Runtime.Language, job.Skill.Runtime.Export
	}
	if job.Function == "" {
		job.Function = "main"
	}
	a := &activeRun{Runner: r, Job: job, jobSkills: []jobSkill{}, hidden: redact.NewSet(job.Grant.Hidden)}
	a.logs.stream.Set = a.hidden
	a.result = Result{Status: Failed, RunID: job.ID, OutputBlobs: []string{}, Reason: executor.ReasonSetup, Warnings: job.Grant.Warnings}
	if failure := a.checkInputs(); failure != nil {
		a.fail(failure)
		return a.result, nil
	}
	if !slices.Contains(r.Languages, job.Language) {
		return a.result, fmt.Errorf("%w: language %q is not installed", ErrUnavailable, job.Language)
	}
	w, err := r.workspaceOf(ctx, job)
	if err != nil {
		return a.result, fmt.Errorf("make workspace: %w", err)
	}
	a.ws = w.ws
	defer func() { err = errors.Join(err, r.endWorkspace(w)) }()
	a.stage(StageStaging, "")
	if len(a.skills()) > 0 {
		err := a.stageSkills(ctx)
		if a.set != nil {
			defer a.set.Release()
		}
		if err != nil {
			return a.result, err
		}
	}
	if err := a.addPackages(ctx); err != nil {
		return a.result, err
	}
	command, err := a.prepare(ctx)
	if err != nil {
		return a.result, err
	}
	return a.result, a.execute(ctx, command)
}

// redact removes hidden values from text.
func (a *activeRun) redact(text string) string { return a.hidden.Text(text, 0) }

// stage reports a stage of the run.
func (a *activeRun) stage(stage, message string) {
	if a.Progress != nil {
		a.Progress(stage, sentence(head(a.redact(message), maxReport)))
	}
}

// reportProgress passes a progress text of the program on. It drops texts that follow the last one
// within reportEvery.
func (a *activeRun) reportProgress(text string) {
	if now := time.Now(); now.Sub(a.lastReport) >= reportEvery {
		a.lastReport = now
		a.stage(StageRunning, head(text, maxStage))
	}
}

// start starts the program with an empty input.
func (a *activeRun) start(ctx context.Context, cmd executor.Command) (executor.Process, error) {
	p, err := a.Executor.Start(ctx, cmd, executor.Terminal{Output: &a.logs})
	switch {
	case err == nil:
		_ = p.CloseInput()
		return p, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, executor.ErrSetup), errors.Is(err, executor.ErrLost):
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil, err
}

// execute runs the program and collects the result.
func (a *activeRun) execute(ctx context.Context, cmd executor.Command) error {
	childEnds, answers, calls, err := openPipes()
	if err != nil {
		return fmt.Errorf("open channel: %w", err)
	}
	closeChildEnds := func() {
		for _, f := range childEnds {
			_ = f.Close()
		}
	}
	defer func() {
		closeChildEnds()
		_, _ = answers.Close(), calls.Close()
	}()
	if a.Language == "bash" {
		read, write, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("open output: %w", err)
		}
		childEnds = append(childEnds, write)
		a.stdoutCopy = &stdoutCopy{from: read, logs: &a.logs, most: cmp.Or(a.Limits.OutputTotal, executor.Limits{}.OrDefaults().OutputTotal)}
		defer func() { _ = read.Close() }()
	}
	cmd.Pipes = childEnds
	a.stage(StageRunning, "")
	p, err := a.start(ctx, cmd)
	closeChildEnds()
	if err != nil {
		return err
	}
	a.channel.ctx, a.channel.stop = ctx, p.Kill
	served := make(chan struct{})
	go func() {
		defer close(served)
		a.channel.serve(calls, answers)
	}()
	waitStdout := a.stdoutCopy.follow(p.Kill)
	stop := context.AfterFunc(ctx, p.Kill)
	ended, err := p.Wait(context.WithoutCancel(ctx))
	stop()
	_ = calls.SetReadDeadline(time.Now().Add(pipeWait)) // a process that was not killed may hold the pipes
	_ = answers.SetWriteDeadline(time.Now().Add(pipeWait))
	<-served
	waitStdout()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, executor.ErrLost) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	a.stage(StageCollecting, "")
	a.collect(ctx, ended)
	return ctx.Err()
}
