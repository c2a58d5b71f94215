package jsonrpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// connection is the state of a served connection.
type connection struct {
	conn    io.ReadWriteCloser
	framing *Framing
	giveUp  func() // cancels all calls and closes conn
	running sync.WaitGroup
	writing sync.Mutex // held during a write to conn

	mu    sync.Mutex
	calls map[string]context.CancelFunc // by the text of the id
}

// Serve answers the messages of a connection, then closes it. It reads until the end of the input
// or of ctx, or until a message that breaks the framing. Each message is answered when its calls
// have ended; those of a batch run in their order. $/cancelRequest {"id"} cancels the context of a
// call, which is then answered with CodeCancelled. Serve returns when all calls have ended. The
// error is nil at the end of the input.
//
// Calls that came before the end of the input are answered, because a client that has only
// finished writing still reads. Serve cancels all calls when the client stops reading: when a
// write fails or, on Linux, when conn is a syscall.Conn whose other end is closed.
//
// If the client does not read an answer within 30 seconds, Serve closes the connection. Closing
// conn should interrupt its reads and writes.
func Serve(ctx context.Context, conn io.ReadWriteCloser, handle Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &connection{conn: conn, giveUp: cancel, calls: make(map[string]context.CancelFunc)}
	defer c.running.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := c.read(ctx, handle)
	if errors.Is(err, ErrTooLong) || errors.Is(err, errFrame) {
		text, _ := answer{Error: invalid("%v", err)}.encode(MaxMessage)
		c.write(text)
	}
	c.finish(ctx)
	if err = withoutEnd(ctx, err); stop() {
		_ = conn.Close()
	}
	return err
}

// read answers messages until there are no more.
func (c *connection) read(ctx context.Context, handle Handler) (err error) {
	if c.framing, err = NewFraming(c.conn); err != nil {
		return err
	}
	slots := make(chan struct{}, MaxInFlight)
	for {
		raw, err := c.framing.Read()
		if err != nil {
			return err
		}
		if id, ok := parseCancel(raw); ok {
			c.cancel(id)
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		m := parse(raw)
		open := c.begin(ctx, m)
		c.running.Go(func() {
			defer func() { <-slots }()
			reply := m.answer(func(i int, call Call) (any, error) { return c.handle(&open[i], call, handle) })
			for i := range open {
				c.end(&open[i]) // also the calls that were not made, for want of room
			}
			if len(reply.Text) > 0 {
				c.write(reply.Text)
			}
		})
	}
}

// finish waits for the running calls while the client reads their answers.
func (c *connection) finish(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.running.Wait()
	}()
	ticker := time.NewTicker(goneEvery)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
			if HungUp(c.conn) {
				c.giveUp()
				return
			}
		}
	}
}

// withoutEnd returns nil for an error that only means the end of ctx or of the input.
func withoutEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, errCut) {
		return nil
	}
	return err
}

// openCall is a call that has begun.
type openCall struct {
	ctx         context.Context    //nolint:containedctx // of the one call
	cancel      context.CancelFunc // nil if the call is invalid or has ended
	key         string             // of connection.calls; "" for a notification or a duplicate
	isDuplicate bool               // another running call has the same id
}

// begin registers the calls of a message. The reader calls it before it reads the next message, so
// that a later $/cancelRequest finds them.
func (c *connection) begin(ctx context.Context, m message) []openCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]openCall, len(m.calls))
	for i, call := range m.calls {
		if m.faults[i] != nil {
			continue // its answer is the fault
		}
		b := &all[i]
		b.ctx, b.cancel = context.WithCancel(ctx)
		if call.ID == nil || string(call.ID) == "null" {
			continue
		}
		if _, b.isDuplicate = c.calls[string(call.ID)]; !b.isDuplicate {
			b.key = string(call.ID)
			c.calls[b.key] = b.cancel
		}
	}
	return all
}

// end frees the id and the context of a call, once.
func (c *connection) end(b *openCall) {
	if b.cancel == nil {
		return
	}
	b.cancel()
	b.cancel = nil
	if b.key != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, b.key)
	}
}

// handle answers a call. Its notifications are dropped after the handler has returned.
func (c *connection) handle(b *openCall, call Call, handle Handler) (any, error) {
	defer c.end(b)
	if b.isDuplicate {
		return nil, invalid("id %s: a call with it is under way", call.ID)
	}
	var mu sync.Mutex
	hasReturned := false
	notify := func(method string, params any) {
		mu.Lock()
		defer mu.Unlock()
		if text := Notification(method, params); text != nil && !hasReturned {
			c.write(text)
		}
	}
	result, err := handle(b.ctx, call, notify)
	mu.Lock()
	defer mu.Unlock()
	hasReturned = true
	return result, err
}

// cancel cancels the running call with that id, if there is one.
func (c *connection) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.calls[id]; cancel != nil {
		cancel()
	}
}

// write sends a message. If that fails or takes longer than writeWait, it gives up the connection.
func (c *connection) write(text []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	timer := time.AfterFunc(writeWait, func() { _ = c.conn.Close() })
	defer timer.Stop()
	if _, err := c.conn.Write(c.framing.frame(text)); err != nil {
		c.giveUp()
	}
}
