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
	afterwards func(func())
	since      family.Moment  // a moment before the program started
	strays     *family.Family // finds all other processes where no namespace holds them

	served *listeners // of Command.Listen; nil without

	gone  chan struct{} // closed: no process is left
	empty bool          // gone was closed before anything was killed

	told   bool // the end of the program was reported
	status syscall.WaitStatus
	cpu    time.Duration
}

var _ process.Child = (*firstProcess)(nil)

// String implements process.Child.
func (f *firstProcess) String() string { return fmt.Sprintf("sandbox %d", f.proc.Pid) }

// AwaitExit returns when the first process has reported the end of the program,
// or has itself ended.
func (f *firstProcess) AwaitExit() {
	defer func() { go f.awaitGone() }()
	kind, body, err := f.receive()
	if err != nil || kind != reexec.Exited || len(body) != 12 {
		return
	}
	f.told = true
	f.status = syscall.WaitStatus(binary.LittleEndian.Uint32(body))
	f.cpu = time.Duration(binary.LittleEndian.Uint64(body[4:])) * time.Microsecond
}

// awaitGone waits for the message that no process is left in the sandbox. It
// returns when the socket is closed.
func (f *firstProcess) awaitGone() {
	if kind, _, err := f.receive(); err == nil && kind == reexec.Gone {
		close(f.gone)
	}
}

// Terminate implements process.Child.
func (f *firstProcess) Terminate() { _, _ = f.control.Write([]byte{reexec.Terminate}) }

// KillAll ends the first process; the kernel then ends all others of its
// namespace. Usually none is left.
func (f *firstProcess) KillAll() error {
	if f.strays == nil && process.Within(goneWait, f.gone) {
		f.empty = true
		return nil
	}
	_ = f.proc.Kill()
	if f.strays != nil {
		return f.strays.KillAll()
	}
	f.killOthers()
	return nil
}

// killOthers waits until the first process is gone. The kernel ends the others
// only after the first process has run once more, which can take seconds if there
// are many of them. So killOthers kills them too.
func (f *firstProcess) killOthers() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = process.WaitID(f.proc.Pid, unix.WEXITED|unix.WNOWAIT)
	}()
	for deadline := time.Now().Add(family.KillWait); !process.Within(othersWait, gone) && time.Now().Before(deadline); {
		f.killFamily()
	}
}

// killFamily kills all descendants of the first process, which adopts the
// children of parents that have ended. It holds a descriptor of each process
// while it looks up the parent, because the number can pass to another process
// meanwhile.
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

// Reap implements process.Child. An empty sandbox takes a millisecond to take
// down, and its group another. Reap does not wait for that.
func (f *firstProcess) Reap() (process.Ending, error) {
	f.served.close()
	e := process.Ending{Code: process.CodeKilled, Signal: "SIGKILL", Limited: true}
	var err error
	if !f.empty {
		var state *os.ProcessState
		if state, err = f.proc.Wait(); err == nil {
			e.CPU = state.UserTime() + state.SystemTime()
		}
	}
	if f.told {
		e.Code, e.Signal = process.StatusOf(f.status)
		e.CPU = max(e.CPU, f.cpu)
		e.Policy = f.status.Signaled() && f.status.Signal() == syscall.SIGSYS
	}
	e.OOM = f.group.oom()
	f.afterwards(func() {
		if f.empty {
			_, _ = f.proc.Wait()
		}
		_ = f.control.Close()
		f.group.remove()
	})
	f.refill()
	return e, err
}

// PIDs implements process.Child. It leaves out the first process: that belongs to
// the executor, and the host may not look into it.
func (f *firstProcess) PIDs() []int {
	if f.strays != nil {
		return f.strays.PIDs()[1:]
	}
	return family.Descendants(f.proc.Pid)[1:]
}

// BoundsMemory implements process.Child.
func (f *firstProcess) BoundsMemory() bool { return f.group != nil && f.group.limits.Memory > 0 }

// self is this program's file. The link works even if the program's path does
// not, or if the file has been replaced since.
const self = "/proc/self/exe"

// spawner starts the first processes of all sandboxes on one operating system
// thread. The kernel ends a child when the thread that started it ends, and this
// thread lives until the Sandbox is closed or the host dies.
type spawner struct {
	requests chan func()
	begin    sync.Once     // starts serve with the first request
	end      sync.Once     // closes closing once
	closing  chan struct{} // closed: nothing more is started
	ended    chan struct{} // closed: the thread has ended
}

func newSpawner() *spawner {
	return &spawner{requests: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
}

var errClosed = errors.New("sandbox is closed")

// start starts a child. It waits for its turn until ctx ends.
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

// ownThread calls f on an operating system thread that ends with it, because it is
// never unlocked. That is not so for the main thread, which the Go runtime keeps: f
// then runs on another one.
func ownThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	locked := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(locked) // until here the main thread is taken
		f()
	}()
	<-locked
	runtime.UnlockOSThread()
}

// serve runs on a thread of its own. The kernel ends the children that are left when
// that ends.
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

func (n *spawner) close() {
	n.end.Do(func() { close(n.closing) })
	n.begin.Do(func() { close(n.ended) }) // serve was never started
	<-n.ended
}
