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
	giveUp  func() // ends the calls that are under way
	running sync.WaitGroup
	writing sync.Mutex

	mu    sync.Mutex
	calls map[string]context.CancelFunc // by the text of the id
}

// Serve answers the messages of a connection, then closes it. It stops at the end of the input,
// at the end of ctx, or at a message that breaks the framing. Messages are answered in the order
// in which they are done, the calls of a batch in their own order. $/cancelRequest {"id"} cancels the context of a
// call, which is then answered with CodeCancelled. Serve returns when all calls have ended.
// The error is nil at the end of the input.
//
// Calls that came before the end of the input are answered, because a client that has only
// finished writing still reads. The contexts of its calls end when it does not read any more:
// when a write fails or, on Linux, when conn is a syscall.Conn whose other end is closed.
//
// The client must read each write within 30 seconds, or the connection is closed. Closing conn
// should break off its reads and writes.
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
	if err = ended(ctx, err); stop() {
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
		if id, ok := cancelled(raw); ok {
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
			reply := m.answer(func(i int, call Call) (any, error) { return c.handle(open[i], call, handle) })
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

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, errCut) {
		return nil
	}
	return err
}

// openCall is a call that has begun.
type openCall struct {
	ctx    context.Context //nolint:containedctx // of the one call
	cancel context.CancelFunc
	key    string // of its id; "" for none, and where another call has it
	taken  bool   // by another call that is under way
}

// begin registers the calls of a message in the order in which they were read: a
// cancellation that comes after a call finds it.
func (c *connection) begin(ctx context.Context, m message) []openCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]openCall, len(m.calls))
	for i, call := range m.calls {
		if m.faults[i] != nil {
			continue // it is not handled
		}
		b := &all[i]
		b.ctx, b.cancel = context.WithCancel(ctx)
		if call.ID == nil || string(call.ID) == "null" {
			continue
		}
		if _, b.taken = c.calls[string(call.ID)]; !b.taken {
			b.key = string(call.ID)
			c.calls[b.key] = b.cancel
		}
	}
	return all
}

// end forgets a call.
func (c *connection) end(b openCall) {
	b.cancel()
	if b.key != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, b.key)
	}
}

// handle answers a call that can be cancelled by its id. Nothing is sent for it
// after the handler has returned.
func (c *connection) handle(b openCall, call Call, handle Handler) (any, error) {
	defer c.end(b)
	if b.taken {
		return nil, invalid("id %s: a call with it is under way", call.ID)
	}
	var telling sync.Mutex
	over := false
	notify := func(method string, params any) {
		telling.Lock()
		defer telling.Unlock()
		if text := Notification(method, params); text != nil && !over {
			c.write(text)
		}
	}
	result, err := handle(b.ctx, call, notify)
	telling.Lock()
	defer telling.Unlock()
	over = true
	return result, err
}

func (c *connection) cancel(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.calls[id]; cancel != nil {
		cancel()
	}
}

// write sends a message, or gives the connection up.
func (c *connection) write(text []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	stuck := time.AfterFunc(writeWait, func() { _ = c.conn.Close() })
	defer stuck.Stop()
	if _, err := c.conn.Write(c.framing.frame(text)); err != nil {
		c.giveUp()
	}
}
