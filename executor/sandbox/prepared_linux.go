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

// prepared is the first process of a sandbox that is waiting for its job.
type prepared struct {
	proc    *os.Process
	control *os.File
	group   *group // made in advance, or nil
	refill  func() // prepares another in its place
}

// discard ends a sandbox in which nothing runs.
func (p *prepared) discard() {
	_ = p.proc.Kill()
	_ = p.control.Close()
	_, _ = p.proc.Wait()
	p.group.remove()
	if p.refill != nil {
		p.refill()
	}
}

// ready sends the plan and waits until the sandbox is built.
func (p *prepared) ready(ctx context.Context, plan []byte) error {
	stop := p.bound(ctx)
	defer stop()
	if err := p.send(plan, nil); err != nil {
		return p.lost(ctx, "send plan", err)
	}
	kind, body, err := p.receive()
	if err != nil {
		return p.lost(ctx, "build", err)
	}
	if kind != reexec.Ready {
		return p.startError(kind, "", body)
	}
	return nil
}

// run sends the sandbox its job and descriptors, and waits until the program has
// started. Its ports accept connections earlier, but are served only from then
// on.
func (p *prepared) run(ctx context.Context, job *reexec.Job, files []*os.File, served *listeners) error {
	stop := p.bound(ctx)
	defer stop()
	frame := job.Encode()
	if len(frame) > reexec.MaxFrame {
		return fmt.Errorf("%w: %d bytes of arguments and environment", executor.ErrCommand, len(frame))
	}
	if err := p.send(frame, files); err != nil {
		// The child may have failed before it read the job; then its message says
		// why.
		if kind, body, readErr := p.receive(); readErr == nil {
			return p.startError(kind, job.Args[0], body)
		}
		return p.lost(ctx, "send job", err)
	}
	kind, body, err := p.receive()
	if err != nil {
		return p.lost(ctx, "start", err)
	}
	if kind != reexec.Started {
		return p.startError(kind, job.Args[0], body)
	}
	return served.serve()
}

// startError returns the error for a message that the child sent instead of Started.
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

// lost returns the error for a child that ended, or took too long, without a
// message.
func (p *prepared) lost(ctx context.Context, step string, err error) error {
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

// bound limits the time of the exchange that follows.
func (p *prepared) bound(ctx context.Context) (stop func()) {
	_ = p.control.SetDeadline(time.Now().Add(setupWait))
	broken := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = p.control.SetDeadline(time.Unix(1, 0))
		close(broken)
	})
	return func() {
		if !cancel() {
			<-broken // otherwise the deadline would interrupt the next exchange
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

// receive reads a message.
func (p *prepared) receive() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(p.control, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(head[:4])
	if size < 1 || size > 4096 {
		return 0, nil, fmt.Errorf("message of %d bytes", size)
	}
	body = make([]byte, size-1)
	_, err = io.ReadFull(p.control, body)
	return head[4], body, err
}

// take returns a sandbox that is ready, with a group that has these limits: a
// prepared one if there is one, otherwise a new one.
func (s *Sandbox) take(ctx context.Context, l executor.Limits) (*prepared, error) {
	if s.isClosed() {
		return nil, errClosed
	}
	select {
	case p, open := <-s.pool: // nil, so never ready, without WithPrepared
		if !open {
			return nil, errClosed
		}
		once := sync.OnceFunc(s.prepareOne)
		timer := time.AfterFunc(refillWait, once)
		p.refill = func() { timer.Stop(); once() }
		if p.group != nil && p.group.limits != s.groupLimits(l) {
			s.afterwards(p.group.remove)
			p.group = s.newGroup(l)
		}
		return p, nil
	default:
	}
	return s.makeReady(ctx, l)
}

// makeReady starts a sandbox, makes its group at the same time, and waits for
// both.
func (s *Sandbox) makeReady(ctx context.Context, l executor.Limits) (*prepared, error) {
	group := s.newGroup(l)
	p, err := s.spawner.boot(ctx, s.attributes())
	if err != nil {
		group.remove()
		return nil, err
	}
	p.group, p.refill = group, func() {}
	if err := p.ready(ctx, s.plan); err != nil {
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

// prepareOne adds one more sandbox to the pool, soon. If that fails the pool
// stays one short: the command that would have used it makes its own, and reports
// the error.
func (s *Sandbox) prepareOne() {
	s.afterwards(func() {
		if s.isClosed() {
			return
		}
		if p, err := s.makeReady(context.Background(), executor.Limits{}.OrDefaults()); err == nil {
			s.pool <- p // the pool has room for all of them
		}
	})
}
