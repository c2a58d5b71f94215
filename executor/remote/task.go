package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// task is a command on the runner's side.
type task struct {
	server  *server
	id      uint32
	stream  *stream
	cmd     executor.Command
	message runMessage
	pipes   []taskPipe
	ctx     context.Context
	cancel  context.CancelFunc

	mu      sync.Mutex
	process executor.Process // of Start, once it runs

	answering sync.Mutex // held while a connection to a port is announced
	answered  bool       // no connection is announced anymore
}

// taskPipe is one of Command.Pipes on the runner's side.
type taskPipe struct {
	stream        *stream
	use           byte
	ours, program *os.File
}

// run runs the command and sends its result.
func (t *task) run() {
	defer t.cancel()
	result, err := t.execute()
	t.closeStreams()
	t.answering.Lock()
	t.answered = true
	t.answering.Unlock()
	s := t.server
	s.mu.Lock()
	delete(s.tasks, t.id)
	s.mu.Unlock()
	if err := t.answer(result, err); err != nil {
		s.conn.fail(err)
	}
}

// execute runs the command to its end.
func (t *task) execute() (executor.Result, error) {
	if err := t.checkShared(); err != nil {
		return neverRan(), err
	}
	if err := t.openPipes(); err != nil {
		return neverRan(), fmt.Errorf("%w: %w", executor.ErrSetup, err)
	}
	t.movePipes()
	t.listen()
	if t.message.Terminal != nil {
		return t.start(*t.message.Terminal)
	}
	if t.message.Stdin {
		t.cmd.Stdin = &reader{s: t.stream}
	}
	return t.server.executor.Run(t.ctx, t.cmd)
}

// checkShared compares shared skills with what the host sees.
func (t *task) checkShared() error {
	if t.message.Shared == nil {
		return nil
	}
	want := Identity{At: t.cmd.Skills, Dev: t.message.Shared.Dev, Ino: t.message.Shared.Ino}
	if err := compare(want, see(t.cmd.Skills)); err != nil {
		return fmt.Errorf("%w: shared skills are not there where commands run: %v", executor.ErrCommand, err)
	}
	return nil
}

// start runs an interactive command.
func (t *task) start(term terminalMessage) (executor.Result, error) {
	p, err := t.server.executor.Start(t.ctx, t.cmd, executor.Terminal{TTY: term.TTY, Rows: term.Rows, Cols: term.Cols, Output: writer{t.stream}})
	if err != nil {
		return neverRan(), err
	}
	t.mu.Lock()
	t.process = p
	t.mu.Unlock()
	for _, pipe := range t.pipes { // else the other end would not notice the program's
		_ = pipe.program.Close()
	}
	select {
	case <-p.Done():
		if result, err := p.Wait(t.ctx); err == nil && result.Reason == executor.ReasonSetup {
			return result, nil // the Start of the host returns with this result
		}
	default:
	}
	_ = t.server.conn.send(kindStarted, t.id, nil)
	stop := context.AfterFunc(t.ctx, p.Kill)
	defer stop()
	t.server.background(func() { t.typeInput(p) })
	return p.Wait(context.WithoutCancel(t.ctx))
}

// typeInput passes the input of an interactive command on.
func (t *task) typeInput(p executor.Process) {
	buf := make([]byte, maxData)
	for {
		n, err := t.stream.read(buf, nil)
		if errors.Is(err, io.EOF) {
			_ = p.CloseInput()
			return
		}
		if err != nil {
			return
		}
		n, err = p.Write(buf[:n])
		t.stream.credit(n)
		if err != nil {
			t.stream.closeIn()
			return
		}
	}
}

// resize changes the size of the terminal.
func (t *task) resize(rows, cols uint16) {
	t.mu.Lock()
	p := t.process
	t.mu.Unlock()
	if p != nil {
		_ = p.Resize(rows, cols)
	}
}

// openPipes opens the pipes of the command.
func (t *task) openPipes() error {
	for i := range t.pipes {
		p := &t.pipes[i]
		read, write, err := os.Pipe()
		if err != nil {
			for i := range t.pipes[:i] {
				_, _ = t.pipes[i].ours.Close(), t.pipes[i].program.Close()
				t.pipes[i].program = nil
			}
			return fmt.Errorf("open pipe: %w", err)
		}
		p.program, p.ours = write, read
		if p.use == readsPipe {
			p.program, p.ours = read, write
		}
		t.cmd.Pipes = append(t.cmd.Pipes, p.program)
	}
	return nil
}

// movePipes moves the bytes of the pipes.
func (t *task) movePipes() {
	for _, p := range t.pipes {
		if p.use == readsPipe {
			go func() {
				_, _ = io.Copy(onlyWriter{p.ours}, &reader{s: p.stream})
				_ = p.ours.Close()
				p.stream.closeIn()
			}()
			continue
		}
		go func() {
			_, _ = io.Copy(writer{p.stream}, onlyReader{p.ours})
			p.stream.closeOut()
		}()
		go func() { // the program's writes fail when the host's reader is gone
			p.stream.stopped()
			_ = p.ours.Close()
		}()
	}
}

// onlyWriter and onlyReader hide the other methods of a file from io.Copy.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)

// closeStreams ends the streams of the command. Output that is still on the way comes first.
func (t *task) closeStreams() {
	t.stream.closeIn()
	t.stream.closeOut()
	for _, p := range t.pipes {
		if p.program == nil { // the command did not get as far
			p.stream.closeIn()
			p.stream.closeOut()
			continue
		}
		_ = p.program.Close()
		if p.use == readsPipe {
			p.stream.closeIn()
			_ = p.ours.Close()
		} else {
			_ = p.ours.SetReadDeadline(time.Now().Add(pipeWait))
		}
	}
}

// answer sends the result.
func (t *task) answer(result executor.Result, err error) error {
	m := resultMessage{
		ExitCode: result.ExitCode, Reason: result.Reason, Signal: result.Signal, Duration: result.Duration,
		Stdout: lengthsOf(result.Stdout), Stderr: lengthsOf(result.Stderr), Error: messageOf(err),
	}
	for _, part := range [][]byte{result.Stdout.Head, result.Stdout.Tail, result.Stderr.Head, result.Stderr.Tail} {
		for len(part) > 0 {
			size := min(len(part), maxData)
			if err := t.server.conn.send(kindCaptured, t.id, part[:size]); err != nil {
				return err
			}
			part = part[size:]
		}
	}
	body, err := encode(m, maxMessage)
	if err != nil {
		return err
	}
	return t.server.conn.send(kindResult, t.id, body)
}

func lengthsOf(s executor.Stream) streamLengths {
	return streamLengths{Head: len(s.Head), Tail: len(s.Tail), Dropped: s.Dropped}
}

// listen sets the functions of Command.Listen. They pass connections on to the host.
func (t *task) listen() {
	for _, port := range t.message.Listen {
		if t.cmd.Listen == nil {
			t.cmd.Listen = map[uint16]func(net.Listener){}
		}
		t.cmd.Listen[port] = func(l net.Listener) { t.serve(port, l) }
	}
}
