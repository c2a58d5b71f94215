package process

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
)

// endOfInput is the key that ends the input of a program that reads lines. In the middle of a line
// it only sends the line so far.
const endOfInput = 4 // ^D

// tty is the host's end of a command's terminal. A Read fails when no process has the other end
// open.
type tty struct {
	*os.File

	mu    sync.Mutex
	last  byte // last byte that was written
	ended bool // end was called
}

// terminal opens the command's terminal, which serves as all three streams.
func (p *process) terminal(rows, cols uint16) (ends [3]*os.File, err error) {
	ours, theirs, err := openTerminal(cmp.Or(rows, defaultRows), cmp.Or(cols, defaultCols))
	if err != nil {
		return ends, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	p.tty = &tty{File: ours, last: '\n'}
	p.stdin, p.stdout = ours, ours
	return [3]*os.File{theirs, theirs, theirs}, nil
}

// Read implements io.Reader. It tries once more before it reports the end: Linux can report the end
// once before the last bytes have passed through the terminal.
func (t *tty) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	if n == 0 && err != nil {
		n, err = t.File.Read(p)
	}
	return n, err
}

// Write implements io.Writer. It does not hold the lock while it writes: a write waits while the
// command does not read, and others must be able to end the input meanwhile.
func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	ended := t.ended
	if len(p) > 0 {
		t.last = p[len(p)-1]
	}
	t.mu.Unlock()
	if ended {
		return 0, os.ErrClosed
	}
	return t.File.Write(p)
}

// end sends the key that ends the input.
func (t *tty) end() error {
	t.mu.Lock()
	ended, last := t.ended, t.last
	t.ended = true
	t.mu.Unlock()
	if ended {
		return nil
	}
	keys := []byte{endOfInput}
	if last != '\n' && last != '\r' {
		keys = append(keys, endOfInput)
	}
	_, err := t.File.Write(keys)
	return err
}
