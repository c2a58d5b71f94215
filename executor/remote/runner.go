package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// runner is a runner on the host's side. The Executor's lock guards the fields of the first block.
type runner struct {
	uses      int  // commands that use the runner or wait for it
	leaving   bool // it gets no more commands
	kept      bool // it was prepared, and has had no command
	idleSince time.Time
	timer     *time.Timer

	executor *Executor
	job      Job
	cancel   context.CancelFunc // ends the opening
	opened   chan struct{}      // closed when openErr, or conn, is set
	openErr  error
	conn     *conn
	gone     chan struct{} // closed when the runner has ended

	sending  chan struct{} // holds a value while a goroutine opens a stream
	hello    chan helloAnswer
	mu       sync.Mutex
	greeted  bool
	commands map[uint32]*command
	searches map[uint32]chan foundMessage
}

// live is the life of a runner from its start to its end.
func (r *runner) live(ctx context.Context) {
	defer r.executor.remove(r)
	c, err := r.open(ctx)
	r.cancel()
	if err != nil {
		r.openErr = err
		close(r.opened)
		if c != nil {
			<-c.closed
		}
		return
	}
	r.conn = c
	r.executor.mu.Lock()
	close(r.opened)
	if r.leaving { // it was released meanwhile
		go c.fail(errReleased)
	}
	r.executor.mu.Unlock()
	<-c.ended
	r.executor.lose(r)
	<-c.closed
}

// open starts the runner and exchanges the first messages. The connection may be set beside an error. It
// has ended then.
func (r *runner) open(ctx context.Context) (_ *conn, err error) {
	var m *mark
	if r.executor.marks && r.job.Workspace != "" {
		if m, err = putMark(r.job.Workspace); err != nil {
			return nil, err
		}
	}
	rw, err := r.executor.carrier.Open(ctx, r.job)
	if err != nil {
		return nil, errors.Join(setupError(err), m.remove())
	}
	c := newConn(rw, r.take)
	c.serve()
	answer, err := r.greet(ctx, c, m)
	if err == nil {
		err = r.verify(answer)
	}
	if err = errors.Join(err, m.remove()); err != nil {
		c.fail(err)
		return c, setupError(err)
	}
	r.executor.learn(boundCapabilities(answer.Capabilities))
	return c, nil
}

// setupError returns an error that wraps executor.ErrSetup.
func setupError(err error) error {
	if errors.Is(err, executor.ErrSetup) {
		return err
	}
	return fmt.Errorf("%w: start a runner: %w", executor.ErrSetup, err)
}

// greet asks the runner who it is. The mark is in the workspace, or nil.
func (r *runner) greet(ctx context.Context, c *conn, m *mark) (helloAnswer, error) {
	hello := helloMessage{Version: version}
	if m != nil {
		hello.Mark = m.name
	}
	for _, id := range r.job.Verify {
		hello.Paths = append(hello.Paths, []byte(id.At))
	}
	body, err := encode(hello, maxMessage)
	if err != nil {
		return helloAnswer{}, err
	}
	if err := c.send(kindHello, 0, body); err != nil {
		return helloAnswer{}, fmt.Errorf("the runner has ended: %w", err)
	}
	select {
	case answer := <-r.hello:
		return answer, nil
	case <-c.ended:
		return helloAnswer{}, fmt.Errorf("the runner has ended: %w", c.cause)
	case <-ctx.Done():
		return helloAnswer{}, fmt.Errorf("the runner does not answer: %w", ctx.Err())
	}
}

// verify returns an error if the runner cannot be used for the job.
func (r *runner) verify(answer helloAnswer) error {
	switch {
	case answer.Error != "":
		return fmt.Errorf("the runner runs no commands: %s", printable(cut(answer.Error)))
	case answer.Version != version:
		return fmt.Errorf("the runner speaks version %d of the protocol, this program %d: use a runner of the same release", answer.Version, version)
	case len(answer.Seen) != len(r.job.Verify):
		return fmt.Errorf("%w: %d identities, want %d", errProtocol, len(answer.Seen), len(r.job.Verify))
	}
	same := compare
	if r.executor.marks {
		same = compareMark
	}
	for i, want := range r.job.Verify {
		if err := same(want, answer.Seen[i]); err != nil {
			return err
		}
	}
	return nil
}

// isOpen reports whether the runner was opened, with or without success.
func (r *runner) isOpen() bool {
	select {
	case <-r.opened:
		return true
	default:
		return false
	}
}

// isLost reports whether the connection to the runner has ended.
func (r *runner) isLost() bool { return r.isOpen() && r.conn != nil && r.conn.isEnded() }

// take handles a frame of the runner. It waits for nothing.
func (r *runner) take(f frame) error {
	switch f.kind {
	case kindHello:
		return r.takeHello(f)
	case kindFound:
		return r.takeFound(f)
	case kindAccept:
		return r.takeAccept(f)
	case kindStarted, kindCaptured, kindListen, kindResult:
		r.mu.Lock()
		c := r.commands[f.stream]
		if f.kind == kindResult {
			delete(r.commands, f.stream)
		}
		r.mu.Unlock()
		if c == nil {
			return fmt.Errorf("%w: stream %d is no command", errProtocol, f.stream)
		}
		return c.take(f)
	}
	return fmt.Errorf("%w: a runner sends no frames of kind %d", errProtocol, f.kind)
}

func (r *runner) takeHello(f frame) error {
	answer, err := decode[helloAnswer](f.body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	again := r.greeted
	r.greeted = true
	r.mu.Unlock()
	if again || f.stream != 0 {
		return fmt.Errorf("%w: a hello that cannot be", errProtocol)
	}
	r.hello <- answer // it has room for one
	return nil
}

func (r *runner) takeAccept(f frame) error {
	m, err := decode[acceptMessage](f.body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	c := r.commands[m.Command]
	r.mu.Unlock()
	if c == nil || f.stream&ofRunner == 0 {
		return fmt.Errorf("%w: a connection to command %d", errProtocol, m.Command)
	}
	return c.takeAccept(f.stream, m)
}

// begin starts a command.
func (r *runner) begin(cmd executor.Command, term *executor.Terminal) (*command, error) {
	c, err := newCommand(r, cmd, term)
	if err != nil {
		return nil, err
	}
	if err := r.start(c); err != nil {
		c.closePipes()
		return nil, err
	}
	go c.supervise()
	return c, nil
}

// start sends the command and makes its streams.
func (r *runner) start(c *command) error {
	body, err := c.message()
	if err != nil {
		return err
	}
	select {
	case r.sending <- struct{}{}:
		defer func() { <-r.sending }()
	case <-r.conn.ended:
		return fmt.Errorf("%w: the runner has ended: %w", executor.ErrSetup, r.conn.cause)
	}
	r.mu.Lock()
	many := len(r.commands) >= maxCommands
	r.mu.Unlock()
	if many {
		return fmt.Errorf("%w: %d commands run in this workspace: try again later", executor.ErrSetup, maxCommands)
	}
	interactive := c.term != nil
	if c.stream, err = r.conn.open(byHost, interactive, interactive || c.cmd.Stdin != nil); err != nil {
		return fmt.Errorf("%w: %w", executor.ErrSetup, err)
	}
	for i := range c.pipes {
		p := &c.pipes[i]
		if p.stream, err = r.conn.open(byHost, p.use == writesPipe, p.use == readsPipe); err != nil {
			return fmt.Errorf("%w: %w", executor.ErrSetup, err)
		}
	}
	r.mu.Lock()
	r.commands[c.stream.id] = c
	r.mu.Unlock()
	// From here on the command may run: if the connection ends, it is lost.
	_ = r.conn.send(kindRun, c.stream.id, body)
	return nil
}

// endCommands kills all commands and waits a while for their ends.
func (r *runner) endCommands() {
	if r.conn == nil {
		return
	}
	r.mu.Lock()
	var left []*command
	for _, c := range r.commands {
		left = append(left, c)
	}
	r.mu.Unlock()
	for _, c := range left {
		c.kill()
	}
	timer := time.NewTimer(releaseWait)
	defer timer.Stop()
	for _, c := range left {
		select {
		case <-c.done:
		case <-timer.C:
			return
		}
	}
}

// find asks the runner for a program.
func (r *runner) find(ctx context.Context, name, path string) (string, error) {
	body, err := encode(findMessage{Name: []byte(name), Path: []byte(path)}, maxMessage)
	if err != nil {
		return "", fmt.Errorf("find a program: %w", err)
	}
	found := make(chan foundMessage, 1)
	if err := r.sendFind(ctx, body, found); err != nil {
		return "", err
	}
	select {
	case m := <-found:
		return string(m.At), m.Error.error()
	case <-ctx.Done():
		return "", ctx.Err()
	case <-r.conn.ended:
		return "", fmt.Errorf("%w: %w", executor.ErrLost, r.conn.cause)
	}
}

func (r *runner) sendFind(ctx context.Context, body []byte, found chan foundMessage) error {
	select {
	case r.sending <- struct{}{}:
		defer func() { <-r.sending }()
	case <-ctx.Done():
		return ctx.Err()
	case <-r.conn.ended:
		return fmt.Errorf("%w: %w", executor.ErrLost, r.conn.cause)
	}
	r.mu.Lock()
	many := len(r.searches) >= maxCommands
	r.mu.Unlock()
	if many {
		return fmt.Errorf("%w: %d searches for programs run: try again later", executor.ErrSetup, maxCommands)
	}
	s, err := r.conn.open(byHost, false, false)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.searches[s.id] = found
	r.mu.Unlock()
	_ = r.conn.send(kindFind, s.id, body)
	return nil
}

func (r *runner) takeFound(f frame) error {
	m, err := decode[foundMessage](f.body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	found := r.searches[f.stream]
	delete(r.searches, f.stream)
	r.mu.Unlock()
	if found == nil || m.Error == nil && len(m.At) == 0 {
		return fmt.Errorf("%w: an answer to no search", errProtocol)
	}
	found <- m // it has room for one
	return nil
}
