package run

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/deps"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// ErrUnavailable is wrapped when the server cannot run the job.
var ErrUnavailable = errors.New("no sandbox on this server")

// Runner runs jobs. Its fields are set once. Close it when the last run has ended.
type Runner struct {
	Executor   executor.Executor
	Workspaces workspace.Places
	Blobs      blobs.Store
	// Expiry is how long blobs of runs are kept; a negative one is for ever.
	Expiry time.Duration
	// OutputBlobs is how many blobs a run may make; 0 is 64.
	OutputBlobs int
	// Dependencies, if set, has the packages that skills require. The executor must show
	// its directory.
	Dependencies *deps.Cache
	// Limits bound each run; the timeout is that of the job.
	Limits executor.Limits

	sets sets
}

//go:embed all:lib
var library embed.FS

// languages says how a program of each language is started.
var languages = map[string]struct {
	program, boot, ext string
	args               []string
}{
	"python":     {"python3", "boot.py", ".py", []string{"-I", "-B", "-u", "-X", "utf8"}},
	"javascript": {"node", "boot.js", ".js", nil},
	"bash":       {"bash", "", ".sh", []string{"-c", `exec bash "$0" >&5 5>&-`}},
}

// Languages returns the languages that this machine can run, in a fixed order.
func Languages() (list []string) {
	for _, name := range []string{"python", "javascript", "bash"} {
		if programOf(name) != "" {
			list = append(list, name)
		}
	}
	return list
}

// programOf finds a program on the PATH of commands, not on that of this process.
func programOf(language string) string {
	l, ok := languages[language]
	if !ok {
		return ""
	}
	for _, dir := range filepath.SplitList(workspace.SystemPath) {
		if file, err := exec.LookPath(filepath.Join(dir, l.program)); err == nil {
			return file
		}
	}
	return ""
}

// activeRun is a run that is under way.
type activeRun struct {
	*Runner
	Job
	ws        workspace.Workspace
	set       workspace.Workspace // with the skills; nil without any
	jobSkills []jobSkill          // what the helper gets
	hidden    *redact.Set
	python    []string // directories with packages that the skills require
	node      []string
	// nodeOptions let programs of Node that the run starts import them from ES modules.
	nodeOptions string
	logs        logs
	stdoutCopy  *stdoutCopy // what bash prints; nil for other languages
	channel     *channel
	result      Result
	last        time.Time // of the last word of the program about its progress
}

// Run runs a job to its end. A run that fails is a result. The error is that of ctx, which ends
// the run, wraps ErrUnavailable, or is for the host. When Run returns, only the blobs of the run
// are left, and its skills for later runs with the same ones.
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
	if programOf(job.Language) == "" {
		return a.result, fmt.Errorf("%w: language %q is not installed", ErrUnavailable, job.Language)
	}
	session := "run/" + job.Tenant + "/" + job.ID
	if a.ws, err = r.Workspaces.Of(ctx, session); err != nil {
		return a.result, fmt.Errorf("make workspace: %w", err)
	}
	defer func() {
		a.ws.Release()
		err = errors.Join(err, r.Workspaces.End(session))
	}()
	a.stage(StageStaging, "")
	if len(a.skills()) > 0 {
		if a.set, a.jobSkills, err = a.stageSkills(ctx); err != nil {
			return a.result, err
		}
		defer a.set.Release()
	}
	if err := a.packages(ctx); err != nil {
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

// say reports the progress of the program, at most ten times a second.
func (a *activeRun) say(text string) {
	if now := time.Now(); now.Sub(a.last) >= reportEvery {
		a.last = now
		a.stage(StageRunning, head(text, maxStage))
	}
}

// execute runs the program and collects the result.
func (a *activeRun) execute(ctx context.Context, cmd executor.Command) error {
	theirs, answers, calls, err := openPipes()
	if err != nil {
		return fmt.Errorf("open channel: %w", err)
	}
	closeTheirs := func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}
	defer func() {
		closeTheirs()
		_, _ = answers.Close(), calls.Close()
	}()
	if a.Language == "bash" {
		read, write, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("open output: %w", err)
		}
		theirs = append(theirs, write)
		a.stdoutCopy = &stdoutCopy{from: read, logs: &a.logs, most: cmp.Or(a.Limits.OutputTotal, executor.Limits{}.OrDefaults().OutputTotal)}
		defer func() { _ = read.Close() }()
	}
	cmd.Pipes = theirs
	a.stage(StageRunning, "")
	p, err := a.Executor.Start(ctx, cmd, executor.Terminal{Output: &a.logs})
	closeTheirs()
	switch {
	case ctx.Err() != nil && err != nil:
		return ctx.Err()
	case errors.Is(err, executor.ErrSetup):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case err != nil:
		return err
	}
	_ = p.CloseInput() // an empty input: nothing ever comes
	a.channel.ctx, a.channel.stop = ctx, p.Kill
	served := make(chan struct{})
	go func() {
		defer close(served)
		a.channel.serve(calls, answers)
	}()
	read := a.stdoutCopy.follow(p.Kill)
	stop := context.AfterFunc(ctx, p.Kill)
	ended, err := p.Wait(context.WithoutCancel(ctx))
	stop()
	_ = calls.SetReadDeadline(time.Now().Add(pipeWait)) // who got away may hold it
	_ = answers.SetWriteDeadline(time.Now().Add(pipeWait))
	<-served
	read()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	a.stage(StageCollecting, "")
	a.collect(ctx, ended)
	return ctx.Err()
}
