package remote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// Serve is the runner's side of a connection. It runs the commands of the host side by side, with the
// executor that open returns. It calls open once, and closes the executor if that is an io.Closer.
//
// Serve returns when the connection or ctx has ended, and closes rw. It has killed all commands then.
// The error is nil if the host closed the connection.
func Serve(ctx context.Context, rw io.ReadWriteCloser, open func() (executor.Executor, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{ctx: ctx, opened: make(chan struct{}), tasks: map[uint32]*task{}}
	s.conn = newConn(rw, s.take)
	s.conn.serve() // the end of the host is noticed while the executor is opened
	go func() {
		defer close(s.opened)
		s.executor, s.openErr = open()
	}()
	select {
	case <-s.conn.ended:
	case <-ctx.Done():
		s.conn.fail(ctx.Err())
	}
	cancel()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.running.Wait()
	<-s.opened
	err := s.openErr
	if closer, ok := s.executor.(io.Closer); ok && err == nil {
		err = closer.Close()
	}
	if errors.Is(s.conn.cause, io.EOF) {
		return err
	}
	return errors.Join(s.conn.cause, err)
}

// server is the runner's side of a connection.
type server struct {
	ctx  context.Context
	conn *conn

	opened   chan struct{} // closed when executor or openErr is set
	executor executor.Executor
	openErr  error

	mu       sync.Mutex
	greeted  bool // the hello of the host came
	answered bool // the hello was answered: commands may come
	over     bool // no more commands are started
	tasks    map[uint32]*task
	finding  int
	running  sync.WaitGroup // of goroutines that work for a frame

	accepting sync.Mutex // held while a stream of this side is opened
}

// take handles a frame of the host. It waits for nothing.
func (s *server) take(f frame) error {
	switch f.kind {
	case kindHello:
		return s.takeHello(f)
	case kindRun:
		return s.takeRun(f)
	case kindKill, kindResize:
		return s.takeOfTask(f)
	case kindFind:
		return s.takeFind(f)
	}
	return fmt.Errorf("%w: a host sends no frames of kind %d", errProtocol, f.kind)
}

// background runs work in a goroutine that Serve waits for, unless Serve ends already.
func (s *server) background(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.running.Go(work)
	}
}

func (s *server) takeHello(f frame) error {
	hello, err := decode[helloMessage](f.body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	again := s.greeted
	s.greeted = true
	s.mu.Unlock()
	if again || f.stream != 0 || len(hello.Paths) > maxVerify {
		return fmt.Errorf("%w: a hello that cannot be", errProtocol)
	}
	s.background(func() {
		select {
		case <-s.opened:
		case <-s.ctx.Done():
			return
		}
		s.answerHello(hello)
	})
	return nil
}

func (s *server) answerHello(hello helloMessage) { s.sendHello(s.answerTo(hello)) }

// answerTo returns the answer to the host's hello.
func (s *server) answerTo(hello helloMessage) helloAnswer {
	answer := helloAnswer{Version: version}
	switch {
	case s.openErr != nil:
		answer.Error = cut(s.openErr.Error())
	case hello.Version == version:
		answer.Capabilities = boundCapabilities(s.executor.Capabilities())
		for _, path := range hello.Paths {
			seen := see(string(path))
			seen.HasMark = seen.Error == "" && hasMark(string(path), hello.Mark)
			answer.Seen = append(answer.Seen, seen)
		}
		s.mu.Lock()
		s.answered = true
		s.mu.Unlock()
	}
	return answer
}

func (s *server) sendHello(answer helloAnswer) {
	body, err := encode(answer, maxMessage)
	if err != nil {
		s.conn.fail(fmt.Errorf("answer the host's hello: %w", err))
		return
	}
	_ = s.conn.send(kindHello, 0, body)
}

// takeOfTask handles a frame for one command. A late frame is ignored.
func (s *server) takeOfTask(f frame) error {
	s.mu.Lock()
	t := s.tasks[f.stream]
	s.mu.Unlock()
	switch {
	case t == nil && !s.conn.wasOpened(f.stream):
		return fmt.Errorf("%w: stream %d is no command", errProtocol, f.stream)
	case t == nil:
	case f.kind == kindKill:
		t.cancel()
	default:
		t.resize(binary.BigEndian.Uint16(f.body), binary.BigEndian.Uint16(f.body[2:]))
	}
	return nil
}

// takeRun starts a command.
func (s *server) takeRun(f frame) error {
	m, err := decode[runMessage](f.body)
	if err != nil {
		return err
	}
	cmd, err := commandOf(m)
	if err != nil {
		return err
	}
	s.mu.Lock()
	ready, many := s.answered, len(s.tasks) >= maxCommands
	s.mu.Unlock()
	if !ready || many {
		return fmt.Errorf("%w: a command before the hello, or more than %d", errProtocol, maxCommands)
	}
	t := &task{server: s, id: f.stream, cmd: cmd, message: m}
	t.ctx, t.cancel = context.WithCancel(s.ctx)
	if t.stream, err = s.conn.accept(byHost, f.stream, m.Stdin || m.Terminal != nil, m.Terminal != nil); err != nil {
		return err
	}
	for i, use := range m.Pipes {
		pipe, err := s.conn.accept(byHost, f.stream+1+uint32(i), use == readsPipe, use == writesPipe)
		if err != nil {
			return err
		}
		t.pipes = append(t.pipes, taskPipe{stream: pipe, use: use})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	s.tasks[f.stream] = t
	s.running.Go(t.run)
	return nil
}

// commandOf returns the command of a message, without what needs descriptors.
func commandOf(m runMessage) (executor.Command, error) {
	args, err := parted(m.Args)
	if err != nil {
		return executor.Command{}, err
	}
	env, err := parted(m.Env)
	if err != nil {
		return executor.Command{}, err
	}
	for _, use := range m.Pipes {
		if use != readsPipe && use != writesPipe {
			return executor.Command{}, fmt.Errorf("%w: a pipe for %q", errProtocol, use)
		}
	}
	cmd := executor.Command{
		Args: args, Env: env, Limits: m.Limits,
		Workspace: string(m.Workspace), Dir: string(m.Dir), Skills: string(m.Skills),
		Writable: toStrings(m.Writable), Parts: toStrings(m.Parts),
	}
	for name, value := range m.Secrets {
		if cmd.Secrets == nil {
			cmd.Secrets = map[string]string{}
		}
		cmd.Secrets[name] = string(value)
	}
	if len(m.Pipes) > maxFiles || len(m.Listen) > maxFiles || m.Terminal != nil && m.Stdin {
		return executor.Command{}, fmt.Errorf("%w: a command that cannot be", errProtocol)
	}
	return cmd, nil
}

// takeFind looks for a program.
func (s *server) takeFind(f frame) error {
	m, err := decode[findMessage](f.body)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.finding++
	bad := !s.answered || s.finding > maxCommands
	s.mu.Unlock()
	if bad {
		return fmt.Errorf("%w: a search before the hello, or more than %d", errProtocol, maxCommands)
	}
	if _, err := s.conn.accept(byHost, f.stream, false, false); err != nil {
		return err
	}
	s.background(func() {
		found := find(string(m.Name), string(m.Path))
		s.mu.Lock()
		s.finding--
		s.mu.Unlock()
		if body, err := encode(found, maxMessage); err == nil {
			_ = s.conn.send(kindFound, f.stream, body)
		} else {
			s.conn.fail(err)
		}
	})
	return nil
}

// find looks for a program as the executors do.
func find(name, path string) foundMessage {
	at, err := lookpath.Find(name, path)
	if err != nil {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return foundMessage{At: []byte(at), Error: messageOf(err)}
}
