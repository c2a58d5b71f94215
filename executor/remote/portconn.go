package remote

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// portConn is a connection to a port of a sandbox, on the host's side.
type portConn struct {
	l       *listener
	from    uint16 // the port of the program's end
	s       *stream
	reading sync.Mutex
	used    int // bytes that the last Read returned
	read    deadline
	write   deadline
}

var _ net.Conn = (*portConn)(nil)

func newPortConn(l *listener, from uint16) *portConn {
	return &portConn{l: l, from: from, read: newDeadline(), write: newDeadline()}
}

// Read implements net.Conn.
func (c *portConn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.s.credit(c.used)
	c.used = 0
	if len(p) == 0 {
		return 0, nil
	}
	expired := c.read.passed()
	select {
	case <-expired:
		return 0, c.fault("read", os.ErrDeadlineExceeded)
	default:
	}
	n, err := c.s.read(p, expired)
	c.used = n
	if err != nil && !errors.Is(err, io.EOF) {
		return n, c.fault("read", err)
	}
	return n, err
}

// Write implements net.Conn.
func (c *portConn) Write(p []byte) (int, error) {
	expired := c.write.passed()
	select {
	case <-expired:
		return 0, c.fault("write", os.ErrDeadlineExceeded)
	default:
	}
	n, err := c.s.write(p, expired)
	if err != nil {
		return n, c.fault("write", err)
	}
	return n, nil
}

// fault returns an error as a TCP connection has it.
func (c *portConn) fault(op string, err error) error {
	switch {
	case errors.Is(err, os.ErrClosed):
		err = net.ErrClosed
	case errors.Is(err, io.ErrClosedPipe):
		err = syscall.EPIPE
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}

// CloseWrite ends the outgoing direction.
func (c *portConn) CloseWrite() error {
	c.s.closeOut()
	return nil
}

// Close implements net.Conn.
func (c *portConn) Close() error {
	c.s.closeOut()
	c.s.closeIn()
	return nil
}

// LocalAddr implements net.Conn.
func (c *portConn) LocalAddr() net.Addr { return address(c.l.port) }

// RemoteAddr implements net.Conn.
func (c *portConn) RemoteAddr() net.Addr { return address(c.from) }

// SetDeadline implements net.Conn.
func (c *portConn) SetDeadline(t time.Time) error {
	c.read.set(t)
	c.write.set(t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *portConn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *portConn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return nil
}

// deadline is the deadline of one direction.
type deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	over  chan struct{} // closed when the deadline has passed
}

func newDeadline() deadline { return deadline{over: make(chan struct{})} }

// passed returns a channel that is closed when the deadline has passed.
func (d *deadline) passed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// set sets the deadline. The zero value of t means none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.over // the timer's function closes it
	}
	d.timer = nil
	passed := false
	select {
	case <-d.over:
		passed = true
	default:
	}
	wait := time.Until(t)
	switch {
	case t.IsZero() || wait > 0:
		if passed {
			d.over = make(chan struct{})
		}
		if !t.IsZero() {
			over := d.over
			d.timer = time.AfterFunc(wait, func() { close(over) })
		}
	case !passed:
		close(d.over)
	}
}
