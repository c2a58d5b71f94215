package remote

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// errSilent is the cause if the other side gives no sign of life.
var errSilent = fmt.Errorf("no sign of life for %v", silence)

// ofRunner is the bit of the numbers of streams that the runner opens.
const ofRunner = 1 << 31

// conn is one side of a connection. Three goroutines belong to it: one reads frames and never
// writes, one gives signs of life, and one looks for those of the other side.
type conn struct {
	rw     io.ReadWriteCloser
	handle func(frame) error // for frames that are not about streams; its error ends the connection

	writing chan struct{} // holds a value while a goroutine writes
	out     []byte        // the frame that is written
	start   time.Time
	heard   atomic.Int64 // when the last frame came, as a duration since start
	blocked atomic.Int64 // since when a write takes, or 0

	once   sync.Once
	cause  error
	ended  chan struct{} // closed when the connection has ended; cause is set
	closed chan struct{} // closed when rw is closed too

	mu      sync.Mutex
	streams map[uint32]*stream
	last    [2]uint32 // the last streams that the host and the runner opened
}

// newConn returns a connection that reads nothing before serve.
func newConn(rw io.ReadWriteCloser, handle func(frame) error) *conn {
	return &conn{
		rw: rw, handle: handle, writing: make(chan struct{}, 1), start: time.Now(),
		ended: make(chan struct{}), closed: make(chan struct{}), streams: map[uint32]*stream{},
		last: [2]uint32{0, ofRunner},
	}
}

// serve starts the goroutines of the connection.
func (c *conn) serve() {
	c.heard.Store(int64(time.Since(c.start)))
	go c.read()
	go c.beat()
	go c.watch()
}

// fail ends the connection. Only the first cause counts.
func (c *conn) fail(cause error) {
	c.once.Do(func() {
		c.cause = causeOf(cause)
		close(c.ended)
		c.mu.Lock()
		left := c.streams
		c.streams = map[uint32]*stream{}
		c.mu.Unlock()
		for _, s := range left {
			s.lose(c.cause)
		}
		go func() {
			defer close(c.closed)
			_ = c.rw.Close()
		}()
	})
}

// isEnded reports whether the connection has ended.
func (c *conn) isEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// send writes a frame. If that fails, the connection has ended.
func (c *conn) send(k kind, stream uint32, body []byte) error {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-c.ended:
	}
	if c.isEnded() {
		return c.cause
	}
	c.blocked.Store(int64(time.Since(c.start)) | 1)
	c.out = appendFrame(c.out[:0], k, stream, body)
	_, err := c.rw.Write(c.out)
	c.blocked.Store(0)
	if cap(c.out) > 2*maxData {
		c.out = nil // a large frame is rare
	}
	if err != nil {
		c.fail(err)
		return c.cause
	}
	return nil
}

// sendNumber writes a frame whose body is a number.
func (c *conn) sendNumber(k kind, stream, number uint32) error {
	return c.send(k, stream, binary.BigEndian.AppendUint32(nil, number))
}

// read reads frames until the connection ends.
func (c *conn) read() {
	r := frameReader{from: bufio.NewReaderSize(c.rw, maxData)}
	for {
		f, err := r.next()
		if err == nil {
			c.heard.Store(int64(time.Since(c.start)))
			err = c.take(f)
		}
		if err != nil {
			c.fail(err)
			return
		}
		if c.isEnded() {
			return
		}
	}
}

// take handles a frame. It waits for nothing.
func (c *conn) take(f frame) error {
	switch f.kind {
	case kindBeat:
		return nil
	case kindData, kindEnd, kindCredit, kindStop:
		return c.takeOfStream(f)
	}
	return c.handle(f)
}

func (c *conn) takeOfStream(f frame) error {
	c.mu.Lock()
	s, past := c.streams[f.stream], c.isPast(f.stream)
	c.mu.Unlock()
	if s == nil {
		if past && (f.kind == kindCredit || f.kind == kindStop) {
			return nil // it crossed the end of the stream
		}
		if c.isEnded() {
			return c.cause
		}
		return fmt.Errorf("%w: a frame of kind %d for stream %d, which is not open", errProtocol, f.kind, f.stream)
	}
	switch f.kind {
	case kindData:
		return s.takeData(f.body)
	case kindEnd:
		return s.takeEnd()
	case kindCredit:
		return s.takeCredit(int64(binary.BigEndian.Uint32(f.body)))
	}
	return s.takeStop()
}

// isPast reports whether a stream was opened some time. The caller holds c.mu.
func (c *conn) isPast(id uint32) bool {
	if id&ofRunner != 0 {
		return id <= c.last[1]
	}
	return id > 0 && id <= c.last[0]
}

// wasOpened reports whether a stream was opened some time.
func (c *conn) wasOpened(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isPast(id)
}

// byHost and byRunner name the side that opens a stream.
const byHost, byRunner = 0, 1

// accept adds a stream that the other side has opened. Its number must be the next one. in and out
// say which directions it has.
func (c *conn) accept(by int, id uint32, in, out bool) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := &c.last[by]
	if id != *last+1 || id&^ofRunner == 0 {
		return nil, fmt.Errorf("%w: stream %d is opened after %d", errProtocol, id, *last)
	}
	*last = id
	return c.add(id, in, out), nil
}

// open adds a stream of this side. The caller sends the frame that opens it before anything else of
// this stream or a later one.
func (c *conn) open(by int, in, out bool) (*stream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.last[by] + 1; next&^ofRunner == 0 {
		return nil, errors.New("the runner has run out of numbers for streams")
	}
	c.last[by]++
	return c.add(c.last[by], in, out), nil
}

// add adds a stream with these directions. The caller holds c.mu.
func (c *conn) add(id uint32, in, out bool) *stream {
	s := newStream(c, id, in, out)
	if c.isEnded() {
		s.lost = c.cause
		return s
	}
	if in || out {
		c.streams[id] = s
	}
	return s
}

// remove removes a stream that has ended in both directions.
func (c *conn) remove(id uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, id)
}

// beat gives signs of life.
func (c *conn) beat() {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-ticker.C:
			_ = c.send(kindBeat, 0, nil)
		}
	}
}

// watch ends the connection if the other side gives no sign of life, or takes nothing.
func (c *conn) watch() {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-c.ended:
			return
		case <-ticker.C:
			now := time.Since(c.start)
			since := c.blocked.Load()
			if now-time.Duration(c.heard.Load()) >= silence || since != 0 && now-time.Duration(since) >= silence {
				c.fail(errSilent)
				return
			}
		}
	}
}
