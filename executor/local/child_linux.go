package local

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// setsLimits says that startChild sets the limits of a command.
const setsLimits = true

// child is a program that was started as a plain child process, with its descendants.
type child struct {
	family.Family
	proc *os.Process
}

// mayTrace reports whether ptrace may start a child stopped. Yama's level 3 forbids it. There are
// other reasons, which startChild notices.
func mayTrace() bool {
	level, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || strings.TrimSpace(string(level)) != "3"
}

// startChild starts the program with its limits. The calling goroutine must be locked to its thread
// until the program has exited.
func (l *Local) startChild(program string, cmd executor.Command, files []*os.File, tty bool) (*child, error) {
	since, traced := family.Now(), !l.noPtrace.Load()
	proc, err := startProcess(program, cmd, files, tty, traced)
	if traced && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS)) {
		traced = false
		if proc, err = startProcess(program, cmd, files, tty, false); err == nil {
			l.noPtrace.Store(true)
		}
	}
	if err != nil {
		return nil, err
	}
	c := &child{Family: family.Family{Leader: proc.Pid, Since: since}, proc: proc}
	if err := c.applyLimits(cmd.Limits, traced); err != nil {
		_ = unix.Kill(-proc.Pid, unix.SIGKILL)
		_, _ = proc.Wait()
		return nil, err
	}
	return c, nil
}

// applyLimits sets the limits of the child. If traced, ptrace has stopped the child, and applyLimits
// lets it continue.
func (c *child) applyLimits(limits executor.Limits, traced bool) error {
	pid := c.proc.Pid
	if traced {
		// Wait until the exec stops the child, or something kills it. The event stays for
		// AwaitExit; the calls below fail if the child was killed.
		if err := process.WaitID(pid, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT); err != nil {
			return fmt.Errorf("wait for stopped child: %w", err)
		}
	}
	if err := setLimits(pid, limits); err != nil {
		return err
	}
	c.Marker = family.SetMarker(pid)
	if traced {
		if err := unix.PtraceDetach(pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("let child go: %w", err)
		}
	}
	return nil
}

// startProcess starts the program. It retries while the program file is open for writing: a
// concurrent fork in the host can hold it open for a moment after its writer has closed it.
func startProcess(program string, cmd executor.Command, files []*os.File, tty, traced bool) (*os.Process, error) {
	attr := &os.ProcAttr{Dir: cmd.HostPath(cmd.Dir), Env: cmd.Environ(), Files: files, Sys: &syscall.SysProcAttr{
		Setsid: true, Setctty: tty, Pdeathsig: syscall.SIGKILL, Ptrace: traced,
	}}
	for pause := time.Millisecond; ; pause *= 2 {
		proc, err := os.StartProcess(program, cmd.Args, attr)
		if !errors.Is(err, unix.ETXTBSY) || pause > maxBusyPause {
			return proc, err
		}
		time.Sleep(pause)
	}
}

// setLimits sets the resource limits of a process, which its children inherit. It does not set
// RLIMIT_AS: node and Go programs reserve far more address space than they use.
func setLimits(pid int, l executor.Limits) error {
	cpu := int64(-1)
	if l.CPU > 0 {
		cpu = int64(process.WholeSeconds(l.CPU) / time.Second)
	}
	for _, limit := range []struct {
		name     string
		resource int
		value    int64
		more     uint64 // by how much the hard limit is above the soft one
	}{
		{"core size", unix.RLIMIT_CORE, 0, 0},
		{"open files", unix.RLIMIT_NOFILE, process.MaxOpenFiles, 0},
		{"cpu", unix.RLIMIT_CPU, cpu, 1}, // SIGXCPU, and a second later SIGKILL
		{"memory", unix.RLIMIT_DATA, l.Memory, 0},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes, 0},
	} {
		if limit.value < 0 {
			continue
		}
		if err := setLimit(pid, limit.resource, uint64(limit.value), limit.more); err != nil {
			return fmt.Errorf("set %s limit of process %d: %w", limit.name, pid, err)
		}
	}
	return nil
}

// setLimit sets a resource limit; the hard limit is more above the soft one. It never raises a
// limit: that needs a privilege, and tighter limits of the host should hold.
func setLimit(pid, resource int, soft, more uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: min(soft, old.Cur), Max: min(soft+more, old.Max)}
	return unix.Prlimit(pid, resource, &limit, nil)
}

// AwaitExit returns when the program has exited. Its process stays a zombie, so that the kernel
// cannot reuse the number of the process, its group or its session before all of them are killed.
func (c *child) AwaitExit() {
	_ = process.WaitID(c.proc.Pid, unix.WEXITED|unix.WNOWAIT)
}

// Reap frees the program's number and returns how it ended.
func (c *child) Reap() (process.Ending, error) {
	state, err := c.proc.Wait()
	return c.ending(state), err
}

// platformCapabilities returns the capabilities that depend on the system.
func platformCapabilities(noPtrace bool) executor.Capabilities {
	since := ""
	if noPtrace {
		since = "; set just after the start, because ptrace is forbidden"
	}
	return executor.Capabilities{
		Memory:       executor.Capability{Enforced: true, Note: "RLIMIT_DATA for each process, and all together are watched" + since},
		CPU:          executor.Capability{Enforced: true, Note: "RLIMIT_CPU: each process by itself, in whole seconds" + since},
		FileBytes:    executor.Capability{Enforced: true, Note: "RLIMIT_FSIZE: each file, not all together" + since},
		Descriptors:  executor.Capability{Enforced: true, Note: "all but the streams are closed"},
		Pipes:        executor.Capability{Enforced: true, Note: "descriptors 3 and up"},
		KillGroup:    executor.Capability{Enforced: true, Note: "session and process group"},
		KillTree:     family.Capability(),
		DiesWithHost: executor.Capability{Note: "the program itself dies with the host, but not what it started"},
	}
}
