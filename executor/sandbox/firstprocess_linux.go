//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
)

// firstProcess is the child of a Sandbox: the first process of the namespaces, and the parent
// of the program.
type firstProcess struct {
	*prepared
	background func(func())   // runs a function later; see Sandbox.background
	since      family.Moment  // a moment before the program started
	strays     *family.Family // without namespaces: finds the processes of the command; else nil
	listeners  *listeners     // of Command.Listen, or nil

	allEnded chan struct{} // closed when no process is left in the sandbox
	wasEmpty bool          // allEnded was closed before KillAll killed anything

	hasStatus bool // status and cpu are those of the program
	status    syscall.WaitStatus
	cpu       time.Duration
}

var _ process.Child = (*firstProcess)(nil)

// String implements process.Child.
func (f *firstProcess) String() string { return fmt.Sprintf("sandbox %d", f.proc.Pid) }

// AwaitExit implements process.Child. It returns when the first process has reported the end of the
// program, or has itself ended.
func (f *firstProcess) AwaitExit() {
	defer func() { go f.awaitAllEnded() }()
	kind, body, err := f.receive()
	if err != nil || kind != reexec.Exited || len(body) != 12 {
		return
	}
	f.hasStatus = true
	f.status = syscall.WaitStatus(binary.LittleEndian.Uint32(body))
	f.cpu = time.Duration(binary.LittleEndian.Uint64(body[4:])) * time.Microsecond
}

// awaitAllEnded waits for the message that no process is left in the sandbox, or for the end of the
// control socket.
func (f *firstProcess) awaitAllEnded() {
	if kind, _, err := f.receive(); err == nil && kind == reexec.Empty {
		close(f.allEnded)
	}
}

// Terminate implements process.Child.
func (f *firstProcess) Terminate() { _, _ = f.control.Write([]byte{reexec.Terminate}) }

// KillAll implements process.Child. It kills the first process; the kernel then ends all others of
// its namespace. Usually no process is left, and KillAll has nothing to do.
func (f *firstProcess) KillAll() error {
	if f.strays == nil && process.Within(goneWait, f.allEnded) {
		f.wasEmpty = true
		return nil
	}
	_ = f.proc.Kill()
	if f.strays != nil {
		return f.strays.KillAll()
	}
	f.killOthers()
	return nil
}

// killOthers waits until the first process has ended, and kills the others meanwhile. The kernel
// kills them itself, but only after the first process has run once more. With many processes that
// can take seconds.
func (f *firstProcess) killOthers() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = process.WaitID(f.proc.Pid, unix.WEXITED|unix.WNOWAIT)
	}()
	for deadline := time.Now().Add(family.KillWait); !process.Within(othersWait, ended) && time.Now().Before(deadline); {
		f.killFamily()
	}
}

// killFamily kills all descendants of the first process, which adopts the
// children of parents that have ended. It holds a descriptor of each process while it looks up the
// parent, because the kernel can reuse the number of a process that has ended.
func (f *firstProcess) killFamily() {
	known := map[int]bool{f.proc.Pid: true}
	for pid := range family.StartedSince(f.since) { // mostly yields parents before their children
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		if known[family.ParentOf(pid)] {
			known[pid] = true
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, signalGroup) // the whole group in one step
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		_ = unix.Close(fd)
	}
}

// signalGroup is PIDFD_SIGNAL_PROCESS_GROUP, since Linux 6.9.
const signalGroup = 1 << 2

// Reap implements process.Child. To remove an empty sandbox takes a millisecond, and its group
// another, so Reap does that in the background.
func (f *firstProcess) Reap() (process.Ending, error) {
	f.listeners.close()
	e := process.Ending{Code: process.CodeKilled, Signal: "SIGKILL", Limited: true}
	var err error
	if !f.wasEmpty {
		var state *os.ProcessState
		if state, err = f.proc.Wait(); err == nil {
			e.CPU = state.UserTime() + state.SystemTime()
		}
	}
	if f.hasStatus {
		e.Code, e.Signal = process.StatusOf(f.status)
		e.CPU = max(e.CPU, f.cpu)
		e.Policy = f.status.Signaled() && f.status.Signal() == syscall.SIGSYS
	}
	e.OOM = f.group.oom()
	f.background(func() {
		if f.wasEmpty {
			_, _ = f.proc.Wait()
		}
		_ = f.control.Close()
		f.group.remove()
	})
	f.refill()
	return e, err
}

// PIDs implements process.Child. It leaves out the first process, which belongs to the executor and
// which the host may not inspect.
func (f *firstProcess) PIDs() []int {
	if f.strays != nil {
		return f.strays.PIDs()[1:]
	}
	return family.Descendants(f.proc.Pid)[1:]
}

// BoundsMemory implements process.Child.
func (f *firstProcess) BoundsMemory() bool { return f.group != nil && f.group.limits.Memory > 0 }

// self is the file of this program. The link works even if the file was moved or replaced.
const self = "/proc/self/exe"

// spawner starts the first processes of all sandboxes on one operating system
// thread. The kernel ends a child when the thread that started it ends, and this
// thread lives until the Sandbox is closed or the host dies.
type spawner struct {
	requests chan func()
	begin    sync.Once     // starts serve with the first request
	end      sync.Once     // closes closing once
	closing  chan struct{} // closed by close; no more requests are served
	ended    chan struct{} // closed when the thread has ended
}

func newSpawner() *spawner {
	return &spawner{requests: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
}

var errClosed = errors.New("sandbox is closed")

// start starts a child process. It waits until ctx ends for the thread to be free.
func (n *spawner) start(ctx context.Context, files []*os.File, sys *syscall.SysProcAttr) (proc *os.Process, err error) {
	n.begin.Do(func() { go ownThread(n.serve) })
	done := make(chan struct{})
	request := func() {
		defer close(done)
		proc, err = os.StartProcess(self, []string{reexec.Name}, &os.ProcAttr{Dir: "/", Env: []string{}, Files: files, Sys: sys})
	}
	select {
	case n.requests <- request:
		<-done
		return proc, err
	case <-n.closing:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ownThread calls f on a locked operating system thread, which the Go runtime ends when f returns.
// The runtime never ends the main thread, so ownThread uses another one there.
func ownThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(locked) // the main thread was locked until here, so this is another one
		f()
	}()
	<-locked
	runtime.UnlockOSThread()
}

// serve answers requests until close. It runs on a thread of its own; when that ends, the kernel
// ends its children.
func (n *spawner) serve() {
	defer close(n.ended)
	for {
		select {
		case request := <-n.requests:
			request()
		case <-n.closing:
			return
		}
	}
}

// close ends the thread, and with it the children that are left.
func (n *spawner) close() {
	n.end.Do(func() { close(n.closing) })
	n.begin.Do(func() { close(n.ended) }) // serve was never started
	<-n.ended
}
