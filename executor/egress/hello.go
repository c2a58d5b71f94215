package egress

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

var errHello = errors.New("not the beginning of a TLS handshake")

// readHello reads the first message of a TLS client. It returns the name that it
// asks for, empty if it names none, and all bytes that were read, to be passed on.
// One that names two, or has the same extension twice, could be read by the origin in
// another way than here: crypto/tls refuses it.
func readHello(r io.Reader) (name string, read []byte, err error) {
	var seen bytes.Buffer
	var hello *tls.ClientHelloInfo
	server := tls.Server(clientOnly{r: io.TeeReader(io.LimitReader(r, maxHello), &seen)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errHello // no handshake follows
		},
	})
	if err := server.Handshake(); hello == nil {
		return "", seen.Bytes(), fmt.Errorf("%w: %w", errHello, err)
	}
	return hello.ServerName, seen.Bytes(), nil
}

// clientOnly is a connection from which a client is read, and on which nothing is
// answered.
type clientOnly struct {
	net.Conn
	r io.Reader
}

func (c clientOnly) Read(p []byte) (int, error)  { return c.r.Read(p) }
func (c clientOnly) Write(p []byte) (int, error) { return len(p), nil }
