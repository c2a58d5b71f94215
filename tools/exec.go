package tools

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/shellcmd"
	"github.com/satchel-go/satchel/terminal"
)

// The size of a terminal: wide enough that programs break few lines.
const (
	terminalRows = 40
	terminalCols = 120
)

// Exec is skill_exec: a command that asks for input, or goes on after the call.
// It goes on when its skill is unloaded too, until it ends, is killed, or its
// session ends, and keeps the workspace as long.
func (r *Runner) Exec() Operation {
	return Operation{
		Name:        "skill_exec",
		Description: "Like skill_run, for a command that asks for input or keeps running. Answers status, session_id and new output, and the result once the status is exited.",
		Fields:      execFields(),
		Awaits:      true,
		Ordered:     true,
		Needs:       []string{"skill_load", "skill_poll_session"},
		Use:         r.use,
		Call: func(ctx context.Context, s *Scope, args Args) (string, error) {
			req, err := readRun(args)
			if err != nil {
				return "", err
			}
			return r.exec(ctx, s, req, args)
		},
	}
}

// execFields are those of skill_run, told in short, and those of a session.
func execFields() []Field {
	text := map[string]any{"type": "string"}
	flag := map[string]any{"type": "boolean"}
	object := func(properties map[string]any, required ...string) map[string]any {
		o := map[string]any{"type": "object", "properties": properties}
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	fields := runFields()
	for i := range fields {
		f := &fields[i]
		f.Description = "" // as in skill_run
		switch f.Name {
		case "timeout":
			f.Description = "seconds, default 3600"
		case "stdin":
			f.Description = "written first; the input stays open"
		case "inputs":
			f.Reads = f.Schema
			f.Schema = map[string]any{"type": "array", "items": object(map[string]any{"from": text, "to": text}, "from")}
		case "outputs":
			f.Reads = f.Schema
			f.Schema = object(map[string]any{"globs": map[string]any{"type": "array", "items": text}, "inline": flag, "save": flag})
		}
	}
	page := pageFields()
	page[0].Description, page[1].Description = "how long to wait for output, default 1000", "most lines to answer"
	return append(append(fields, Field{Name: "tty", Kind: Flag, Description: "in a terminal", Aliases: []string{"pty"}}), page...)
}

// exec starts a session and waits a moment for what it has to say.
func (r *Runner) exec(ctx context.Context, s *Scope, req *runRequest, args Args) (string, error) {
	if s.Sessions == nil {
		return "", tellf("there are no sessions here; use skill_run")
	}
	j := &running{Runner: r, scope: s, req: req, warnings: req.warnings}
	if err := j.choose(ctx); err != nil {
		return "", err
	}
	live, err := s.Sessions.Open(s.Key)
	if err != nil {
		return "", told(ctx, err)
	}
	cmd, err := j.prepare(ctx)
	if err != nil {
		live.Abandon()
		return "", j.told(ctx, err)
	}
	begun := j.begun()
	if err := j.start(ctx, live, cmd, args.Flag("tty")); err != nil {
		return "", err
	}
	p, err := r.page(ctx, live, args)
	if err != nil {
		return "", err
	}
	if p.Ended {
		begun = execAnswer{} // the result has it
	}
	return tellPage(live, p, begun)
}

// start starts the command of a session. After an error nothing of it is left.
func (j *running) start(ctx context.Context, live *terminal.Session, cmd executor.Command, tty bool) error {
	if err := j.checkTalk(cmd); err != nil {
		live.Abandon()
		j.release()
		return err
	}
	cmd.Stdin = nil
	if tty && lookup(cmd.Env, "TERM") == "" {
		cmd.Env = append(cmd.Env, "TERM=dumb") // no colours, no pages, no cursor
	}
	began := time.Now()
	err := live.Start(ctx, fallback{j.Executor, j}, terminal.Process{
		Command: cmd, TTY: tty, Rows: terminalRows, Cols: terminalCols, Secrets: j.secrets,
		Finish: func(ctx context.Context, result executor.Result, err error) []byte {
			defer j.release()
			return j.finish(ctx, result, err, began)
		},
	})
	switch {
	case err == nil:
	case errors.Is(err, executor.ErrNoTTY):
		err = tellf("there is no terminal on this host; call again without tty")
	default:
		err = j.told(ctx, err)
	}
	if err != nil {
		j.reportEnd(ctx, began, executor.Result{}, err)
		j.release()
		return err
	}
	_ = live.Write([]byte(j.req.stdin), false) // fails where the command has ended already
	return nil
}

// checkTalk refuses, where commands are restricted, a program that takes
// commands from its input: what is written there is never held against the
// lists. What an allowed program does with its input is its own business, as it
// is with the stdin of skill_run.
func (j *running) checkTalk(cmd executor.Command) error {
	if !j.restricted() || j.req.script != "" {
		return nil
	}
	name := filepath.Base(cmd.Args[0])
	if shellcmd.RunsOthers(append([]string{name}, cmd.Args[1:]...)) {
		return tellf("%s runs what it is told, which cannot be checked in a session; use skill_run", name)
	}
	return nil
}

// finish writes the result of a session whose command has ended. What it wrote
// is not in there: the pages have it.
func (j *running) finish(ctx context.Context, result executor.Result, fault error, began time.Time) []byte {
	j.reportEnd(ctx, began, result, fault)
	if fault != nil {
		j.warnings = append(j.warnings, fault.Error())
	}
	a, err := j.outcome(ctx, result)
	if err != nil {
		return nil // the session was ended; nobody will ask
	}
	j.explain(&result)
	if result.Reason == executor.ReasonSetup { // said by the executor, not by the command
		a.Stderr = new(j.stream(result.Stderr))
	}
	text, err := encode(a)
	if err != nil {
		return nil
	}
	return []byte(text)
}

// begun is what the answer to skill_exec tells beside the page where there is no
// result yet.
func (j *running) begun() execAnswer {
	a := execAnswer{Staged: slices.Clone(j.staged)}
	for _, w := range j.warnings {
		a.Warnings = append(a.Warnings, j.redact(w))
	}
	return a
}
