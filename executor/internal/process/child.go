// Package process runs one child from its start to its end, for the executors of
// this machine. It moves input and output, keeps time, watches what no kernel
// limit bounds, and says in an executor.Result why the command ended. Executors
// decide how a child is started and killed.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Bounds of the grace, which is how long processes may go on after the program
// has exited, and after SIGTERM.
const (
	DefaultGrace = 250 * time.Millisecond
	MaxGrace     = 10 * time.Second
)

// CheckGrace returns an error if a grace is out of bounds.
func CheckGrace(d time.Duration) error {
	if d < 0 || d > MaxGrace {
		return fmt.Errorf("%w: grace %v is not between 0 and %v", executor.ErrOption, d, MaxGrace)
	}
	return nil
}

// Child is a started command as its executor knows it: a process of the host, or
// the first process of a sandbox.
type Child interface {
	// AwaitExit returns when the program has exited. Until Reap the numbers of
	// the program and of what it started are not given to other processes.
	AwaitExit()
	// Terminate asks the program's process group to end.
	Terminate()
	// KillAll ends the program and everything that it started.
	KillAll() error
	// Reap returns how the program ended. It is called after KillAll.
	Reap() (Ending, error)
	// PIDs returns the processes of the command that can be found now.
	PIDs() []int
	// BoundsMemory reports whether the kernel bounds the memory of all processes
	// together.
	BoundsMemory() bool
	// String names the child for errors.
	String() string
}

// Ending is how a program ended.
type Ending struct {
	Code    int
	Signal  string
	CPU     time.Duration // time of the program and the processes that it waited for
	Limited bool          // limits were in force
	OOM     bool          // the kernel killed a process because of its memory
	Policy  bool          // the sandbox's system call filter killed it
}

// StartFunc starts a child with the three streams. The calling goroutine stays
// locked to its thread until the program has exited. The error is a Refusal if
// the command is at fault, not the host.
type StartFunc func(ctx context.Context, cmd executor.Command, streams [3]*os.File, tty bool) (Child, error)

// Refusal is the error for a command that cannot be started as it is written.
type Refusal struct{ executor.Result }

func (r Refusal) Error() string { return r.Stderr.String() }

// NeverRan returns the result of a command whose program was not started.
func NeverRan(code int, why string) executor.Result {
	r := executor.Result{ExitCode: code, Reason: executor.ReasonSetup}
	if why != "" {
		r.Stderr.Head = []byte(why + "\n")
	}
	return r
}

// Run implements executor.Executor.Run for children of start.
func Run(ctx context.Context, start StartFunc, grace time.Duration, cmd executor.Command) (executor.Result, error) {
	p, err := begin(ctx, start, grace, cmd, nil)
	if err != nil {
		return NeverRan(-1, ""), err
	}
	<-p.done // it is closed soon after ctx ends
	return p.result, p.fault
}

// Start implements executor.Executor.Start for children of start.
func Start(ctx context.Context, start StartFunc, grace time.Duration, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	if cmd.Stdin != nil {
		return nil, fmt.Errorf("%w: an interactive process gets its input by Write", executor.ErrCommand)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := begin(context.WithoutCancel(ctx), start, grace, cmd, &term)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// begin starts the command and the goroutines that own it until p.done is closed.
func begin(ctx context.Context, start StartFunc, grace time.Duration, cmd executor.Command, term *executor.Terminal) (*process, error) {
	if err := check(cmd); err != nil {
		return nil, err
	}
	cmd.Limits = cmd.Limits.OrDefaults()
	if ctx.Err() != nil {
		return ended(executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}), nil
	}
	p := newProcess(cmd, grace, term)
	if err := p.launch(ctx, start, cmd); err != nil {
		var no Refusal
		if errors.As(err, &no) {
			return ended(no.Result), nil
		}
		if errors.Is(err, executor.ErrCommand) {
			return nil, err
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // ctx ended while a sandbox was built
			return ended(executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}), nil
		}
		return nil, fmt.Errorf("%w %q: %w", executor.ErrSetup, cmd.Args[0], err)
	}
	go p.supervise(ctx)
	return p, nil
}

// check returns an error if this machine cannot run the command as it is written.
func check(cmd executor.Command) error {
	if err := cmd.Check(); err != nil {
		return err
	}
	if err := cmd.CheckPipes(); err != nil {
		return err
	}
	dir := cmd.HostPath(cmd.Dir)
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: directory: %w", executor.ErrCommand, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%w: %q is not a directory", executor.ErrCommand, dir)
	}
	return nil
}
