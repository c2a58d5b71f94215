package remote

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// serve accepts the connections to a port and passes them on to the host. It returns when the listener
// is closed and what the program has sent is on its way to the host.
func (t *task) serve(port uint16, l net.Listener) {
	if t.server.conn.send(kindListen, t.id, binary.BigEndian.AppendUint16(nil, port)) != nil {
		return
	}
	var sending sync.WaitGroup
	defer sending.Wait()
	free := make(chan struct{}, maxConns)
	for {
		free <- struct{}{}
		c, err := l.Accept()
		if err != nil {
			return
		}
		s := t.accept(port, c)
		if s == nil {
			_ = c.Close()
			return
		}
		received := make(chan struct{})
		go func() {
			defer close(received)
			receive(c, s)
		}()
		sending.Go(func() { send(c, s) })
		go func() {
			<-received
			s.ended()
			_ = c.Close()
			<-free
		}()
	}
}

// accept opens a stream for a connection. It returns nil if the command has ended.
func (t *task) accept(port uint16, c net.Conn) *stream {
	s := t.server
	m := acceptMessage{Command: t.id, Port: port}
	if from, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		m.From = uint16(from.Port)
	}
	body, err := encode(m, maxMessage)
	if err != nil {
		return nil
	}
	t.answering.Lock()
	defer t.answering.Unlock()
	if t.answered {
		return nil
	}
	s.accepting.Lock()
	defer s.accepting.Unlock()
	stream, err := s.conn.open(byRunner, true, true)
	if err != nil || s.conn.send(kindAccept, stream.id, body) != nil {
		return nil
	}
	return stream
}

// receive passes bytes of the host on to the program.
func receive(c net.Conn, s *stream) {
	_, err := io.Copy(onlyWriter{c}, &reader{s: s})
	if half, ok := c.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil { // the program takes no more
		s.closeIn()
	}
}

// send passes bytes of the program on to the host.
func send(c net.Conn, s *stream) {
	go func() {
		s.stopped()
		_ = c.SetReadDeadline(time.Now()) // the host takes no more
	}()
	_, _ = io.Copy(writer{s}, onlyReader{c})
	s.closeOut()
}
