package docker

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/moby/moby/client"
)

// conn is the connection to the runner in one container: its standard input and output. Read is
// called by one goroutine at a time.
type conn struct {
	engine *engine
	id     string
	stream client.HijackedResponse
	left   uint32 // bytes of the runner's output before the next header
	stderr []byte // the end of what the runner wrote to its standard error

	close func() error
}

func newConn(e *engine, id string, stream client.HijackedResponse) *conn {
	c := &conn{engine: e, id: id, stream: stream}
	c.close = sync.OnceValue(func() error {
		c.stream.Close() // ends the runner
		return e.remove(context.Background(), id)
	})
	return c
}

// The kinds of data in the stream of an engine.
const (
	stdoutKind = 1
	stderrKind = 2
	systemKind = 3 // an error of the engine
)

// Read implements io.Reader. The stream has a header before each part: its kind and size.
func (c *conn) Read(p []byte) (int, error) {
	for c.left == 0 {
		var header [8]byte
		if _, err := io.ReadFull(c.stream.Reader, header[:]); err != nil {
			return 0, c.ended(err)
		}
		size := binary.BigEndian.Uint32(header[4:])
		switch header[0] {
		case stdoutKind:
			c.left = size
		case stderrKind, systemKind:
			if err := c.keep(int64(size)); err != nil {
				return 0, c.ended(err)
			}
		default:
			return 0, fmt.Errorf("docker: the engine sent data of kind %d: want 1 to 3", header[0])
		}
	}
	n, err := c.stream.Reader.Read(p[:min(uint64(len(p)), uint64(c.left))])
	c.left -= uint32(n)
	if err != nil {
		err = c.ended(err)
	}
	return n, err
}

// keep reads a part of standard error and keeps its end.
func (c *conn) keep(size int64) error {
	part, err := io.ReadAll(io.LimitReader(c.stream.Reader, min(size, maxStderr)))
	if err == nil {
		_, err = io.CopyN(io.Discard, c.stream.Reader, size-int64(len(part)))
	}
	c.stderr = append(c.stderr, part...)
	c.stderr = c.stderr[max(0, len(c.stderr)-maxStderr):]
	return err
}

// ended returns the error for the end of the stream, with what the runner wrote to standard error.
func (c *conn) ended(err error) error {
	if len(c.stderr) == 0 {
		return err
	}
	return fmt.Errorf("docker: the runner says: %s: %w", oneLine(string(c.stderr)), err)
}

// Write implements io.Writer.
func (c *conn) Write(p []byte) (int, error) { return c.stream.Conn.Write(p) }

// Close ends the runner and all that it started, and returns when the container is gone.
func (c *conn) Close() error { return c.close() }
