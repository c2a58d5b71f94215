//go:build amd64 || arm64

package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
)

// prepared is the first process of a sandbox that waits for its job.
type prepared struct {
	proc    *os.Process
	control *os.File
	group   *group // nil without cgroups
	refill  func() // adds another sandbox to the pool if this one came from it
}

// discard ends a sandbox in which no program runs.
func (p *prepared) discard() {
	_ = p.proc.Kill()
	_ = p.control.Close()
	_, _ = p.proc.Wait()
	p.group.remove()
	if p.refill != nil {
		p.refill()
	}
}

// build sends the plan and waits until the sandbox is built.
func (p *prepared) build(ctx context.Context, plan []byte) error {
	stop := p.setDeadline(ctx)
	defer stop()
	if err := p.send(plan, nil); err != nil {
		return p.exchangeError(ctx, "send plan", err)
	}
	kind, body, err := p.receive()
	if err != nil {
		return p.exchangeError(ctx, "build", err)
	}
	if kind != reexec.Ready {
		return p.startError(kind, "", body)
	}
	return nil
}

// run sends the sandbox its job and descriptors, and waits until the program has started. Then it
// serves the ports of the command.
func (p *prepared) run(ctx context.Context, job *reexec.Job, files []*os.File, ports *listeners) error {
	stop := p.setDeadline(ctx)
	defer stop()
	frame := job.Encode()
	if len(frame) > reexec.MaxFrame {
		return fmt.Errorf("%w: %d bytes of arguments and environment", executor.ErrCommand, len(frame))
	}
	if err := p.send(frame, files); err != nil {
		// If the first process failed before it read the job, its message says why.
		if kind, body, readErr := p.receive(); readErr == nil {
			return p.startError(kind, job.Args[0], body)
		}
		return p.exchangeError(ctx, "send job", err)
	}
	kind, body, err := p.receive()
	if err != nil {
		return p.exchangeError(ctx, "start", err)
	}
	if kind != reexec.Started {
		return p.startError(kind, job.Args[0], body)
	}
	return ports.serve()
}

// startError returns the error for a message that the first process sent instead of the expected
// one.
func (p *prepared) startError(kind byte, program string, body []byte) error {
	switch kind {
	case reexec.NotFound:
		return process.Refusal{Result: process.NeverRan(127, fmt.Sprintf("%q: not found: %s", program, body))}
	case reexec.NotExecutable:
		return process.Refusal{Result: process.NeverRan(126, fmt.Sprintf("%q: not executable: %s", program, body))}
	case reexec.Failed:
		return fmt.Errorf("sandbox: %s", body)
	}
	return fmt.Errorf("sandbox: unexpected message %q", kind)
}

// exchangeError returns the error for a step without a message of the first process: ctx has ended,
// the process has, or it took too long.
func (p *prepared) exchangeError(ctx context.Context, step string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("sandbox: %s: %w", step, ctx.Err())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		_ = p.proc.Kill()
		state, _ := p.proc.Wait()
		return fmt.Errorf("sandbox: %s: its first process ended: %v", step, state)
	}
	return fmt.Errorf("sandbox: %s: %w", step, err)
}

// setDeadline limits the time of sends and receives until stop: they fail after setupWait, and when
// ctx ends.
func (p *prepared) setDeadline(ctx context.Context) (stop func()) {
	_ = p.control.SetDeadline(time.Now().Add(setupWait))
	interrupted := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = p.control.SetDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	return func() {
		if !cancel() {
			<-interrupted // otherwise it would set the deadline after stop has reset it
		}
		_ = p.control.SetDeadline(time.Time{})
	}
}

// send writes a frame, with descriptors.
func (p *prepared) send(frame []byte, files []*os.File) error {
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	raw, err := p.control.SyscallConn()
	if err != nil {
		return err
	}
	for len(frame) > 0 {
		n, sendErr := 0, error(nil)
		err := raw.Write(func(fd uintptr) bool {
			n, sendErr = unix.SendmsgN(int(fd), frame, rights, nil, unix.MSG_NOSIGNAL)
			return !errors.Is(sendErr, unix.EAGAIN)
		})
		if errors.Is(sendErr, unix.EINTR) {
			continue
		}
		if err = errors.Join(err, sendErr); err != nil {
			return fmt.Errorf("write to sandbox: %w", err)
		}
		frame, rights = frame[n:], nil
	}
	return nil
}

// receive reads a message of the first process.
func (p *prepared) receive() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(p.control, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(head[:4])
	if size < 1 || size > maxMessage {
		return 0, nil, fmt.Errorf("message of %d bytes", size)
	}
	body = make([]byte, size-1)
	_, err = io.ReadFull(p.control, body)
	return head[4], body, err
}

// take returns a built sandbox, with a group that has these limits. It comes from the pool if there
// is one, and is otherwise new.
func (s *Sandbox) take(ctx context.Context, l executor.Limits) (*prepared, error) {
	if s.isClosed() {
		return nil, errClosed
	}
	select {
	case p, open := <-s.pool: // without WithPrepared the pool is nil and never ready
		if !open {
			return nil, errClosed
		}
		once := sync.OnceFunc(s.prepareOne)
		timer := time.AfterFunc(refillWait, once)
		p.refill = func() { timer.Stop(); once() }
		if p.group != nil && p.group.limits != s.groupLimits(l) {
			s.background(p.group.remove)
			p.group = s.newGroup(l)
		}
		return p, nil
	default:
	}
	return s.buildNew(ctx, l)
}

// buildNew starts and builds a sandbox. Its group is created at the same time.
func (s *Sandbox) buildNew(ctx context.Context, l executor.Limits) (*prepared, error) {
	group := s.newGroup(l)
	p, err := s.spawner.boot(ctx, s.attributes())
	if err != nil {
		group.remove()
		return nil, err
	}
	p.group, p.refill = group, func() {}
	if err := p.build(ctx, s.plan); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// boot starts a first process, which waits for its plan.
func (n *spawner) boot(ctx context.Context, sys *syscall.SysProcAttr) (*prepared, error) {
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

// attributes returns the attributes of a first process: its namespaces, and the capabilities that
// it needs to build the sandbox.
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

// startPool prepares the sandboxes of WithPrepared.
func (s *Sandbox) startPool() {
	if s.prepared == 0 {
		return
	}
	s.pool = make(chan *prepared, s.prepared)
	for range s.prepared {
		s.prepareOne()
	}
}

// prepareOne adds one sandbox to the pool in the background. If that fails, the pool has one less:
// a command then builds its own sandbox, and reports the error.
func (s *Sandbox) prepareOne() {
	s.background(func() {
		if s.isClosed() {
			return
		}
		if p, err := s.buildNew(context.Background(), executor.Limits{}.OrDefaults()); err == nil {
			s.pool <- p // the pool has room for all of them
		}
	})
}
