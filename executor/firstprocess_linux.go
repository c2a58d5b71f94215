//go:build amd64 || arm64

package executor

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
)

// firstProcess is the child of a Sandbox: the first process of the namespaces,
// of which the program is a child.
type firstProcess struct {
	*prepared
	later  func(func())
	since  numbering // before the program started
	strays *process  // finds all others, where no namespace holds them

	gone  chan struct{} // closed: nobody is left
	empty bool          // that was so before anything was killed

	told   bool // the program's end was reported
	status syscall.WaitStatus
	cpu    time.Duration
}

var _ child = (*firstProcess)(nil)

// String implements child.
func (f *firstProcess) String() string { return fmt.Sprintf("sandbox %d", f.proc.Pid) }

// awaitExit returns when the first process has reported the program's end, or
// has ended itself.
func (f *firstProcess) awaitExit() {
	defer func() { go f.awaitGone() }()
	kind, body, err := f.receive()
	if err != nil || kind != reexec.Exited || len(body) != 12 {
		return
	}
	f.told = true
	f.status = syscall.WaitStatus(binary.LittleEndian.Uint32(body))
	f.cpu = time.Duration(binary.LittleEndian.Uint64(body[4:])) * time.Microsecond
}

// awaitGone notes that nobody is left in the sandbox. It ends with the socket.
func (f *firstProcess) awaitGone() {
	if kind, _, err := f.receive(); err == nil && kind == reexec.Gone {
		close(f.gone)
	}
}

// terminate implements child.
func (f *firstProcess) terminate() { _, _ = f.control.Write([]byte{reexec.Terminate}) }

// goneWait is how long the word that nobody is left may take: it follows that
// of the program's end at once, unless the program has left something running.
const goneWait = time.Millisecond

// killAll ends the first process, and with it the kernel all others of its
// namespace. Usually nobody is left to be ended.
func (f *firstProcess) killAll() error {
	if f.strays == nil && within(goneWait, f.gone) {
		f.empty = true
		return nil
	}
	_ = f.proc.Kill()
	if f.strays != nil {
		return f.strays.killAll()
	}
	f.killOthers()
	return nil
}

// othersWait is longer than the end of a namespace takes on a quiet machine.
const othersWait = 20 * time.Millisecond

// killOthers waits until the first process is gone. Before the kernel ends the
// others the first process must run once more, and they can be so many that it
// does not for seconds: so they are killed here too.
func (f *firstProcess) killOthers() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = waitid(f.proc.Pid, unix.WEXITED|unix.WNOWAIT)
	}()
	for deadline := time.Now().Add(killWait); !within(othersWait, gone) && time.Now().Before(deadline); {
		f.killFamily()
	}
}

// killFamily kills what descends from the first process, which a parent that
// ended leaves its children to. It holds on to each process while it asks whose
// child that is: the number can pass on to another meanwhile.
func (f *firstProcess) killFamily() {
	family := map[int]bool{f.proc.Pid: true}
	for pid := range startedSince(f.since) { // mostly parents before their children
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if family[parentOf(pid)] {
			family[pid] = true
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, signalGroup) // all at one stroke
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

// signalGroup is PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9.
const signalGroup = 1 << 2

// reap implements child. An empty sandbox takes a millisecond to be taken down,
// and its group another, for which nobody has to wait.
func (f *firstProcess) reap() (ending, error) {
	e := ending{code: codeKilled, signal: "SIGKILL", limited: true}
	var err error
	if !f.empty {
		var state *os.ProcessState
		if state, err = f.proc.Wait(); err == nil {
			e.cpu = state.UserTime() + state.SystemTime()
		}
	}
	if f.told {
		e.code, e.signal = statusOf(f.status)
		e.cpu = max(e.cpu, f.cpu)
		e.policy = f.status.Signaled() && f.status.Signal() == syscall.SIGSYS
	}
	e.oom = f.group.oom()
	f.later(func() {
		if f.empty {
			_, _ = f.proc.Wait()
		}
		_ = f.control.Close()
		f.group.remove()
	})
	f.refill()
	return e, err
}

// pids implements child. The first process is the host's own, and closed to it.
func (f *firstProcess) pids() []int {
	if f.strays != nil {
		return f.strays.pids()[1:]
	}
	return descendants(f.proc.Pid)[1:]
}

// boundsMemory implements child.
func (f *firstProcess) boundsMemory() bool { return f.group != nil && f.group.limits.Memory > 0 }
