//go:build amd64 || arm64

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
)

// self is this program's file. Its link leads there even where its path does
// not, and when the file was replaced since.
const self = "/proc/self/exe"

// nursery starts the first processes of sandboxes, all on one operating system
// thread: the kernel ends a child when the thread that started it ends, and
// this one lives until the Sandbox is closed or the host dies.
type nursery struct {
	requests chan func()
	begin    sync.Once     // serves, from the first request on
	end      sync.Once     // of closing
	closing  chan struct{} // closed: nothing more is started
	ended    chan struct{} // closed: the thread has ended
}

func newNursery() *nursery {
	return &nursery{requests: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
}

var errClosed = errors.New("sandbox is closed")

// start starts a child. It waits for its turn as long as ctx allows.
func (n *nursery) start(ctx context.Context, files []*os.File, sys *syscall.SysProcAttr) (proc *os.Process, err error) {
	n.begin.Do(func() { go n.serve() })
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

// serve never unlocks its thread: the thread ends with it, and with the thread
// end the children that are left.
func (n *nursery) serve() {
	defer close(n.ended)
	runtime.LockOSThread()
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
	n.begin.Do(func() { close(n.ended) }) // it has never served
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
	if more := shadows(); len(more) > 1 {
		files = append(files, more[1:]...)
	}
	proc, err := n.start(ctx, files, sys)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start first process: %w", err), ours.Close())
	}
	return &prepared{proc: proc, control: ours}, nil
}

// attributes are how a first process is started: in its namespaces, as the one
// who may build there.
func (s *Sandbox) attributes() *syscall.SysProcAttr {
	sys := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if s.caps.Isolation != IsolationNamespaces {
		return sys
	}
	sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS // and of cgroups when it is in its own
	if s.root {
		sys.UidMappings, sys.GidMappings = s.owner.inside(), s.owner.inside()
		sys.GidMappingsEnableSetgroups = true
		sys.Credential = &syscall.Credential{}
		return sys
	}
	// A single user is mapped. The capabilities to build are kept across the
	// exec as ambient ones: as user 0 the program would believe to be root.
	sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Geteuid(), Size: 1}}
	sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: insideID, HostID: os.Getegid(), Size: 1}}
	sys.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE}
	return sys
}
