package process

import (
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Exit codes that a shell returns if its last program died of a resource limit.
// Result uses the same codes for a program that died itself.
const (
	CodeKilled  = 128 + 9
	codeCPUTime = 128 + 24
	codeFile    = 128 + 25
)

// reason says why a program ended that the executor did not end. The kernel does not say which
// limit was reached. So reason derives it from the processor time and from the signal, or from
// the exit code of a shell that passes the signal on. Half of the CPU limit is enough. The
// kernel enforces it by counting ticks, and on a busy machine that count is far from the time
// that it reports.
func (p *process) reason() executor.Reason {
	code := p.result.ExitCode
	limit := p.limits.CPU
	switch {
	case !p.end.Limited:
	case p.end.OOM && code != 0:
		return executor.ReasonOOM
	case p.end.Policy:
		return executor.ReasonPolicy
	case limit > 0 && (code == codeCPUTime || code == CodeKilled) && p.end.CPU >= WholeSeconds(limit)/2:
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
