//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/internal/reexec"
)

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
