package remote

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// listener is a port on which a sandbox listens. The functions of Command.Listen get it.
type listener struct {
	port uint16

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when waiting or closed changes
	closed  bool
	waiting []*portConn // for Accept
	open    map[*portConn]bool
}

var _ net.Listener = (*listener)(nil)

func newListener(port uint16) *listener {
	return &listener{port: port, changed: make(chan struct{}), open: map[*portConn]bool{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.Addr(), Err: net.ErrClosed}
		}
		if len(l.waiting) > 0 {
			c := l.waiting[0]
			l.waiting = l.waiting[1:]
			l.mu.Unlock()
			return c, nil
		}
		changed := l.changed
		l.mu.Unlock()
		<-changed
	}
}

// Close implements net.Listener. It closes the connections that wait for Accept.
func (l *listener) Close() error {
	l.mu.Lock()
	waiting := l.waiting
	l.waiting, l.closed = nil, true
	l.wake()
	l.mu.Unlock()
	for _, c := range waiting {
		_ = c.Close()
	}
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return address(l.port) }

// wake wakes those who wait in Accept. The caller holds l.mu.
func (l *listener) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// add adds a connection. It reports false if there are too many.
func (l *listener) add(c *portConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= maxConns {
		return false
	}
	l.open[c] = true
	if l.closed {
		go func() { _ = c.Close() }()
		return true
	}
	l.waiting = append(l.waiting, c)
	l.wake()
	return true
}

// forget forgets a connection that has ended.
func (l *listener) forget(c *portConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// end ends a listener whose command has ended. What has come can still be read from its connections.
func (l *listener) end() {
	_ = l.Close()
	l.mu.Lock()
	var left []*portConn
	for c := range l.open {
		left = append(left, c)
	}
	l.mu.Unlock()
	for _, c := range left {
		c.s.giveUp()
	}
}

// address is the address of a port of a sandbox.
func address(port uint16) net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(port)}
}

// takeListen calls the function of a port.
func (c *command) takeListen(port uint16) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	serve := c.cmd.Listen[port]
	if c.over {
		return nil // the connection has ended
	}
	if serve == nil || c.listeners[port] != nil {
		return fmt.Errorf("%w: a listener on port %d", errProtocol, port)
	}
	l := newListener(port)
	c.listeners[port] = l
	c.serving.Go(func() { serve(l) })
	return nil
}

// takeAccept passes a connection to the listener of its port.
func (c *command) takeAccept(id uint32, m acceptMessage) error {
	c.mu.Lock()
	l := c.listeners[m.Port]
	c.mu.Unlock()
	if l == nil {
		return fmt.Errorf("%w: a connection to port %d", errProtocol, m.Port)
	}
	p := newPortConn(l, m.From)
	s, err := c.runner.conn.accept(byRunner, id, true, true)
	if err != nil {
		return err
	}
	p.s = s
	if !l.add(p) {
		return fmt.Errorf("%w: more than %d connections to port %d", errProtocol, maxConns, m.Port)
	}
	s.atEnd(func() { l.forget(p) })
	return nil
}

// endPorts closes the listeners, and waits up to serveWait for the functions that serve them to return.
func (c *command) endPorts() {
	c.mu.Lock()
	c.over = true
	var all []*listener
	for _, l := range c.listeners {
		all = append(all, l)
	}
	c.mu.Unlock()
	if len(all) == 0 {
		return
	}
	for _, l := range all {
		l.end()
	}
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		c.serving.Wait()
	}()
	timer := time.NewTimer(serveWait)
	defer timer.Stop()
	select {
	case <-returned:
	case <-timer.C:
	}
}
