package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// errConnection is wrapped if a call gets no answer because the connection has ended.
var errConnection = errors.New("connection ended")

// Client calls a server over a connection, such as a unix socket or the standard streams of
// a server's process. Its methods may be called concurrently.
type Client struct {
	conn     io.ReadWriteCloser
	onNotice func(method string, params json.RawMessage)
	writing  sync.Mutex // held during a write to conn
	lastID   atomic.Int64

	mu      sync.Mutex
	waiting map[string]chan incoming // calls without an answer, by id
	err     error                    // why the connection has ended, or nil
	done    chan struct{}            // closed when nothing more is read
}

// incoming is a message of the server: an answer or a notification.
type incoming struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`
}

// NewClient returns a client over a connection, which it reads until Close. onNotice, if not
// nil, gets the notifications of the server in order, such as the progress of a run. Answers
// that follow a notification wait until onNotice has returned.
func NewClient(conn io.ReadWriteCloser, onNotice func(method string, params json.RawMessage)) *Client {
	c := &Client{conn: conn, onNotice: onNotice, waiting: make(map[string]chan incoming), done: make(chan struct{})}
	go c.read()
	return c
}

// Close closes the connection. Calls that wait for an answer return an error.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// Call calls a method and decodes its answer into result, unless result is nil. The error is
// an *Error if the server refuses the call. If ctx ends, the error is that of ctx, and the
// server gets a request to cancel the call. Other errors are those of the connection.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	id := strconv.FormatInt(c.lastID.Add(1), 10)
	answer := make(chan incoming, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	c.waiting[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, id)
	}()
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params}); err != nil {
		return err
	}
	select {
	case got := <-answer:
		return got.decode(result)
	case <-ctx.Done():
		_ = c.send(map[string]any{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": map[string]any{"id": json.RawMessage(id)}})
		return ctx.Err()
	case <-c.done:
		select {
		case got := <-answer: // it came just before the connection ended
			return got.decode(result)
		default:
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	}
}

// decode reads the result of an answer, or returns its error.
func (got incoming) decode(result any) error {
	if got.Error != nil {
		return got.Error
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(got.Result, result)
}

func (c *Client) send(message any) error {
	text, err := jsonrpc.Marshal(message)
	if err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.conn.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errConnection, err)
	}
	return nil
}

func (c *Client) read() {
	defer close(c.done)
	framing, err := jsonrpc.NewFraming(c.conn)
	for err == nil {
		var raw []byte
		if raw, err = framing.Read(); err != nil {
			break
		}
		var got incoming
		if json.Unmarshal(raw, &got) != nil {
			continue
		}
		if got.Method != "" {
			if c.onNotice != nil {
				c.onNotice(got.Method, got.Params)
			}
			continue
		}
		c.mu.Lock()
		if answer := c.waiting[string(got.ID)]; answer != nil {
			select {
			case answer <- got:
			default: // the server has answered this call before
			}
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = fmt.Errorf("%w: %w", errConnection, err)
}
