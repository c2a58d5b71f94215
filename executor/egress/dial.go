package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// dial connects to a place that a rule allows, at an address that was checked.
// The connection counts its bytes, and ends where it is idle or over a limit.
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
	return nil, fmt.Errorf("%q cannot be reached: %w", at, reason(err))
}

// reason leaves the addresses out of an error: they are the host's business.
func reason(err error) error {
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

// countingConn is a connection to a host.
type countingConn struct {
	net.Conn
	exchange *exchange
}

var errOver = errors.New("over the limit of the run")

// Read hands on nothing beyond the limit.
func (c *countingConn) Read(b []byte) (int, error) {
	c.alive()
	n, err := c.Conn.Read(b)
	if over := c.exchange.Proxy.received.Add(int64(n)) - c.exchange.policy.Limits.Bytes; over > 0 {
		n -= int(min(over, int64(n)))
		err = errOver
	}
	c.exchange.received.Add(int64(n))
	return n, err
}

// Write takes what it will send from what is left, so that connections at once
// do not pass the limit.
func (c *countingConn) Write(b []byte) (int, error) {
	c.alive()
	all := &c.exchange.Proxy.sent
	room := int64(len(b))
	over := min(max(all.Add(room)-c.exchange.policy.Limits.Bytes, 0), room)
	n, err := c.Conn.Write(b[:room-over])
	c.exchange.sent.Add(int64(n))
	if over > 0 && err == nil {
		err = errOver
	}
	return n, err
}

// alive puts off the end of an idle connection, in both directions.
func (c *countingConn) alive() { _ = c.SetDeadline(time.Now().Add(c.exchange.policy.Limits.Idle)) }
