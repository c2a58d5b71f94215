//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/reexec"
)

// self is this program's file. The link works even if the program's path does
// not, or if the file has been replaced since.
const self = "/proc/self/exe"

// nursery starts the first processes of all sandboxes on one operating system
// thread. The kernel ends a child when the thread that started it ends, and this
// thread lives until the Sandbox is closed or the host dies.
type nursery struct {
	requests chan func()
	begin    sync.Once     // starts serve with the first request
	end      sync.Once     // closes closing once
	closing  chan struct{} // closed: nothing more is started
	ended    chan struct{} // closed: the thread has ended
}

func newNursery() *nursery {
	return &nursery{requests: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
}

var errClosed = errors.New("sandbox is closed")

// start starts a child. It waits for its turn until ctx ends.
func (n *nursery) start(ctx context.Context, files []*os.File, sys *syscall.SysProcAttr) (proc *os.Process, err error) {
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
func (n *nursery) serve() {
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

func (n *nursery) close() {
	n.end.Do(func() { close(n.closing) })
	n.begin.Do(func() { close(n.ended) }) // serve was never started
	<-n.ended
}

// boot starts a first process, which waits for its plan.
func (n *nursery) boot(ctx context.Context, sys *syscall.SysProcAttr) (*prepared, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return nil, fmt.Errorf("open control socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	defer func() { _ = theirs.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	defer func() { _ = null.Close() }()
	// The shadows come after the streams and the control socket.
	files := []*os.File{null, null, null, theirs}
	if more := process.Shadows(); len(more) > 1 {
		files = append(files, more[1:]...)
	}
	proc, err := n.start(ctx, files, sys)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start first process: %w", err), ours.Close())
	}
	return &prepared{proc: proc, control: ours}, nil
}

// attributes returns how a first process is started: in its namespaces, with the
// rights to build the sandbox.
func (s *Sandbox) attributes() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if s.caps.Isolation != executor.IsolationNamespaces {
		return sys
	}
	sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS // plus a cgroup namespace once it is in its own group
	if s.root {
		sys.UidMappings, sys.GidMappings = s.owner.inside(), s.owner.inside()
		sys.GidMappingsEnableSetgroups = true
		sys.Credential = &syscall.Credential{}
		return sys
	}
	// Only one user is mapped. The capabilities for building are kept across the
	// exec as ambient ones. Mapping user 0 instead would let the program believe
	// that it is root.
	sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Geteuid(), Size: 1}}
	sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Getegid(), Size: 1}}
	sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE}
	return sys
}
