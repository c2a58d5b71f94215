package remote

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// errLate is the cause if a command does not end when it must.
var errLate = errors.New("the runner did not end a command in time")

// command is a command on the host's side.
type command struct {
	runner *runner
	cmd    executor.Command
	term   *executor.Terminal // nil: of Run
	stream *stream            // input to the command, and output of an interactive one
	pipes  []commandPipe
	most   int64 // bytes that may be captured

	started  chan struct{} // closed when the process of Start runs
	answered chan struct{} // closed when answer and captured are set
	done     chan struct{} // closed when result and fault are set
	result   executor.Result
	fault    error
	killing  sync.Once
	moving   sync.WaitGroup // of the goroutines that move bytes of pipes

	// The goroutine that reads the connection owns these until answered is closed.
	answer   resultMessage
	captured []byte

	mu        sync.Mutex
	over      bool                 // the command has ended: no port is served anymore
	listeners map[uint16]*listener // the ports that the sandbox listens on
	serving   sync.WaitGroup       // of the functions of Command.Listen
}

func newCommand(r *runner, cmd executor.Command, term *executor.Terminal) (*command, error) {
	c := &command{
		runner: r, cmd: cmd, term: term, most: 2*cmd.Limits.OrDefaults().Output + setupText,
		started: make(chan struct{}), answered: make(chan struct{}), done: make(chan struct{}),
		listeners: map[uint16]*listener{},
	}
	for i, file := range cmd.Pipes {
		copied, use, err := copyPipe(file)
		if err != nil {
			c.closePipes()
			return nil, fmt.Errorf("descriptor %d: %w", 3+i, err)
		}
		c.pipes = append(c.pipes, commandPipe{file: copied, use: use})
	}
	return c, nil
}

// message returns the body of the frame that starts the command.
func (c *command) message() ([]byte, error) {
	cmd, e := c.cmd, c.runner.executor
	m := runMessage{
		Args: joined(cmd.Args), Env: joined(cmd.Env),
		Workspace: []byte(cmp.Or(e.workspaceAt, cmd.Workspace)), Dir: []byte(cmd.Dir), Skills: []byte(cmd.Skills),
		Writable: toBytes(cmd.Writable), Parts: toBytes(cmd.Parts),
		Limits: cmd.Limits, Stdin: cmd.Stdin != nil, Listen: slices.Sorted(maps.Keys(cmd.Listen)),
	}
	if c.term != nil {
		m.Terminal = &terminalMessage{TTY: c.term.TTY, Rows: c.term.Rows, Cols: c.term.Cols}
	}
	for _, p := range c.pipes {
		m.Pipes = append(m.Pipes, p.use)
	}
	for name, value := range cmd.Secrets {
		if m.Secrets == nil {
			m.Secrets = map[string][]byte{}
		}
		m.Secrets[name] = []byte(value)
	}
	if cmd.SharesSkills() {
		if e.marks {
			return nil, fmt.Errorf("%w: shared skills cannot be compared with what the runner sees", executor.ErrCommand)
		}
		skills := filepath.Clean(cmd.Skills)
		seen := see(skills)
		if seen.Error != "" {
			return nil, fmt.Errorf("%w: shared skills: %s", executor.ErrCommand, seen.Error)
		}
		m.Skills, m.Shared = []byte(skills), &seen
	}
	body, err := encode(m, bodies[kindRun].most)
	if err != nil || len(cmd.Args) > maxEntries || len(cmd.Env) > maxEntries {
		return nil, fmt.Errorf("%w: its arguments and environment are too long to be sent", executor.ErrCommand)
	}
	return body, nil
}

// take handles a frame for the command. It waits for nothing.
func (c *command) take(f frame) error {
	switch f.kind {
	case kindStarted:
		if c.term == nil || c.hasStarted() {
			return fmt.Errorf("%w: command %d starts again", errProtocol, f.stream)
		}
		close(c.started)
		return nil
	case kindListen:
		return c.takeListen(binary.BigEndian.Uint16(f.body))
	case kindCaptured:
		c.captured = append(c.captured, f.body...)
		if int64(len(c.captured)) > c.most {
			return fmt.Errorf("%w: more output than the limit of %d bytes", errProtocol, c.most)
		}
		return nil
	}
	answer, err := decode[resultMessage](f.body)
	if err != nil {
		return err
	}
	if c.stream.hasInput() {
		return fmt.Errorf("%w: a result before the end of the output", errProtocol)
	}
	c.answer = answer
	if err := c.checkAnswer(); err != nil {
		return err
	}
	close(c.answered)
	return nil
}

// hasStarted reports whether the process of Start runs, or ran.
func (c *command) hasStarted() bool {
	select {
	case <-c.started:
		return true
	default:
		return false
	}
}

// reasons are those that a runner may give.
var reasons = []executor.Reason{
	executor.ReasonExit, executor.ReasonTimeout, executor.ReasonCancelled, executor.ReasonOOM, executor.ReasonCPU,
	executor.ReasonOutput, executor.ReasonDisk, executor.ReasonPolicy, executor.ReasonSetup, executor.ReasonSignal,
}

// checkAnswer returns an error if the answer cannot be.
func (c *command) checkAnswer() error {
	left := len(c.captured)
	for _, n := range []int{c.answer.Stdout.Head, c.answer.Stdout.Tail, c.answer.Stderr.Head, c.answer.Stderr.Tail} {
		if n < 0 || n > left {
			return fmt.Errorf("%w: a result of other bytes than were sent", errProtocol)
		}
		left -= n
	}
	switch a := c.answer; {
	case left != 0, a.Stdout.Dropped < 0, a.Stderr.Dropped < 0, a.Duration < 0, len(a.Signal) > maxSignal, a.Signal != printable(a.Signal):
		return fmt.Errorf("%w: a result that cannot be", errProtocol)
	case c.term != nil && !c.hasStarted() && a.Error == nil && a.Reason != executor.ReasonSetup:
		return fmt.Errorf("%w: a process that never started", errProtocol)
	case !slices.Contains(reasons, a.Reason):
		return fmt.Errorf("%w: reason %q", errProtocol, cut(string(a.Reason)))
	}
	return nil
}

// takeResult returns the result of the answer.
func (c *command) takeResult() (executor.Result, error) {
	rest := c.captured
	next := func(n int) []byte {
		part := rest[:n:n]
		rest = rest[n:]
		if n == 0 {
			return nil
		}
		return part
	}
	a := c.answer
	result := executor.Result{
		ExitCode: a.ExitCode, Reason: a.Reason, Signal: a.Signal, Duration: a.Duration,
		Stdout: executor.Stream{Head: next(a.Stdout.Head), Tail: next(a.Stdout.Tail), Dropped: a.Stdout.Dropped},
		Stderr: executor.Stream{Head: next(a.Stderr.Head), Tail: next(a.Stderr.Tail), Dropped: a.Stderr.Dropped},
	}
	return result, a.Error.error()
}

// supervise moves the bytes of the command, and sets the result at its end.
func (c *command) supervise() {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		c.print()
	}()
	if c.cmd.Stdin != nil {
		go c.feed()
	}
	for _, p := range c.pipes {
		c.moving.Go(p.move)
	}
	c.result, c.fault = c.await()
	c.stream.giveUp()
	c.endPorts()
	for _, p := range c.pipes {
		p.end()
	}
	<-printed
	close(c.done)
}

// await waits for the answer, or for the end of the connection.
func (c *command) await() (executor.Result, error) {
	var late <-chan time.Time
	if timeout := c.cmd.Limits.OrDefaults().Timeout; timeout > 0 {
		timer := time.NewTimer(timeout + lateWait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c.answered:
	case <-c.runner.conn.ended:
	case <-late:
		c.runner.conn.fail(errLate)
	}
	select {
	case <-c.answered:
		return c.takeResult()
	default:
		return lost(c.runner.conn.cause)
	}
}

// feed sends the input of the command.
func (c *command) feed() {
	_, _ = io.Copy(writer{c.stream}, onlyReader{c.cmd.Stdin})
	c.stream.closeOut()
}

// print passes the output of an interactive command to its owner.
func (c *command) print() {
	if c.term == nil {
		return
	}
	buf := make([]byte, maxData)
	for {
		n, err := c.stream.read(buf, nil)
		if err != nil {
			return
		}
		if c.term.Output != nil {
			_, _ = c.term.Output.Write(buf[:n])
		}
		c.stream.credit(n)
	}
}

// kill ends the command. It does not wait.
func (c *command) kill() {
	c.killing.Do(func() {
		go func() {
			select {
			case <-c.answered:
				return
			default:
			}
			if c.runner.conn.send(kindKill, c.stream.id, nil) != nil {
				return
			}
			timer := time.NewTimer(killWait)
			defer timer.Stop()
			select {
			case <-c.answered:
			case <-c.runner.conn.ended:
			case <-timer.C:
				c.runner.conn.fail(errLate)
			}
		}()
	})
}
