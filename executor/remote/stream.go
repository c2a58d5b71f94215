package remote

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// stream carries bytes in one or both directions. Each direction ends once: its sender says so, by
// itself or because the receiver asked it to stop. Then no frames of the direction follow but late
// credits.
type stream struct {
	conn *conn
	id   uint32
	turn chan struct{} // holds a value while a goroutine sends data or the end

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	lost    error         // the connection has ended

	// Of the outgoing direction.
	room        int64 // bytes that may be sent
	sent, acked int64 // bytes that were sent, and those that the other side has used
	closing     bool  // closeOut was called
	outEnded    bool  // the end was sent
	outStopped  bool  // the other side takes no more
	wasStopped  bool  // the other side has said so

	// Of the incoming direction.
	buf       []byte
	store     []byte // the memory of buf
	inRoom    int64  // bytes that the other side may send
	inEnded   bool   // the other side has ended
	inStopped bool   // closeIn was called

	onEnd func() // called once when both directions have ended
}

func newStream(c *conn, id uint32, in, out bool) *stream {
	return &stream{
		conn: c, id: id, turn: make(chan struct{}, 1), changed: make(chan struct{}),
		room: window, inRoom: window, closing: !out, outEnded: !out, inEnded: !in,
	}
}

// wake wakes those who wait for a change. The caller holds s.mu.
func (s *stream) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// lose ends the stream together with its connection. Bytes that have come can still be read.
func (s *stream) lose(cause error) {
	s.mu.Lock()
	s.lost = cause
	s.wake()
	s.mu.Unlock()
	s.retire()
}

// retire removes the stream if it has ended in both directions.
func (s *stream) retire() {
	s.mu.Lock()
	over := s.lost != nil || s.inEnded && s.outEnded
	done := s.onEnd
	if over {
		s.onEnd = nil
	}
	s.mu.Unlock()
	if !over {
		return
	}
	s.conn.remove(s.id)
	if done != nil {
		done()
	}
}

// write sends bytes and waits for room where there is none. The error is io.ErrClosedPipe if the other
// side takes no more, os.ErrClosed after closeOut, and os.ErrDeadlineExceeded if expired is closed.
func (s *stream) write(p []byte, expired <-chan struct{}) (n int, err error) {
	for n < len(p) {
		size, err := s.writeSome(p[n:], expired)
		n += size
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// writeSome sends one frame of data.
func (s *stream) writeSome(p []byte, expired <-chan struct{}) (int, error) {
	for {
		select {
		case s.turn <- struct{}{}:
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		}
		s.mu.Lock()
		err, changed := s.outError(), s.changed
		size := int(min(s.room, int64(len(p)), maxData))
		if err == nil && size > 0 {
			s.room -= int64(size)
			s.sent += int64(size)
		}
		s.mu.Unlock()
		if err == nil && size > 0 {
			err = s.conn.send(kindData, s.id, p[:size])
		}
		<-s.turn
		if err != nil {
			return 0, err
		}
		if size > 0 {
			return size, nil
		}
		select {
		case <-changed:
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// outError returns why no more can be sent. The caller holds s.mu.
func (s *stream) outError() error {
	switch {
	case s.lost != nil:
		return s.lost
	case s.closing:
		return os.ErrClosed
	case s.outStopped:
		return io.ErrClosedPipe
	}
	return nil
}

// writeTaken sends bytes and waits until the other side has used them. Only one goroutine at a time may
// send.
func (s *stream) writeTaken(p []byte) (int, error) {
	s.mu.Lock()
	start := s.sent
	s.mu.Unlock()
	n, err := s.write(p, nil)
	for {
		s.mu.Lock()
		taken, over, changed := min(s.acked-start, int64(n)), s.outStopped || s.lost != nil, s.changed
		s.mu.Unlock()
		switch {
		case taken == int64(n):
			return n, err
		case over:
			return int(max(taken, 0)), io.ErrClosedPipe
		}
		<-changed
	}
}

// giveUp ends the direction as if the other side took no more.
func (s *stream) giveUp() {
	s.mu.Lock()
	s.outStopped = true
	s.wake()
	s.mu.Unlock()
	s.closeOut()
}

// closeOut sends the end. Writes that wait end with an error.
func (s *stream) closeOut() {
	s.mu.Lock()
	ended := s.closing
	s.closing = true
	if !ended {
		s.wake()
	}
	s.mu.Unlock()
	if ended {
		return
	}
	s.turn <- struct{}{}
	_ = s.conn.send(kindEnd, s.id, nil)
	<-s.turn
	s.mu.Lock()
	s.outEnded = true
	s.wake()
	s.mu.Unlock()
	s.retire()
}

// read returns bytes of the other side. The caller calls credit when it has used them. The error is
// io.EOF at the end, and os.ErrClosed after closeIn.
func (s *stream) read(p []byte, expired <-chan struct{}) (int, error) {
	for {
		s.mu.Lock()
		changed := s.changed
		switch {
		case s.inStopped:
			s.mu.Unlock()
			return 0, os.ErrClosed
		case len(s.buf) > 0:
			n := copy(p, s.buf)
			s.buf = s.buf[n:]
			if len(s.buf) == 0 {
				s.buf = s.store[:0]
			}
			s.mu.Unlock()
			return n, nil
		case s.inEnded:
			s.mu.Unlock()
			return 0, io.EOF
		case s.lost != nil:
			s.mu.Unlock()
			return 0, s.lost
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-expired:
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// credit lets the other side send n bytes more.
func (s *stream) credit(n int) {
	s.mu.Lock()
	useless := n == 0 || s.lost != nil || s.inStopped
	if !useless {
		s.inRoom += int64(n)
	}
	s.mu.Unlock()
	if !useless {
		_ = s.conn.sendNumber(kindCredit, s.id, uint32(n))
	}
}

// closeIn asks the other side to send no more, and drops what came.
func (s *stream) closeIn() {
	s.mu.Lock()
	useless := s.inEnded || s.inStopped || s.lost != nil
	s.inStopped, s.buf, s.store = true, nil, nil
	s.wake()
	s.mu.Unlock()
	if !useless {
		_ = s.conn.send(kindStop, s.id, nil)
	}
}

// stopped waits until the other side takes no more, or this direction or the connection has ended.
func (s *stream) stopped() {
	for {
		s.mu.Lock()
		over, changed := s.outStopped || s.closing || s.lost != nil, s.changed
		s.mu.Unlock()
		if over {
			return
		}
		<-changed
	}
}

// atEnd sets a function that is called when both directions have ended, or at once if they have.
func (s *stream) atEnd(call func()) {
	s.mu.Lock()
	s.onEnd = call
	s.mu.Unlock()
	s.retire()
}

// hasInput reports whether the other side has not ended.
func (s *stream) hasInput() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.inEnded && s.lost == nil
}

// ended waits until both directions or the connection have ended.
func (s *stream) ended() {
	for {
		s.mu.Lock()
		over, changed := s.inEnded && s.outEnded || s.lost != nil, s.changed
		s.mu.Unlock()
		if over {
			return
		}
		<-changed
	}
}

// takeData keeps bytes that the other side has sent.
func (s *stream) takeData(p []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inEnded {
		return fmt.Errorf("%w: data after the end of stream %d", errProtocol, s.id)
	}
	if s.inRoom -= int64(len(p)); s.inRoom < 0 {
		return fmt.Errorf("%w: more than %d bytes on the way of stream %d", errProtocol, window, s.id)
	}
	if s.inStopped || s.lost != nil {
		return nil
	}
	if size := len(s.buf) + len(p); size > cap(s.store) {
		s.store = make([]byte, 0, min(window, max(2*size, maxData)))
		s.buf = append(s.store, s.buf...)
	} else if size > cap(s.buf) { // the beginning of the memory is free
		s.buf = append(s.store, s.buf...)
	}
	s.buf = append(s.buf, p...)
	s.wake()
	return nil
}

func (s *stream) takeEnd() error {
	s.mu.Lock()
	if s.inEnded {
		s.mu.Unlock()
		return fmt.Errorf("%w: stream %d ends twice", errProtocol, s.id)
	}
	s.inEnded = true
	s.wake()
	s.mu.Unlock()
	s.retire()
	return nil
}

func (s *stream) takeCredit(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room += n
	s.acked += n
	if s.room > window || n == 0 {
		return fmt.Errorf("%w: more credit for stream %d than was used", errProtocol, s.id)
	}
	s.wake()
	return nil
}

func (s *stream) takeStop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wasStopped {
		return fmt.Errorf("%w: stream %d is stopped twice", errProtocol, s.id)
	}
	s.wasStopped, s.outStopped = true, true
	s.wake()
	return nil
}

// reader is the incoming direction of a stream as an io.Reader. A Read gives credit for what the
// Read before it returned, because the caller has used that.
type reader struct {
	s    *stream
	used int
}

func (r *reader) Read(p []byte) (int, error) {
	r.s.credit(r.used)
	n, err := r.s.read(p, nil)
	r.used = n
	return n, err
}

// writer is the outgoing direction of a stream as an io.Writer.
type writer struct{ *stream }

func (w writer) Write(p []byte) (int, error) { return w.write(p, nil) }
