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

// readHello reads the first message of a TLS client. It returns the host that the client names, or
// "", and all bytes of the message. The origin could read a message differently that has two names,
// or the same extension twice; crypto/tls refuses it.
func readHello(r io.Reader) (name string, message []byte, err error) {
	var read bytes.Buffer
	var hello *tls.ClientHelloInfo
	server := tls.Server(clientOnly{r: io.TeeReader(io.LimitReader(r, maxHello), &read)}, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			hello = h
			return nil, errHello // no handshake follows
		},
	})
	if err := server.Handshake(); hello == nil {
		return "", read.Bytes(), fmt.Errorf("%w: %w", errHello, err)
	}
	return hello.ServerName, read.Bytes(), nil
}

// clientOnly is a connection that reads from a client and drops the answers.
type clientOnly struct {
	net.Conn
	r io.Reader
}

func (c clientOnly) Read(p []byte) (int, error)  { return c.r.Read(p) }
func (c clientOnly) Write(p []byte) (int, error) { return len(p), nil }
