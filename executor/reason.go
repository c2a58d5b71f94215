package executor

import "time"

// Exit codes of a shell whose last program died of a resource limit; the same
// as those of Result for a program that died itself.
const (
	codeKilled  = 128 + 9
	codeCPUTime = 128 + 24
	codeFile    = 128 + 25
)

// reason says why a program ended that the executor did not end. The kernel
// does not say that a limit was met: the signal does, or the exit code of a
// shell that passes it on, and the processor time that was used. Half of the
// limit is enough: the kernel enforces it by counting ticks, which on a busy
// machine is far from the time that it reports.
func (r *running) reason() Reason {
	code := r.result.ExitCode
	limit := r.limits.CPU
	switch {
	case !r.end.limited:
	case r.end.oom && code != 0:
		return ReasonOOM
	case r.end.policy:
		return ReasonPolicy
	case limit > 0 && (code == codeCPUTime || code == codeKilled) && r.end.cpu >= wholeSeconds(limit)/2:
		return ReasonCPU
	case code == codeFile && r.limits.FileBytes != Unlimited:
		return ReasonDisk
	}
	if r.result.Signal != "" {
		return ReasonSignal
	}
	return ReasonExit
}

// wholeSeconds rounds up: the limit of the operating system counts seconds.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
