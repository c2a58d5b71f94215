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

// errConnection is wrapped when a call was not answered because the connection
// ended.
var errConnection = errors.New("connection ended")

// Client calls a server over a connection, such as a unix socket or the standard streams of
// a server's process. Its methods may be called concurrently.
type Client struct {
	conn     io.ReadWriteCloser
	onNotice func(method string, params json.RawMessage)
	writing  sync.Mutex
	next     atomic.Int64

	mu      sync.Mutex
	waiting map[string]chan incoming
	err     error // of the connection, when it has ended
	done    chan struct{}
}

// incoming is any message of a server.
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

// Close ends the connection and the calls that wait.
func (c *Client) Close() error {
	err := c.conn.Close()
	<-c.done
	return err
}

// Call calls a method and decodes its answer into result, unless result is nil. The error is
// an *Error if the server refuses the call. If ctx ends, the error is that of ctx, and the
// server gets a request to cancel the call. Other errors are those of the connection.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	id := strconv.FormatInt(c.next.Add(1), 10)
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
		case got := <-answer: // it came just before the end
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
			default: // answered twice
			}
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = fmt.Errorf("%w: %w", errConnection, err)
}
