package process

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
)

// endWith asks supervise to end the command early. Only the first reason counts.
func (p *process) endWith(reason executor.Reason) {
	select {
	case p.stop <- reason:
	default:
	}
}

// supervise waits for the command, ends what is left of it and sets the result.
func (p *process) supervise(ctx context.Context) {
	defer close(p.done)
	stopWatch, watchDone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watchDone)
		p.watch(stopWatch)
	}()
	cause := p.await(ctx)
	close(stopWatch)
	switch cause {
	case executor.ReasonTimeout, executor.ReasonCancelled:
		p.child.Terminate()
		p.settle()
	case "":
		p.settle()
	}
	killErr := p.child.KillAll()
	p.fault = p.collect(cause, killErr)
	<-watchDone
}

// watch ends the command when it exceeds a limit that the kernel does not
// enforce. It returns when stop is closed.
func (p *process) watch(stop <-chan struct{}) {
	var memory Check
	if !p.child.BoundsMemory() {
		memory = Memory(p.limits.Memory, p.child.PIDs)
	}
	runChecks(stop, p.endWith, Disk(p.workspace, p.limits.Disk, p.child.PIDs), memory)
}

// await returns "" when the program has exited, or a reason to end it.
func (p *process) await(ctx context.Context) executor.Reason {
	var timeout <-chan time.Time
	if p.limits.Timeout > 0 {
		timer := time.NewTimer(p.limits.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-p.exited:
		return ""
	case reason := <-p.stop:
		return reason
	case <-ctx.Done():
		return executor.ReasonCancelled
	case <-timeout:
		return executor.ReasonTimeout
	}
}

// settle waits until the program has exited and no process holds its output open,
// but no longer than the grace.
func (p *process) settle() {
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	for _, event := range []chan struct{}{p.exited, p.drained} {
		select {
		case <-event:
		case <-timer.C:
			return
		}
	}
}

// collect closes the pipes, reaps the child and sets the result. The caller has killed all processes
// before; killErr is the error of that.
func (p *process) collect(cause executor.Reason, killErr error) error {
	hasExited := Within(family.KillWait, p.exited)
	if p.tty == nil { // the terminal is the output too
		_ = p.stdin.Close()
	}
	p.drain()
	p.closePipes() // ends a copier that still reads
	<-p.drained
	close(p.reap)
	p.result = executor.Result{ExitCode: -1, Reason: cause, Stdout: p.outputs[0].stream(), Stderr: p.outputs[1].stream()}
	if !hasExited {
		if cause == "" {
			p.result.Reason = executor.ReasonSetup
		}
		return errors.Join(fmt.Errorf("%v: %w", p.child, family.ErrStuck), killErr)
	}
	p.result.Duration = p.exitedAt.Sub(p.startedAt)
	<-p.reaped
	if p.waitErr != nil {
		p.result.Reason = executor.ReasonSetup
		return fmt.Errorf("%w: wait for %v: %w", executor.ErrSetup, p.child, p.waitErr)
	}
	p.result.ExitCode, p.result.Signal = p.ending.Code, p.ending.Signal
	if cause == "" {
		p.result.Reason = p.reason()
	}
	return killErr
}

// drain waits until the output has ended, or the pipes are empty.
func (p *process) drain() {
	for range drainTries {
		if Within(drainWait, p.drained) || !hasUnread(p.stdout) && !hasUnread(p.stderr) {
			return
		}
	}
}

// Within reports whether done is closed within d.
func Within(d time.Duration, done <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Exit codes of a shell whose last program was killed for a resource limit. A Result has the same
// codes for a program that was killed itself.
const (
	CodeKilled  = 128 + 9
	codeCPUTime = 128 + 24
	codeFile    = 128 + 25
)

// reason returns why a program ended that the executor did not end. The kernel does not report which
// limit was reached. So reason derives it from the processor time and from the signal, or from the
// exit code of a shell that reports the signal of its program. Half of the CPU limit is enough: the
// kernel enforces the limit by counting ticks, and reports a time that can differ much from that.
func (p *process) reason() executor.Reason {
	code := p.result.ExitCode
	limit := p.limits.CPU
	switch {
	case !p.ending.Limited:
	case p.ending.OOM && code != 0:
		return executor.ReasonOOM
	case p.ending.Policy:
		return executor.ReasonPolicy
	case limit > 0 && (code == codeCPUTime || code == CodeKilled) && p.ending.CPU >= WholeSeconds(limit)/2:
		return executor.ReasonCPU
	case code == codeFile && p.limits.FileBytes >= 0:
		return executor.ReasonDisk
	}
	if p.result.Signal != "" {
		return executor.ReasonSignal
	}
	return executor.ReasonExit
}

// WholeSeconds rounds up to seconds, in which the kernel counts its CPU limit.
func WholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
