//go:build amd64 || arm64

package executor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
)

// setupWait is how long a sandbox may take to be built: it takes milliseconds,
// and a busy machine some more.
const setupWait = time.Minute

// prepared is the first process of a sandbox that waits for its job.
type prepared struct {
	proc    *os.Process
	control *os.File
	group   *group // made for it in advance, or nil
	refill  func() // prepares another in its place
}

// refillWait is how long another sandbox is not prepared while the command that
// took this one has just begun: both would want the processor.
const refillWait = 20 * time.Millisecond

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

// ready lets the sandbox be built and waits until it is.
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
		return p.told(kind, "", body)
	}
	return nil
}

// run gives the sandbox its job and waits until the program has started.
func (p *prepared) run(ctx context.Context, job *reexec.Job, files []*os.File) error {
	stop := p.bound(ctx)
	defer stop()
	frame := job.Encode()
	if len(frame) > reexec.MaxFrame {
		return fmt.Errorf("%w: %d bytes of arguments and environment", ErrCommand, len(frame))
	}
	if err := p.send(frame, files); err != nil {
		// It may have failed before it read; then it has said why.
		if kind, body, readErr := p.receive(); readErr == nil {
			return p.told(kind, job.Args[0], body)
		}
		return p.lost(ctx, "send job", err)
	}
	kind, body, err := p.receive()
	if err != nil {
		return p.lost(ctx, "start", err)
	}
	if kind != reexec.Started {
		return p.told(kind, job.Args[0], body)
	}
	return nil
}

// told is the error for what a child said instead of going on to the program.
func (p *prepared) told(kind byte, program string, body []byte) error {
	switch kind {
	case reexec.NotFound:
		return refusal{neverRan(127, fmt.Sprintf("%q: not found: %s", program, body))}
	case reexec.NotExecutable:
		return refusal{neverRan(126, fmt.Sprintf("%q: not executable: %s", program, body))}
	case reexec.Failed:
		return fmt.Errorf("sandbox: %s", body)
	}
	return fmt.Errorf("sandbox: unexpected message %q", kind)
}

// lost is the error for a child that ended, or took too long, without a word.
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

// bound makes the exchange that follows end in time.
func (p *prepared) bound(ctx context.Context) (stop func()) {
	_ = p.control.SetDeadline(time.Now().Add(setupWait))
	broken := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		_ = p.control.SetDeadline(time.Unix(1, 0))
		close(broken)
	})
	return func() {
		if !cancel() {
			<-broken // it would break off what follows
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

// take returns a sandbox that is ready, with a group of these limits: a prepared
// one, or a new one.
func (s *Sandbox) take(ctx context.Context, l Limits) (*prepared, error) {
	if s.isClosed() {
		return nil, errClosed
	}
	select {
	case p, open := <-s.pool: // nil, and never ready, without WithPrepared
		if !open {
			return nil, errClosed
		}
		once := sync.OnceFunc(s.prepareOne)
		timer := time.AfterFunc(refillWait, once)
		p.refill = func() { timer.Stop(); once() }
		if p.group != nil && p.group.limits != s.groupLimits(l) {
			s.later(p.group.remove)
			p.group = s.newGroup(l)
		}
		return p, nil
	default:
	}
	return s.makeReady(ctx, l)
}

// makeReady starts a sandbox, makes its group meanwhile, and waits for both.
func (s *Sandbox) makeReady(ctx context.Context, l Limits) (*prepared, error) {
	group := s.newGroup(l)
	p, err := s.nursery.boot(ctx, s.attributes())
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

// prepareOne puts one more sandbox into the pool, soon. One that fails is left
// out: the command that misses it makes its own, and reports why it cannot.
func (s *Sandbox) prepareOne() {
	s.later(func() {
		if s.isClosed() {
			return
		}
		if p, err := s.makeReady(context.Background(), Limits{}.OrDefaults()); err == nil {
			s.pool <- p // has a place for everyone
		}
	})
}
