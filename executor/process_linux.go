package executor

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxOpenFiles bounds the descriptors of a command. It is no field of Limits:
// no program of a skill needs more, and the host's own limit holds beside it.
const maxOpenFiles = 4096

// process is a started program, a plain child of the host.
type process struct {
	proc    *os.Process
	limited bool
	marker  uint64    // RLIMIT_LOCKS of all its descendants; 0: none could be set
	since   numbering // before it started anything
}

// mayTrace reports whether a child may be started stopped. Yama's level 3
// forbids it; other reasons show when it is tried.
func mayTrace() bool {
	level, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	return err != nil || strings.TrimSpace(string(level)) != "3"
}

// startProcess starts the program with its limits in force. The calling goroutine
// must be locked to its thread until the program has exited.
func (l *Local) startProcess(program string, cmd Command, files []*os.File, tty bool) (*process, error) {
	since, traced := numberingNow(), !l.untraced.Load()
	proc, err := startChild(program, cmd, files, tty, traced)
	if traced && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS)) {
		traced = false
		if proc, err = startChild(program, cmd, files, tty, false); err == nil {
			l.untraced.Store(true)
		}
	}
	if err != nil {
		return nil, err
	}
	c := &process{proc: proc, limited: true, since: since}
	if err := c.bound(cmd.Limits, traced); err != nil {
		_ = unix.Kill(-proc.Pid, unix.SIGKILL)
		_, _ = proc.Wait()
		return nil, err
	}
	return c, nil
}

// bound sets the limits and lets a traced child go.
func (c *process) bound(limits Limits, traced bool) error {
	pid := c.proc.Pid
	if traced {
		// The exec has stopped the child, or something killed it: both are left
		// for others to see, and what follows finds out.
		if err := waitid(pid, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT); err != nil {
			return fmt.Errorf("wait for stopped child: %w", err)
		}
	}
	if err := setLimits(pid, limits); err != nil {
		return err
	}
	c.marker = setMarker(pid)
	if traced {
		if err := unix.PtraceDetach(pid); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("let child go: %w", err)
		}
	}
	return nil
}

// startChild retries while the program file is still open for writing: a
// concurrent fork in the host can hold it open for a moment after its writer
// has closed it.
func startChild(program string, cmd Command, files []*os.File, tty, traced bool) (*os.Process, error) {
	attr := &os.ProcAttr{Dir: cmd.Dir, Env: cmd.environment(), Files: files, Sys: &syscall.SysProcAttr{
		Setsid: true, Setctty: tty, Pdeathsig: syscall.SIGKILL, Ptrace: traced,
	}}
	for pause := time.Millisecond; ; pause *= 2 {
		proc, err := os.StartProcess(program, cmd.Args, attr)
		if !errors.Is(err, unix.ETXTBSY) || pause > 512*time.Millisecond {
			return proc, err
		}
		time.Sleep(pause)
	}
}

// setLimits bounds a process and what it will start. RLIMIT_AS is left alone:
// it counts address space, of which node and Go programs reserve far more than
// they use.
func setLimits(pid int, l Limits) error {
	cpu := int64(Unlimited)
	if l.CPU > 0 {
		cpu = int64(wholeSeconds(l.CPU) / time.Second)
	}
	for _, limit := range []struct {
		name     string
		resource int
		value    int64
		more     uint64 // by how much the hard limit is above the soft one
	}{
		{"core size", unix.RLIMIT_CORE, 0, 0},
		{"open files", unix.RLIMIT_NOFILE, maxOpenFiles, 0},
		{"cpu", unix.RLIMIT_CPU, cpu, 1}, // SIGXCPU, and a second later SIGKILL
		{"memory", unix.RLIMIT_DATA, l.Memory, 0},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes, 0},
	} {
		if limit.value == Unlimited {
			continue
		}
		if err := setLimit(pid, limit.resource, uint64(limit.value), limit.more); err != nil {
			return fmt.Errorf("set %s limit of process %d: %w", limit.name, pid, err)
		}
	}
	return nil
}

// setLimit never raises a limit: that needs a privilege, and a host that runs
// under tighter limits than these wants them to hold.
func setLimit(pid, resource int, soft, more uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return err
	}
	limit := unix.Rlimit{Cur: min(soft, old.Cur), Max: min(soft+more, old.Max)}
	return unix.Prlimit(pid, resource, &limit, nil)
}

// setMarker gives a process a number that its descendants inherit and that is
// seen from outside: the limit on file locks, which Linux has not enforced
// since 2.4.25. It returns 0 where that does not work.
func setMarker(pid int) uint64 {
	var old unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &old) != nil || old.Max < 1<<32 {
		return 0
	}
	marker := randomMarker(old.Max)
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: marker, Max: marker}, nil) != nil || lockLimit(pid) != marker {
		return 0
	}
	return marker
}

// randomMarker is large enough not to be a limit that somebody means, and below
// infinity.
func randomMarker(most uint64) uint64 {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return 1<<31 + binary.NativeEndian.Uint64(random[:])%(min(most, 1<<62)-1<<31)
}

// awaitExit returns when the program has exited. It stays a zombie, so that its
// number, and that of its group and session, cannot pass on to another process
// before all of them were killed.
func (c *process) awaitExit() {
	_ = waitid(c.proc.Pid, unix.WEXITED|unix.WNOWAIT)
}

// reap frees the program's number and returns how it ended.
func (c *process) reap() (ending, error) {
	state, err := c.proc.Wait()
	return c.ending(state), err
}

func waitid(pid, options int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, &unix.Siginfo{}, options, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func platformCapabilities(untraced bool) Capabilities {
	since := ""
	if untraced {
		since = "; set just after the start, because ptrace is forbidden"
	}
	return Capabilities{
		Memory:       Capability{true, "RLIMIT_DATA for each process, and all together are watched" + since},
		CPU:          Capability{true, "RLIMIT_CPU: each process by itself, in whole seconds" + since},
		FileBytes:    Capability{true, "RLIMIT_FSIZE: each file, not all together" + since},
		Descriptors:  Capability{true, "all but the streams are closed"},
		KillGroup:    Capability{true, "session and process group"},
		KillTree:     treeCapability(),
		DiesWithHost: Capability{false, "the program itself dies with the host, but not what it started"},
	}
}
