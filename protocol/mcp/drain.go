package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// drainTransport is a transport that reports the end of its input only when all earlier calls have
// been answered: the SDK cancels calls at the end of the input.
type drainTransport struct{ mcp.Transport }

// Connect implements mcp.Transport.
func (d drainTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &drainConn{Connection: conn, calls: make(map[any]bool), answered: make(chan struct{}, 1), closed: make(chan struct{})}
	if plain, ok := d.Transport.(*mcp.IOTransport); ok {
		c.output = plain.Writer
	}
	return c, nil
}

type drainConn struct {
	mcp.Connection
	output   any           // the stream to the client; nil if it is unknown
	answered chan struct{} // gets a value after an answer
	closed   chan struct{}
	closing  sync.Once

	mu    sync.Mutex
	calls map[any]bool // calls without an answer, by id
}

// Read implements mcp.Connection.
func (c *drainConn) Read(ctx context.Context) (sdkrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		if text, changed := plainText(err.Error()); changed {
			err = errors.New(text)
		}
		return nil, err
	}
	// A subscription has no answer until the client cancels it.
	if request, ok := message.(*sdkrpc.Request); ok && request.IsCall() && request.Method != "subscriptions/listen" {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls[request.ID.Raw()] = true
	}
	return message, nil
}

// drain waits until all calls are answered, or the client does not read any more.
func (c *drainConn) drain(ctx context.Context) {
	ticker := time.NewTicker(goneEvery)
	defer ticker.Stop()
	for {
		c.mu.Lock()
		open := len(c.calls)
		c.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-ctx.Done():
			return
		case <-c.closed:
			return
		case <-ticker.C:
			if jsonrpc.HungUp(c.output) {
				return
			}
		}
	}
}

// Write implements mcp.Connection.
func (c *drainConn) Write(ctx context.Context, message sdkrpc.Message) error {
	answer, ok := message.(*sdkrpc.Response)
	if ok && answer.Error != nil {
		plain := *answer
		plain.Error, message = plainError(answer.Error), &plain
	}
	err := c.Connection.Write(ctx, message)
	if ok {
		c.mu.Lock()
		delete(c.calls, answer.ID.Raw())
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close implements mcp.Connection.
func (c *drainConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
