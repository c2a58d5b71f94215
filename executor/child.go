package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// child is a started command, as what started it knows it: a process of the
// host, or the first process of a sandbox.
type child interface {
	// awaitExit returns when the program has exited. Its number, and those of
	// what it started, cannot have passed on to others before reap.
	awaitExit()
	// terminate asks the program's process group to end.
	terminate()
	// killAll ends the program and everything that it started.
	killAll() error
	// reap returns how the program ended, after killAll.
	reap() (ending, error)
	// pids are the processes of the command that can be found now.
	pids() []int
	// boundsMemory reports whether the kernel bounds the memory of all of them
	// together.
	boundsMemory() bool
	// String names the child for errors.
	String() string
}

// ending is how a program ended.
type ending struct {
	code    int
	signal  string
	cpu     time.Duration // of the program and what it waited for
	limited bool          // Limits were in force
	oom     bool          // the kernel killed something for its memory
	policy  bool          // the sandbox's filter killed it
}

// spawner starts children. The calling goroutine is locked to its thread until
// the program has exited. The files are the program's streams. The error is a
// refusal when the command is at fault, not the host.
type spawner interface {
	spawn(ctx context.Context, cmd Command, streams [3]*os.File, tty bool) (child, error)
}

// refusal is the error of a command that cannot be started as it is.
type refusal struct{ Result }

func (r refusal) Error() string { return r.Stderr.String() }

// begin starts the command and the goroutines that own it until r.done.
func begin(ctx context.Context, by spawner, grace time.Duration, cmd Command, term *Terminal) (*running, error) {
	if err := cmd.check(); err != nil {
		return nil, err
	}
	cmd.Limits = cmd.Limits.OrDefaults()
	if ctx.Err() != nil {
		return ended(Result{ExitCode: -1, Reason: ReasonCancelled}), nil
	}
	r := newRunning(cmd, grace, term)
	if err := r.launch(ctx, by, cmd); err != nil {
		var no refusal
		if errors.As(err, &no) {
			return ended(no.Result), nil
		}
		if errors.Is(err, ErrCommand) {
			return nil, err
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // while a sandbox was built
			return ended(Result{ExitCode: -1, Reason: ReasonCancelled}), nil
		}
		return nil, fmt.Errorf("%w %q: %w", ErrSetup, cmd.Args[0], err)
	}
	go r.supervise(ctx)
	return r, nil
}

// run is Executor.Run by a spawner.
func run(ctx context.Context, by spawner, grace time.Duration, cmd Command) (Result, error) {
	r, err := begin(ctx, by, grace, cmd, nil)
	if err != nil {
		return neverRan(-1, ""), err
	}
	<-r.done // ends soon after ctx does
	return r.result, r.fault
}

// start is Executor.Start by a spawner.
func start(ctx context.Context, by spawner, grace time.Duration, cmd Command, term Terminal) (Process, error) {
	if cmd.Stdin != nil {
		return nil, fmt.Errorf("%w: an interactive process gets its input by Write", ErrCommand)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := begin(context.WithoutCancel(ctx), by, grace, cmd, &term)
	if err != nil {
		return nil, err
	}
	return interactive{r}, nil
}
