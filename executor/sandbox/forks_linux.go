//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
)

// forks holds a command without namespaces to its limit of processes and threads. The seccomp filter
// asks about each new one, and the kernel makes it wait for the answer.
//
// Counting reads a file for each process, so most questions are answered by an upper bound: the last
// count and all that was allowed since.
type forks struct {
	limit   int
	count   func() int // returns the threads of the command
	channel *os.File   // the listener comes by it

	listener *os.File
	stopping chan struct{}
	end      sync.Once
	answers  sync.WaitGroup

	most    int                  // no more threads than this exist
	allowed map[uint32]time.Time // when a thread was last allowed to make another one
	next    time.Time            // the earliest time of the next count
}

// newForks returns the forks of a command, and the file through which the first process sends the
// listener. Both are nil if nothing is asked.
func (s *Sandbox) newForks(asks bool, strays *family.Family, limit int) (*forks, []*os.File, error) {
	if !asks {
		return nil, nil, nil
	}
	ours, theirs, err := handOut()
	if err != nil {
		return nil, nil, err
	}
	return &forks{
		limit: limit, count: strays.Threads, channel: ours, stopping: make(chan struct{}), allowed: map[uint32]time.Time{},
	}, []*os.File{theirs}, nil
}

// serve receives the listener and begins to answer.
func (f *forks) serve() error {
	if f == nil {
		return errors.New("sandbox: a listener that was not asked for")
	}
	files, err := receiveFiles(f.channel, 1)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("sandbox: %d listeners handed out, want 1", len(files))
	}
	if err == nil {
		err = unix.SetNonblock(int(files[0].Fd()), true)
	}
	if err != nil {
		process.CloseAll(files)
		return err
	}
	fd, err := unix.FcntlInt(files[0].Fd(), unix.F_DUPFD_CLOEXEC, 0)
	process.CloseAll(files)
	if err != nil {
		return err
	}
	f.listener = os.NewFile(uintptr(fd), "forks") // it does not block now, so the poller waits for it
	f.answers.Go(f.answerAll)
	return nil
}

// stop ends the answers. Threads that ask later wait until they are killed, so nothing new
// appears while the command is killed.
func (f *forks) stop() {
	if f == nil {
		return
	}
	f.end.Do(func() {
		close(f.stopping)
		if f.listener != nil {
			_ = f.listener.SetReadDeadline(time.Unix(1, 0))
		}
	})
	f.answers.Wait()
}

// close frees the listener. The caller has killed the command.
func (f *forks) close() {
	if f == nil {
		return
	}
	f.stop()
	_ = f.channel.Close()
	if f.listener != nil {
		_ = f.listener.Close()
	}
}

// question is the kernel's struct seccomp_notif.
type question struct {
	id     uint64
	thread uint32
	_      uint32
	_      [64]byte // the call
}

// answer is the kernel's struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// answerAll answers until stop, or until no process of the command is left. After any other error
// new processes fail with ENOSYS.
func (f *forks) answerAll() {
	for {
		q, err := f.receive()
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				_ = f.listener.Close()
			}
			return
		}
		isAllowed, ok := f.decide(q.thread)
		if !ok {
			return
		}
		a := answer{id: q.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if !isAllowed {
			a = answer{id: q.id, err: -int32(unix.EAGAIN)}
		}
		_ = f.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // ENOENT: the thread is gone
	}
}

// receive waits for a question.
func (f *forks) receive() (q question, err error) {
	conn, err := f.listener.SyscallConn()
	if err != nil {
		return q, err
	}
	var failed error
	err = conn.Read(func(fd uintptr) bool {
		for {
			ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Poll(ready, 0)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case err != nil:
				failed = err
				return true
			case n == 0:
				return false
			case ready[0].Revents&unix.POLLIN == 0: // POLLHUP
				failed = io.EOF
				return true
			}
			q = question{}
			switch e := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&q)); e {
			case 0:
				return true
			case unix.EINTR, unix.ENOENT: // ENOENT: the thread is gone
			default:
				failed = e
				return true
			}
		}
	})
	return q, errors.Join(err, failed)
}

// control makes an ioctl on the listener.
func (f *forks) control(request uintptr, arg unsafe.Pointer) error {
	conn, err := f.listener.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		if e := ioctl(fd, request, arg); e != 0 {
			failed = e
		}
	})
	return errors.Join(err, failed)
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg))
	return e
}

// decide reports whether a thread may make another one. It returns false for ok after stop.
//
// A thread that was allowed to may not have done so yet, because it waits for a processor. It counts
// besides those that exist until it asks again, or for forkWait.
func (f *forks) decide(thread uint32) (isAllowed, ok bool) {
	delete(f.allowed, thread)
	for f.most >= f.limit {
		if process.Within(time.Until(f.next), f.stopping) {
			return false, false
		}
		start := time.Now()
		count := f.count()
		maps.DeleteFunc(f.allowed, func(_ uint32, at time.Time) bool { return start.Sub(at) > forkWait })
		f.most = count + len(f.allowed)
		f.next = time.Now().Add(max(minCountPause, countShare*time.Since(start)))
		if count >= f.limit {
			return false, true
		}
	}
	f.most++
	f.allowed[thread] = time.Now()
	return true, true
}
