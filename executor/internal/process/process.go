package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// process is a command from its start to its end. Three kinds of goroutines work on it: runChild
// starts the child and waits for it, copiers move its input and output, and supervise ends it and
// sets the result. All of them end soon after done is closed.
type process struct {
	limits executor.Limits
	grace  time.Duration
	child  Child
	input  io.Reader
	sink   io.Writer

	workspace string // its size is watched

	interactive bool // input stays open for Write
	term        executor.Terminal
	tty         *tty // nil: the command has pipes

	stdin          *os.File     // write end
	stdout, stderr *os.File     // read ends; stderr is nil if stdout carries both
	outputs        [2]*capture  // of stdout and stderr
	written        atomic.Int64 // bytes written to both streams
	copiers        sync.WaitGroup

	startedAt, exitedAt time.Time
	stop                chan executor.Reason // holds the first reason to end the command early
	exited              chan struct{}        // closed when the program has exited; it is not reaped yet
	reap                chan struct{}        // closed when the program may be reaped
	reaped              chan struct{}        // closed when ending and waitErr are set
	drained             chan struct{}        // closed when the output has ended
	done                chan struct{}        // closed when result and fault are set
	ending              Ending
	waitErr             error
	result              executor.Result
	fault               error
}

var _ executor.Process = (*process)(nil)

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
		return endedProcess(executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}), nil
	}
	p := newProcess(cmd, grace, term)
	if err := p.launch(ctx, start, cmd); err != nil {
		if refusal, ok := errors.AsType[Refusal](err); ok {
			return endedProcess(refusal.Result), nil
		}
		if errors.Is(err, executor.ErrCommand) {
			return nil, err
		}
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) { // ctx ended while a sandbox was built
			return endedProcess(executor.Result{ExitCode: -1, Reason: executor.ReasonCancelled}), nil
		}
		return nil, fmt.Errorf("%w %q: %w", executor.ErrSetup, cmd.Args[0], err)
	}
	go p.supervise(ctx)
	return p, nil
}

// check returns an error if the command is invalid on this machine.
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

func newProcess(cmd executor.Command, grace time.Duration, term *executor.Terminal) *process {
	p := &process{
		limits: cmd.Limits, grace: grace, input: cmd.Stdin, workspace: cmd.Workspace,
		outputs: [2]*capture{newCapture(cmd.Limits.Output), newCapture(cmd.Limits.Output)},
		stop:    make(chan executor.Reason, 1), exited: make(chan struct{}), reap: make(chan struct{}),
		reaped: make(chan struct{}), drained: make(chan struct{}), done: make(chan struct{}),
	}
	if term != nil {
		p.interactive, p.term, p.sink = true, *term, term.Output
	}
	return p
}

// endedProcess returns a process for a command that never ran.
func endedProcess(result executor.Result) *process {
	p := &process{done: make(chan struct{}), result: result}
	close(p.done)
	return p
}

// launch starts the child and the goroutines that copy its streams.
func (p *process) launch(ctx context.Context, start StartFunc, cmd executor.Command) error {
	ends, err := p.streams()
	if err != nil {
		return err
	}
	started := make(chan error)
	go p.runChild(started, func() (Child, error) {
		return start(ctx, cmd, ends, p.tty != nil)
	})
	err = <-started
	CloseAll(ends[:])
	if err != nil {
		p.closePipes()
		return err
	}
	p.copyStreams()
	return nil
}

// runChild starts the child, waits for it and reaps it on one operating system thread. Two things
// bind a child to the thread that started it: ptrace obeys no other thread, and Pdeathsig kills the
// child when that thread ends.
func (p *process) runChild(started chan<- error, start func() (Child, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	p.startedAt = time.Now()
	if p.child, err = start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.child.AwaitExit()
	p.exitedAt = time.Now()
	close(p.exited)
	<-p.reap
	p.ending, p.waitErr = p.child.Reap()
	close(p.reaped)
}

// Write implements executor.Process.
func (p *process) Write(b []byte) (int, error) {
	if p.stdin == nil {
		return 0, fmt.Errorf("write input: %w", io.ErrClosedPipe)
	}
	var to io.Writer = p.stdin
	if p.tty != nil {
		to = p.tty
	}
	n, err := to.Write(b)
	if err != nil {
		return n, fmt.Errorf("write input: %w: %w", io.ErrClosedPipe, err)
	}
	return n, nil
}

// CloseInput implements executor.Process.
func (p *process) CloseInput() error {
	if p.stdin == nil {
		return nil
	}
	end := p.stdin.Close
	if p.tty != nil {
		end = p.tty.end
	}
	if err := end(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}

// Resize implements executor.Process.
func (p *process) Resize(rows, cols uint16) error {
	if p.tty == nil {
		return fmt.Errorf("resize: %w", errors.ErrUnsupported)
	}
	if err := resizeTerminal(p.tty.File, rows, cols); err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err) // the process has ended
	}
	return nil
}

// Kill implements executor.Process.
func (p *process) Kill() { p.endWith(executor.ReasonCancelled) }

// Done implements executor.Process.
func (p *process) Done() <-chan struct{} { return p.done }

// Wait implements executor.Process.
func (p *process) Wait(ctx context.Context) (executor.Result, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // an end counts before the end of ctx
		default:
			return executor.Result{}, ctx.Err()
		}
	}
	return p.result, p.fault
}
