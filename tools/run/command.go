package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/callargs"
	"github.com/satchel-go/satchel/internal/shellcmd/lookpath"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// maxArgument is the maximum length, in bytes, that Linux accepts for an
// argument, or for a variable with its name.
const maxArgument = 128<<10 - 1

// build builds the command of the request.
func (st *staging) build(ctx context.Context) (executor.Command, error) {
	cwd, err := st.place.Dir(st.dir, st.plan.cwd)
	if err != nil {
		return executor.Command{}, err
	}
	env, err := st.environment(ctx)
	if err != nil {
		return executor.Command{}, err
	}
	args, err := st.arguments(env)
	if err == nil {
		err = st.plan.checkLengths(args, env, st.restricted())
	}
	if err != nil {
		return executor.Command{}, err
	}
	limits := st.Limits
	limits.Timeout = st.timeout
	return executor.Command{
		Args: args, Env: env, Limits: limits, Stdin: st.plan.input(),
		Workspace: st.place.Path(), Dir: cwd,
		Skills: path.Dir(st.dir), Writable: []string{workspace.VenvDir(st.dir)},
	}, nil
}

// within limits the disk space of a command to the room that there is. In a full
// workspace only that room bounds it, because the command may be the one that
// removes something.
func (st *staging) within(limits *executor.Limits, room workspace.Room) {
	switch {
	case room.Full != nil:
		limits.Disk = room.Limit
		st.warnings = append(st.warnings, "before this command: "+room.Full.Error())
	case limits.Disk != executor.Unlimited:
		limits.Disk = min(limits.OrDefaults().Disk, room.Limit)
	}
}

// seen returns the path at which the command finds a path of the workspace.
func (st *staging) seen(rel string) string {
	base := st.Executor.Capabilities().WorkspaceAt
	if base == "" {
		base = st.place.Path()
	}
	return filepath.Join(base, filepath.FromSlash(rel))
}

// arguments returns the argument list of the request's command.
func (st *staging) arguments(env []string) ([]string, error) {
	args, err := st.chosen(lookup(env, "PATH"))
	if err != nil {
		return nil, err
	}
	st.program = args[0]
	return args, nil
}

func (st *staging) chosen(search string) ([]string, error) {
	if st.plan.script != "" {
		return st.scriptArguments(search)
	}
	if !st.restricted() {
		return []string{"bash", "-c", st.plan.command}, nil
	}
	simple, err := st.Policy.check(st.plan.command, search)
	if err != nil {
		return nil, tools.ModelErrorf("%v", err)
	}
	return append([]string{simple.Path}, simple.Args[1:]...), nil
}

// scriptArguments lets the executor find out which of the interpreters exists,
// unless the lists must know it.
func (st *staging) scriptArguments(search string) ([]string, error) {
	ways, err := st.script()
	if err != nil {
		return nil, err
	}
	if !st.restricted() {
		st.otherwise = ways[1:]
		return ways[0], nil
	}
	for i, way := range ways {
		simple, err := st.Policy.check(shellQuote(way[0]), search)
		if err == nil {
			return append([]string{simple.Path}, way[1:]...), nil
		}
		if i == len(ways)-1 || !errors.Is(err, lookpath.ErrNotFound) {
			return nil, tools.ModelErrorf("script %q is run by %s: %v", callargs.Cut(st.plan.script, 200), callargs.Cut(way[0], 80), err)
		}
		st.fellBack(way[0], ways[i+1][0])
	}
	return nil, nil // at least one of the ways exists
}

func (st *staging) restricted() bool { return st.Policy.Restricts() }

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

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
