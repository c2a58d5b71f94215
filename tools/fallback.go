package tools

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/executor"
)

// notFound is the exit code of a program that is not there.
const notFound = 127

// fallback runs a script by the interpreter of its extension where the program
// of its first line is not there, and says so: what an executor has is only
// known to itself.
type fallback struct {
	executor.Executor
	j *running
}

// Run implements [executor.Executor].
func (f fallback) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	result, err := f.Executor.Run(ctx, cmd)
	for err == nil && missing(result) && f.j.nextWay(&cmd) {
		cmd.Stdin = f.j.stdin()
		result, err = f.Executor.Run(ctx, cmd)
	}
	return result, err
}

// Start implements [executor.Executor]. A program that is not there is a process
// that has already ended.
func (f fallback) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	for {
		p, err := f.Executor.Start(ctx, cmd, term)
		if err != nil {
			return nil, err
		}
		select {
		case <-p.Done():
		default:
			return p, nil
		}
		if result, err := p.Wait(ctx); err != nil || !missing(result) || !f.j.nextWay(&cmd) {
			return p, nil //nolint:nilerr // who waits for p is told
		}
	}
}

func missing(r executor.Result) bool {
	return r.Reason == executor.ReasonSetup && r.ExitCode == notFound
}

// nextWay changes a command to the next way to run the script, if there is one.
func (j *running) nextWay(cmd *executor.Command) bool {
	if len(j.otherwise) == 0 {
		return false
	}
	next := j.otherwise[0]
	j.otherwise = j.otherwise[1:]
	j.fellBack(j.program, next[0])
	cmd.Args, j.program = next, next[0]
	return true
}

func (j *running) fellBack(program, next string) {
	j.warnings = append(j.warnings, fmt.Sprintf("script %q asks for %s, which was not found: %s is taken for it", cut(j.req.script, 200), cut(program, 80), next))
}

// explain says in the place of stderr what to do where the program was not
// there: executors have words of their own for it.
func (j *running) explain(result *executor.Result) {
	if !missing(*result) {
		return
	}
	what, then := "command", "tell the user that it is missing"
	if j.req.script != "" {
		what, then = "script", `do its work by a command with a program that is here ("command -v python3 perl node" tells), or `+then
	}
	text := fmt.Sprintf("%q was not found on PATH, so the %s was not run: %s\n", cut(j.program, 80), what, then)
	result.Stderr = executor.Stream{Head: []byte(text)}
}
