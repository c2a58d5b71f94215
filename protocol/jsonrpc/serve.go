package jsonrpc

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// MaxInFlight is how many messages of a connection are answered at once. While
// there are as many, the connection is not read.
const MaxInFlight = 32

// writeWait is how long a write may take before the connection is given up.
const writeWait = 30 * time.Second

// connection is one that is served.
type connection struct {
	conn    io.ReadWriteCloser
	framing *framing
	writing sync.Mutex

	mu    sync.Mutex
	calls map[string]context.CancelFunc // by the text of the id
}

// Serve answers the messages of a connection until its end, that of ctx, or a
// message that breaks the framing, and closes it. Messages are answered as they
// are done; those of one batch in order. $/cancelRequest {"id"} cancels the
// context of a call, which is then answered with CodeCancelled. Serve returns
// when all calls have ended. The error is nil at the end of the connection.
//
// What is written must be read within 30 seconds, else the connection is closed.
// Conn should break off reads and writes when it is closed.
func Serve(ctx context.Context, conn io.ReadWriteCloser, handle Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	c := &connection{conn: conn, calls: make(map[string]context.CancelFunc)}
	var err error
	if c.framing, err = newFraming(conn); err != nil {
		return ended(ctx, err)
	}
	slots := make(chan struct{}, MaxInFlight)
	for {
		raw, err := c.framing.read()
		if err != nil {
			if errors.Is(err, ErrTooLong) {
				c.write(answer{Error: invalid("%v", err)}.encode())
			}
			return ended(ctx, err)
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
		running.Go(func() {
			defer func() { <-slots }()
			c.answer(ctx, raw, handle)
		})
	}
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// answer answers a message.
func (c *connection) answer(ctx context.Context, raw []byte, handle Handler) {
	reply := dispatch(raw, func(call Call) (any, error) { return c.handle(ctx, call, handle) })
	if len(reply.Text) > 0 {
		c.write(reply.Text)
	}
}

// handle answers a call that can be cancelled by its id. Nothing is sent for it
// after the handler has returned.
func (c *connection) handle(ctx context.Context, call Call, handle Handler) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if key := string(call.ID); call.ID != nil && key != "null" {
		c.mu.Lock()
		if _, taken := c.calls[key]; taken {
			c.mu.Unlock()
			return nil, invalid("id %s: a call with it is under way", key)
		}
		c.calls[key] = cancel
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.calls, key)
		}()
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
	result, err := handle(ctx, call, notify)
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

// write sends a message, or closes the connection.
func (c *connection) write(text []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	stuck := time.AfterFunc(writeWait, func() { _ = c.conn.Close() })
	defer stuck.Stop()
	if _, err := c.conn.Write(c.framing.frame(text)); err != nil {
		_ = c.conn.Close()
	}
}
