package remote

import (
	"io"
	"os"
	"time"
)

// commandPipe is one of Command.Pipes on the host's side.
type commandPipe struct {
	file   *os.File // a copy of the program's end
	use    byte
	stream *stream
}

// move moves the bytes of the pipe until it has ended.
func (p commandPipe) move() {
	if p.use == writesPipe {
		_, _ = io.Copy(onlyWriter{p.file}, &reader{s: p.stream})
		_ = p.file.Close()
		p.stream.closeIn()
		return
	}
	go func() { // the other end's writes fail when the program reads no more
		p.stream.stopped()
		_ = p.file.Close()
	}()
	_, _ = io.Copy(writer{p.stream}, onlyReader{p.file})
	p.stream.closeOut()
}

// end ends the pipe of a command that has ended. What the program wrote may still move for a while.
func (p commandPipe) end() {
	if p.use == writesPipe {
		_ = p.file.SetWriteDeadline(time.Now().Add(pipeWait))
		return
	}
	p.stream.giveUp()
}

// awaitPipes waits until the pipes have moved all, but no longer than pipeWait.
func (c *command) awaitPipes() {
	if len(c.pipes) == 0 {
		return
	}
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		c.moving.Wait()
	}()
	timer := time.NewTimer(pipeWait)
	defer timer.Stop()
	select {
	case <-moved:
	case <-timer.C:
	}
}

// closePipes closes the pipes of a command that was not sent.
func (c *command) closePipes() {
	for _, p := range c.pipes {
		_ = p.file.Close()
	}
}
