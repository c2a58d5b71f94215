package terminal

import (
	"bytes"
	"fmt"
)

// input is the input that the process has not read yet. A goroutine passes it on, because a
// process that does not read blocks the write.
type input struct {
	queue   []byte
	eof     bool // after the queue; nothing may follow
	feeding bool
}

// endOfInput is the key ^D. A program on a terminal takes it for the end of its input at the
// beginning of a line. In the middle of a line it needs two.
const endOfInput = "\x04"

// Write queues text for the process. If eof is set, the input ends after it. Write does not wait
// until the process reads the text. On a terminal the end is a key, and more input may follow for
// the next reader. The error wraps ErrEnded or ErrInput, and then Write has queued nothing.
func (s *Session) Write(text []byte, eof bool) error {
	if eof && s.tty {
		if text, eof = append(bytes.Clone(text), endOfInput...), false; len(text) > 1 && !bytes.ContainsAny(text[len(text)-2:], "\r\n") {
			text = append(text, endOfInput...)
		}
	}
	if len(text) == 0 && !eof {
		return nil // answers nothing
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.input.eof:
		return ErrEnded
	case len(s.input.queue)+len(text) > maxInput:
		return fmt.Errorf("%w: the command has not read the last %d bytes", ErrInput, len(s.input.queue))
	}
	s.out.answer()
	s.input.queue = append(s.input.queue, text...)
	s.input.eof = eof
	if !s.input.feeding {
		s.input.feeding = true
		s.feeding.Go(s.feed)
	}
	return nil
}

// feed writes the queue to the process until the queue is empty.
func (s *Session) feed() {
	for {
		s.mu.Lock()
		text, eof := s.input.queue, s.input.eof
		s.input.queue = nil
		if s.input.feeding = len(text) > 0; !s.input.feeding {
			s.mu.Unlock()
			if eof {
				_ = s.proc.CloseInput() // fails only if there is no reader
			}
			return
		}
		s.mu.Unlock()
		if _, err := s.proc.Write(text); err != nil {
			s.mu.Lock()
			s.input = input{eof: true}
			s.mu.Unlock()
			return
		}
	}
}

// endInput rejects further input and waits for feed, after the process has ended.
func (s *Session) endInput() {
	s.mu.Lock()
	s.input.queue, s.input.eof = nil, true
	s.mu.Unlock()
	s.feeding.Wait()
}
