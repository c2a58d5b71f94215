package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// killWait is how long a killed process may take to be gone.
const killWait = 2 * time.Second

// drainWait is how long output is read on after everything was killed: the
// pipes are at their end then, unless a process got away. What they still hold
// may only wait for a busy host: that gets drainTries times as long.
const (
	drainWait  = 100 * time.Millisecond
	drainTries = 5
)

// running is a command from its start to its end. Three kinds of goroutines
// work on it, and all have ended soon after done is closed: keep holds the
// child, copiers move its input and output, supervise decides on its end.
type running struct {
	limits Limits
	grace  time.Duration
	child  child
	input  io.Reader
	sink   io.Writer

	workspace string // whose size is watched, or ""

	interactive bool // input stays open for Write
	term        Terminal
	tty         *tty // nil: it has pipes

	stdin          *os.File // write end
	stdout, stderr *os.File // read ends; stderr is nil when stdout is for both
	out, err       *capture
	written        atomic.Int64 // bytes of both streams
	copiers        sync.WaitGroup

	began, exit time.Time
	stop        chan Reason   // holds the first reason to end the command early
	exited      chan struct{} // closed: the program has exited and is not reaped
	reap        chan struct{} // closed: it may be reaped
	reaped      chan struct{} // closed: end and waitErr are set
	drained     chan struct{} // closed: the output is at its end
	done        chan struct{} // closed: result and fault are set
	end         ending
	waitErr     error
	result      Result
	fault       error
}

func newRunning(cmd Command, grace time.Duration, term *Terminal) *running {
	r := &running{
		limits: cmd.Limits, grace: grace, input: cmd.Stdin, workspace: cmd.Workspace,
		out: newCapture(cmd.Limits.Output), err: newCapture(cmd.Limits.Output),
		stop: make(chan Reason, 1), exited: make(chan struct{}), reap: make(chan struct{}),
		reaped: make(chan struct{}), drained: make(chan struct{}), done: make(chan struct{}),
	}
	if term != nil {
		r.interactive, r.term, r.sink = true, *term, term.Output
	}
	return r
}

// ended is a command that never ran.
func ended(result Result) *running {
	r := &running{done: make(chan struct{}), result: result}
	close(r.done)
	return r
}

// launch starts the child, with its pipes, and what reads from it.
func (r *running) launch(ctx context.Context, by spawner, cmd Command) error {
	ends, err := r.streams()
	if err != nil {
		return err
	}
	started := make(chan error)
	go r.keep(started, func() (child, error) {
		return by.spawn(ctx, cmd, ends, r.tty != nil)
	})
	err = <-started
	closeAll(ends[:])
	if err != nil {
		r.closePipes()
		return err
	}
	r.copiers.Add(1)
	go r.copyOutput(r.output(), r.out)
	if r.stderr != nil {
		r.copiers.Add(1)
		go r.copyOutput(r.stderr, r.err)
	}
	go func() {
		r.copiers.Wait()
		close(r.drained)
	}()
	switch {
	case r.input != nil:
		go r.copyInput()
	case !r.interactive:
		_ = r.stdin.Close()
	}
	return nil
}

// streams opens the streams and returns the child's ends of them.
func (r *running) streams() (ends [3]*os.File, err error) {
	if r.term.TTY {
		return r.terminal(r.term.Rows, r.term.Cols)
	}
	return r.pipes()
}

// output is where what the command writes is read.
func (r *running) output() io.Reader {
	if r.tty != nil {
		return r.tty
	}
	return r.stdout
}

// pipes opens the pipes and returns the child's ends of them. An interactive
// process has one for both outputs, as on a terminal: only that keeps a prompt
// on stderr in its place.
func (r *running) pipes() (ends [3]*os.File, err error) {
	ours := []**os.File{&r.stdin, &r.stdout, &r.stderr}
	if r.interactive {
		ours = ours[:2]
	}
	for i, our := range ours {
		read, write, err := os.Pipe()
		if err != nil {
			r.closePipes()
			closeAll(ends[:i])
			return ends, fmt.Errorf("open pipe: %w", err)
		}
		if i == 0 {
			ends[i], *our = read, write
		} else {
			ends[i], *our = write, read
		}
	}
	if r.interactive {
		ends[2] = ends[1]
	}
	return ends, nil
}

func (r *running) closePipes() { closeAll([]*os.File{r.stdin, r.stdout, r.stderr}) }

// closeAll closes pipes, of which a nil or an already closed one is no fault.
func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close()
	}
}

// keep starts the child and waits for it on one operating system thread. Both
// of what binds a child to a thread need that: ptrace obeys only the thread
// that started the child, and Pdeathsig kills the child when that thread ends,
// not when the process does.
func (r *running) keep(started chan<- error, spawn func() (child, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	r.began = time.Now()
	if r.child, err = spawn(); err != nil {
		started <- err
		return
	}
	started <- nil
	r.child.awaitExit()
	r.exit = time.Now()
	close(r.exited)
	<-r.reap
	r.end, r.waitErr = r.child.reap()
	close(r.reaped)
}

// copyOutput reads one stream to its end. It reads on when the command is being
// ended, so that no process hangs in a write.
func (r *running) copyOutput(from io.Reader, to *capture) {
	defer r.copiers.Done()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		_, _ = to.Write(buf[:n])
		if most := r.limits.OutputTotal; r.written.Add(int64(n)) > most && most != Unlimited {
			r.endWith(ReasonOutput)
		} else if r.sink != nil && n > 0 {
			_, _ = r.sink.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// copyInput feeds the child. A Read of the caller's reader cannot be broken
// off: the goroutine ends when that Read returns.
func (r *running) copyInput() {
	_, _ = io.Copy(writerOnly{r.stdin}, r.input)
	_ = r.stdin.Close()
}

// writerOnly hides the other methods of a file from io.Copy.
type writerOnly struct{ io.Writer }

// endWith asks for the early end of the command; the first reason counts.
func (r *running) endWith(reason Reason) {
	select {
	case r.stop <- reason:
	default:
	}
}

// supervise brings the command to its end and writes down the result.
func (r *running) supervise(ctx context.Context) {
	defer close(r.done)
	awaited, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(awaited)
	}()
	cause := r.await(ctx)
	close(awaited)
	switch cause {
	case ReasonTimeout, ReasonCancelled:
		r.child.terminate()
		r.settle()
	case "":
		r.settle()
	}
	stuck := r.child.killAll()
	r.fault = r.collect(cause, stuck)
	<-watched
}

// watch ends the command for what no limit of the kernel bounds, until stop.
func (r *running) watch(stop <-chan struct{}) {
	var memory check
	if !r.child.boundsMemory() {
		memory = newMemoryCheck(r.limits.Memory, r.child.pids)
	}
	watch(stop, r.endWith, newDiskCheck(r.workspace, r.limits.Disk, r.child.pids), memory)
}

// await returns when the program has exited, with "", or when there is a reason
// to end it.
func (r *running) await(ctx context.Context) Reason {
	var timeout <-chan time.Time
	if r.limits.Timeout > 0 {
		timer := time.NewTimer(r.limits.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-r.exited:
		return ""
	case reason := <-r.stop:
		return reason
	case <-ctx.Done():
		return ReasonCancelled
	case <-timeout:
		return ReasonTimeout
	}
}

// settle waits until the program has exited and nobody holds its output, but
// not longer than the grace.
func (r *running) settle() {
	timer := time.NewTimer(r.grace)
	defer timer.Stop()
	for _, event := range []chan struct{}{r.exited, r.drained} {
		select {
		case <-event:
		case <-timer.C:
			return
		}
	}
}

// collect closes the pipes, reaps the child and sets the result. Everything has
// been killed before.
func (r *running) collect(cause Reason, stuck error) error {
	gone := within(killWait, r.exited)
	if r.tty == nil { // it is the output too
		_ = r.stdin.Close()
	}
	r.drain()
	r.closePipes() // ends a copier that still reads
	<-r.drained
	close(r.reap)
	r.result = Result{ExitCode: -1, Reason: cause, Stdout: r.out.stream(), Stderr: r.err.stream()}
	if !gone {
		if cause == "" {
			r.result.Reason = ReasonSetup
		}
		return errors.Join(fmt.Errorf("%v: %w", r.child, ErrStuck), stuck)
	}
	r.result.Duration = r.exit.Sub(r.began)
	<-r.reaped
	if r.waitErr != nil {
		r.result.Reason = ReasonSetup
		return fmt.Errorf("%w: wait for %v: %w", ErrSetup, r.child, r.waitErr)
	}
	r.result.ExitCode, r.result.Signal = r.end.code, r.end.signal
	if cause == "" {
		r.result.Reason = r.reason()
	}
	return stuck
}

// drain waits until the output is at its end, or holds nothing.
func (r *running) drain() {
	for range drainTries {
		if within(drainWait, r.drained) || !unread(r.stdout) && !unread(r.stderr) {
			return
		}
	}
}

// within reports whether done is closed in time.
func within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
