package executor

import (
	"cmp"
	"fmt"
	"os"
	"sync"
)

// The size of a terminal for which none is asked.
const (
	defaultRows = 24
	defaultCols = 80
)

// endOfInput is the key that ends the input of a program that reads lines. In
// the middle of a line it only sends what there is of it.
const endOfInput = 4 // ^D

// tty is the host's end of the terminal of a command. It is at its end, with an
// error, when no process has the other end any more.
type tty struct {
	*os.File

	mu    sync.Mutex
	last  byte // that was written
	ended bool
}

// terminal opens the command's terminal, which is its three streams.
func (r *running) terminal(rows, cols uint16) (ends [3]*os.File, err error) {
	ours, theirs, err := openTerminal(cmp.Or(rows, defaultRows), cmp.Or(cols, defaultCols))
	if err != nil {
		return ends, fmt.Errorf("%w: %w", ErrNoTTY, err)
	}
	r.tty = &tty{File: ours, last: '\n'}
	r.stdin, r.stdout = ours, ours
	return [3]*os.File{theirs, theirs, theirs}, nil
}

// Read asks twice before it says that this is the end: Linux can say so once
// before what was written last has passed through the terminal.
func (t *tty) Read(p []byte) (int, error) {
	n, err := t.File.Read(p)
	if n == 0 && err != nil {
		n, err = t.File.Read(p)
	}
	return n, err
}

// Write types. The lock is not held meanwhile: a command that does not read
// keeps a writer waiting, and must not keep others from ending the input.
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

// end types the end of the input.
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
