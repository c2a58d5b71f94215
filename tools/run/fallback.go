package run

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/callargs"
)

// notFound is the exit code if a program does not exist.
const notFound = 127

// fallback runs a script by the interpreter of its extension if the program of
// its first line does not exist, and says so. Only the executor knows which
// programs it has.
type fallback struct {
	executor.Executor
	*staging
}

// Run implements [executor.Executor].
func (f fallback) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	result, err := f.Executor.Run(ctx, cmd)
	for err == nil && missing(result) && f.nextWay(&cmd) {
		cmd.Stdin = f.plan.input()
		result, err = f.Executor.Run(ctx, cmd)
	}
	return result, err
}

// Start implements [executor.Executor]. If the program does not exist, the
// process has already ended.
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
		if result, err := p.Wait(ctx); err != nil || !missing(result) || !f.nextWay(&cmd) {
			return p, nil //nolint:nilerr // who waits for p is told
		}
	}
}

func missing(r executor.Result) bool {
	return r.Reason == executor.ReasonSetup && r.ExitCode == notFound
}

// nextWay changes a command to the next way of running the script, if there is
// one.
func (st *staging) nextWay(cmd *executor.Command) bool {
	if len(st.otherwise) == 0 {
		return false
	}
	next := st.otherwise[0]
	st.otherwise = st.otherwise[1:]
	st.fellBack(st.program, next[0])
	cmd.Args, st.program = next, next[0]
	return true
}

func (st *staging) fellBack(program, next string) {
	st.warnings = append(st.warnings, fmt.Sprintf("script %q asks for %s, which was not found: %s is taken for it", callargs.Cut(st.plan.script, 200), callargs.Cut(program, 80), next))
}
