package run

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/redact"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/shelf"
	"github.com/satchel-go/satchel/workspace"
)

// ErrUnavailable is wrapped when the server cannot run anything, or not this.
var ErrUnavailable = errors.New("no sandbox on this server")

// Runner runs jobs. Its fields are set once.
type Runner struct {
	Executor   executor.Executor
	Workspaces workspace.Places
	Blobs      blobs.Store
	// Expiry is how long blobs of runs are kept; 0 is blobs.DefaultExpiry.
	Expiry time.Duration
	// Limits bound each run; the timeout is that of the job.
	Limits executor.Limits
}

//go:embed all:lib
var library embed.FS

// languages are how each is started.
var languages = map[string]struct {
	program, boot, ext string
	args               []string
}{
	"python":     {"python3", "boot.py", ".py", []string{"-I", "-B", "-u", "-X", "utf8"}},
	"javascript": {"node", "boot.js", ".js", nil},
	"bash":       {"bash", "", ".sh", nil},
}

// Languages are those that this machine has a program for, in a fixed order.
func Languages() (list []string) {
	for _, name := range []string{"python", "javascript", "bash"} {
		if programOf(name) != "" {
			list = append(list, name)
		}
	}
	return list
}

// programOf looks on the PATH of commands, not on that of this process.
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

// active is a run that is under way.
type active struct {
	*Runner
	Job
	ws      workspace.Workspace
	hidden  *redact.Set
	logs    logs
	channel *channel
	result  Result
	last    time.Time // of the last word of the program about its progress
}

// Run runs a job to its end. A run that fails is a result; the error is that of
// ctx, which ends the run, wraps ErrUnavailable, or is the host's.
// Nothing of the run is left when Run returns but its blobs.
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
	a := &active{Runner: r, Job: job, hidden: redact.NewSet(job.Grant.Hidden)}
	a.logs.stream.Set = a.hidden
	a.result = Result{Status: Failed, RunID: job.ID, OutputBlobs: []string{}, Reason: executor.ReasonSetup, Warnings: job.Grant.Warnings}
	if failure := job.checkInputs(); failure != nil {
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
	command, err := a.prepare(ctx)
	if err != nil {
		return a.result, err
	}
	return a.result, a.execute(ctx, command)
}

// redact takes out what nobody may see.
func (a *active) redact(text string) string { return a.hidden.Text(text, 0) }

// stage tells how far the run is.
func (a *active) stage(stage, message string) {
	if a.Progress != nil {
		a.Progress(stage, sentence(head(a.redact(message), 500)))
	}
}

// say tells what the program says of its progress, at most ten times a second.
func (a *active) say(text string) {
	if now := time.Now(); now.Sub(a.last) >= 100*time.Millisecond {
		a.last = now
		a.stage(StageRunning, head(text, 4096))
	}
}

// shelfFiles gives the files of one skill to the workspace.
type shelfFiles struct{ *shelf.Skill }

func (f shelfFiles) Files(context.Context, string, int) (names []string, more bool, err error) {
	for _, file := range f.Skill.Files {
		names = append(names, file.Path)
	}
	return names, false, nil
}

func (f shelfFiles) OpenFile(ctx context.Context, _, name string) (fs.File, error) {
	text, err := f.ReadFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return &memoryFile{bytes.NewReader(text), memoryInfo{path.Base(name), int64(len(text))}}, nil
}

func (f shelfFiles) Fingerprint(context.Context, string) (string, error) { return f.Digest, nil }

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *memoryFile) Close() error               { return nil }

type memoryInfo struct {
	name string
	size int64
}

func (i memoryInfo) Name() string       { return i.name }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return 0o644 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }

// jobSkill is a skill as the helper is told of it.
type jobSkill struct {
	ID         string `json:"id"`
	Module     string `json:"module"`
	Dir        string `json:"dir"` // below SKILLS_DIR
	Language   string `json:"language,omitempty"`
	Entrypoint string `json:"entrypoint,omitempty"`
}

// prepare puts everything into the workspace, which is new: nothing hostile is in
// it yet.
func (a *active) prepare(ctx context.Context) (executor.Command, error) {
	told := []jobSkill{}
	for _, k := range a.skills() {
		dir, _, err := a.ws.Stage(ctx, core.Skill{Name: k.ID(), Description: k.Description}, k.Digest, shelfFiles{k})
		if err != nil {
			return executor.Command{}, fmt.Errorf("stage skill %q: %w", k.ID(), err)
		}
		told = append(told, jobSkill{k.ID(), Module(k.ID()), path.Base(dir), k.Runtime.Language, k.Runtime.Entrypoint})
	}
	root, err := os.OpenRoot(a.ws.Path())
	if err != nil {
		return executor.Command{}, fmt.Errorf("open workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	language := languages[a.Language]
	code := "code" + language.ext
	args := a.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	for _, dir := range []string{"work", "out", "runs/home", "runs/tmp", "blobs"} {
		err = errors.Join(err, root.MkdirAll(dir, 0o755))
	}
	err = errors.Join(err,
		copyLibrary(root),
		root.WriteFile("runs/args.json", args, 0o644),
		root.WriteFile("runs/"+code, []byte(a.Code), 0o644),
		a.copyBlobs(ctx, root),
	)
	if err != nil {
		return executor.Command{}, fmt.Errorf("prepare run: %w", err)
	}
	job := map[string]any{"language": a.Language, "code": code, "skill": "", "export": a.Function, "args": args, "skills": told}
	if a.Skill != nil {
		job["skill"] = Module(a.Skill.ID())
	}
	a.channel = &channel{
		tenant: a.Tenant, store: a.Blobs, expiry: a.Expiry, ws: a.ws, job: job, told: a.say, hidden: a.hidden, inputs: a.Inputs,
	}
	if a.channel.expiry == 0 {
		a.channel.expiry = blobs.DefaultExpiry
	}
	return a.command(len(told) > 0)
}

func copyLibrary(root *os.Root) error {
	return fs.WalkDir(library, "lib", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return root.MkdirAll("runs/"+name, 0o755)
		}
		text, err := library.ReadFile(name)
		if err != nil {
			return err
		}
		return root.WriteFile("runs/"+name, text, 0o644)
	})
}

// copyBlobs makes a file of each input, named by its id.
func (a *active) copyBlobs(ctx context.Context, root *os.Root) error {
	for _, info := range a.Inputs {
		r, _, err := a.Blobs.Open(ctx, a.Tenant, info.ID, 0, -1)
		if err != nil {
			return err
		}
		f, err := root.Create("blobs/" + info.ID)
		if err == nil {
			_, err = io.Copy(f, r)
			err = errors.Join(err, f.Close())
		}
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (a *active) command(skills bool) (executor.Command, error) {
	language := languages[a.Language]
	base := a.Executor.Capabilities().WorkspaceAt
	if base == "" {
		base = a.ws.Path()
	}
	env := append(workspace.Env(base, "", ""), "BLOBS_DIR="+base+"/blobs",
		"ARGS_FILE="+base+"/runs/args.json", "RESULT_FILE="+base+"/runs/result.json")
	args := append([]string{language.program}, language.args...)
	if language.boot != "" {
		args = append(args, base+"/runs/lib/"+language.boot)
	} else {
		args = append(args, base+"/runs/code"+language.ext)
	}
	limits := a.Limits
	limits.Timeout = a.Timeout
	cmd := executor.Command{
		Args: args, Env: append(env, a.Grant.Env...), Workspace: a.ws.Path(), Dir: "work", Limits: limits,
		Secrets: a.Grant.Secrets, Listen: a.Grant.Listen,
	}
	if skills {
		cmd.Skills = "skills"
	}
	return cmd, nil
}

// pipeWait is how long the channel is read on when the program has ended.
const pipeWait = 2 * time.Second

// execute runs the program and makes the result.
func (a *active) execute(ctx context.Context, cmd executor.Command) error {
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
	a.channel.ctx, a.channel.stop = ctx, p.Kill
	served := make(chan struct{})
	go func() {
		defer close(served)
		a.channel.serve(calls, answers)
	}()
	stop := context.AfterFunc(ctx, p.Kill)
	ended, err := p.Wait(context.WithoutCancel(ctx))
	stop()
	_ = calls.SetReadDeadline(time.Now().Add(pipeWait)) // who got away may hold it
	_ = answers.SetWriteDeadline(time.Now().Add(pipeWait))
	<-served
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

// collect makes the result of what the program has left.
func (a *active) collect(ctx context.Context, ended executor.Result) {
	c := a.channel
	a.result.Reason = ended.Reason
	if c.broken != nil && ended.Reason == executor.ReasonCancelled {
		a.result.Reason = executor.ReasonPolicy
	}
	result, failure := a.outcome(ended)
	if failure == nil {
		failure = a.setOutput(ctx, result)
	}
	for _, info := range c.made {
		a.result.OutputBlobs = append(a.result.OutputBlobs, info.ID)
	}
	a.collectFiles(ctx)
	if failure != nil {
		a.fail(failure)
	} else {
		a.result.Status = Completed
		a.result.Summary = describe(a.Function, result)
	}
	if c.summary != "" {
		a.result.Summary = sentence(a.redact(c.summary))
	}
	a.setLogs(ctx)
}

// fail makes the result one of a failed run.
func (a *active) fail(f *Failure) {
	told := &Failure{sentence(head(a.redact(f.Type), 400)), tail(strings.ToValidUTF8(a.redact(f.Message), "\uFFFD"), maxMessage)}
	a.result.Status, a.result.Error = Failed, told
	a.result.Output = nil
	a.result.Summary = told.summary()
}

// outcome is the result of the program, or why there is none.
func (a *active) outcome(ended executor.Result) (json.RawMessage, *Failure) {
	c := a.channel
	switch {
	case c.broken != nil:
		return nil, c.broken
	case c.done && c.failure != nil && ended.Reason == executor.ReasonExit:
		return nil, c.failure
	}
	if failure := failureOf(ended); failure != nil {
		return nil, failure
	}
	result := c.result
	if !c.done {
		var failure *Failure
		if result, failure = a.resultFile(); failure != nil {
			return nil, failure
		}
	}
	switch {
	case ended.Reason != executor.ReasonExit:
		return nil, &Failure{TypeNoResult, fmt.Sprintf("the program ended: %s", ended.Reason)}
	case ended.ExitCode != 0:
		return nil, &Failure{TypeNoResult, fmt.Sprintf("the program ended with exit code %d", ended.ExitCode)}
	case result == nil:
		return nil, &Failure{TypeNoResult, "the program ended with exit code 0 and gave no result"}
	}
	return result, nil
}

// resultFile reads what the program has written to RESULT_FILE, nil if nothing.
func (a *active) resultFile() (json.RawMessage, *Failure) {
	f, err := outputs.Open(a.ws, "runs/result.json")
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	switch {
	case err != nil:
		return nil, nil
	case len(text) > maxResult:
		return nil, &Failure{TypeOutputTooLarge, fmt.Sprintf("RESULT_FILE has more than %d bytes", maxResult)}
	case !json.Valid(text):
		return nil, &Failure{TypeNotJSON, "RESULT_FILE is not JSON"}
	}
	return text, nil
}

// setOutput puts a small result into the answer, and makes a blob of a large one.
func (a *active) setOutput(ctx context.Context, result json.RawMessage) *Failure {
	var b bytes.Buffer
	if json.Compact(&b, result) != nil {
		return &Failure{TypeNotJSON, "the result is not JSON"}
	}
	text := a.redact(b.String())
	switch {
	case len(text) > maxResult:
		return &Failure{TypeOutputTooLarge, fmt.Sprintf("the result has %d bytes of JSON: at most %d", len(text), maxResult)}
	case len(text) <= maxOutput:
		a.result.Output = json.RawMessage(text)
		return nil
	}
	info, err := a.channel.keep(ctx, "application/json", strings.NewReader(text))
	if err != nil {
		return &Failure{TypeOutputTooLarge, "the result is too large for the answer, and cannot be stored: " + err.Error()}
	}
	a.result.Output, _ = json.Marshal(map[string]any{"output_blob": info.ID, "size_bytes": info.Size})
	return nil
}

// The bounds of the files of out/ that become blobs.
const (
	maxOutFiles = 20
	maxOutBytes = 64 << 20
)

// collectFiles makes blobs of the files in out/.
func (a *active) collectFiles(ctx context.Context) {
	found, err := outputs.Collect(ctx, a.ws, outputs.Spec{Globs: []string{"out/**"}, MaxFiles: outputs.CeilingMaxFiles})
	if err != nil {
		a.warn("out/ cannot be collected")
		return
	}
	for _, w := range found.Warnings {
		a.warn(w.String())
	}
	total, left := int64(0), 0
	for i, f := range found.Files {
		if i >= maxOutFiles || total+f.Size > maxOutBytes {
			left++
			continue
		}
		info, err := a.channel.createFile(ctx, f.Name, f.MIME)
		if err != nil {
			a.warn(fmt.Sprintf("%.200q: %v", f.Name, err))
			continue
		}
		total += info.Size
		a.result.OutputBlobs = append(a.result.OutputBlobs, info.ID)
	}
	if left > 0 {
		a.warn(fmt.Sprintf("%d files of out/ are left out: at most %d and %d bytes become blobs", left, maxOutFiles, maxOutBytes))
	}
}

func (a *active) warn(text string) {
	a.result.Warnings = append(a.result.Warnings, sentence(head(a.redact(text), 1000)))
}

// setLogs shows what was printed.
func (a *active) setLogs(ctx context.Context) {
	a.logs.end()
	text := a.logs.String()
	cut := false
	if a.result.LogsPreview, cut = preview(text); !cut {
		return
	}
	if info, err := a.channel.keep(ctx, "text/plain", strings.NewReader(text)); err == nil {
		a.result.LogsBlob = info.ID
	}
}
