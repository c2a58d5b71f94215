package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// dial connects to a place that a rule allows, at an address that it has checked. The connection
// counts its bytes, and fails when it is idle or over the limit.
func (e *exchange) dial(ctx context.Context, at place) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.policy.Limits.Dial)
	defer cancel()
	addrs, err := e.addresses(ctx, at.host)
	if err != nil {
		if errors.Is(err, errNotPublic) {
			e.address.Store(&addrs[0])
		}
		return nil, fmt.Errorf("%q %w", at, err)
	}
	var dialer net.Dialer
	for _, addr := range addrs {
		var c net.Conn
		if c, err = dialer.DialContext(ctx, "tcp", dialAddress(addr, at.port)); err == nil {
			e.address.Store(&addr)
			return &countingConn{Conn: c, exchange: e}, nil
		}
	}
	return nil, fmt.Errorf("%q cannot be reached: %w", at, withoutAddresses(err))
}

// withoutAddresses removes addresses from an error: only the host's log has them.
func withoutAddresses(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		return errors.New("it does not answer")
	case errors.As(err, &op) && op.Err != nil:
		if call, ok := errors.AsType[*os.SyscallError](op.Err); ok {
			return call.Err
		}
		return op.Err
	}
	return err
}

// countingConn is a connection to a host. It enforces the idle limit and the limit of bytes.
type countingConn struct {
	net.Conn
	exchange *exchange
}

var errOverLimit = errors.New("over the limit of the run")

// Read implements net.Conn. It returns no bytes beyond the limit of the run.
func (c *countingConn) Read(b []byte) (int, error) {
	c.extendDeadline()
	n, err := c.Conn.Read(b)
	if over := c.exchange.Proxy.received.Add(int64(n)) - c.exchange.policy.Limits.Bytes; over > 0 {
		n -= int(min(over, int64(n)))
		err = errOverLimit
	}
	c.exchange.received.Add(int64(n))
	return n, err
}

// Write implements net.Conn. It counts the bytes before it sends them, so that several connections
// together stay within the limit.
func (c *countingConn) Write(b []byte) (int, error) {
	c.extendDeadline()
	all := &c.exchange.Proxy.sent
	room := int64(len(b))
	over := min(max(all.Add(room)-c.exchange.policy.Limits.Bytes, 0), room)
	n, err := c.Conn.Write(b[:room-over])
	c.exchange.sent.Add(int64(n))
	if over > 0 && err == nil {
		err = errOverLimit
	}
	return n, err
}

// extendDeadline sets the deadline of both directions to the idle limit from now.
func (c *countingConn) extendDeadline() {
	_ = c.SetDeadline(time.Now().Add(c.exchange.policy.Limits.Idle))
}
