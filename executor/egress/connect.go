package egress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// connect answers a CONNECT with a tunnel to the host, in which the program must speak TLS with that
// host.
func (e *exchange) connect(w http.ResponseWriter, r *http.Request) {
	e.entry.Tunnel = true
	if r.URL.User != nil {
		e.refuse(w, errUser)
		return
	}
	at, err := parsePlace(r.URL.Host, 443)
	if err != nil {
		e.refuse(w, fmt.Errorf("%q: %w", excerpt(r.URL.Host), err))
		return
	}
	e.setTarget(at)
	if !e.policy.fits("https", at) {
		e.refuse(w, e.noTunnelError(at))
		return
	}
	upstream, err := e.dial(r.Context(), at)
	if err != nil {
		e.answerUnreached(w, err)
		return
	}
	defer e.track(upstream)()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		e.fail(w, err)
		return
	}
	defer e.track(client)()
	if err := e.tunnel(client, buffered.Reader, upstream, at.host); err != nil {
		e.entry.Reason = err.Error()
	}
}

var (
	errUser = errors.New("a user in the address is refused: send it as a header")
	// errOtherHost means that a TLS handshake names another host than the CONNECT.
	errOtherHost = errors.New("the TLS handshake is with another host")
)

// noTunnelError returns the error for a tunnel that no rule allows. If rules allow http:// to the
// host, the error names them.
func (e *exchange) noTunnelError(at place) error {
	var plain []string
	for _, r := range e.policy.Rules {
		switch {
		case !r.covers(at.host):
		case r.scheme == "https": // for another port
			return e.notAllowed(at)
		default:
			plain = append(plain, r.String())
		}
	}
	if plain == nil {
		return e.notAllowed(at)
	}
	return fmt.Errorf("a tunnel (CONNECT) to %q takes a rule for https, and %s allows requests without TLS only: ask for http:// without a tunnel. This is policy; another way will not work.",
		at, strings.Join(plain, ", "))
}

// answerUnreached answers a request whose host could not be reached.
func (e *exchange) answerUnreached(w http.ResponseWriter, err error) {
	if errors.Is(err, errNotPublic) {
		e.refuse(w, fmt.Errorf("%w. This is policy; another way will not work.", err))
		return
	}
	e.fail(w, err)
}

// tunnel waits for the TLS handshake and checks its host. Then it passes bytes until one side is
// done. An error before that counts as a refusal.
func (e *exchange) tunnel(client net.Conn, from *bufio.Reader, upstream net.Conn, h host) error {
	limits := e.policy.Limits
	_ = client.SetDeadline(time.Now().Add(limits.Hello))
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return err
	}
	name, hello, err := readHello(from)
	if err == nil {
		err = checkServerName(name, h)
	}
	if err != nil {
		e.entry.Verdict = verdictRefused
		return err
	}
	_ = client.SetDeadline(time.Time{}) // the idle limit of upstream ends both sides
	if _, err := upstream.Write(hello); err != nil {
		return err
	}
	return pipe(client, from, upstream, limits.Idle)
}

// checkServerName returns an error if a handshake names another host than h. For a host that is an
// address it must name none (RFC 6066, 3).
func checkServerName(name string, h host) error {
	if name == "" && h.name == "" {
		return nil
	}
	if named, err := parseHost(name); name == "" || err != nil || named != h || h.name == "" {
		return errOtherHost
	}
	return nil
}

// pipe passes bytes both ways until both sides have closed their writing side, or one has an error.
func pipe(client net.Conn, from io.Reader, upstream net.Conn, idle time.Duration) error {
	up := make(chan error, 1)
	go func() {
		_, err := io.Copy(upstream, from)
		closeWrite(upstream, err)
		up <- err
	}()
	_, err := io.Copy(client, upstream)
	closeWrite(client, err)
	if err != nil {
		_ = upstream.Close()
		_ = client.Close()
	}
	_ = client.SetReadDeadline(time.Now().Add(idle))
	return errors.Join(err, <-up)
}

// closeWrite closes the writing side of a connection. After an error, or if that does not work, it
// closes the whole connection.
func closeWrite(c net.Conn, err error) {
	if err == nil {
		switch c := c.(type) {
		case *countingConn:
			if tcp, ok := c.Conn.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
				return
			}
		case *slotConn:
			if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
				return
			}
		}
	}
	_ = c.Close()
}

// excerpt shortens a text of the program to maxName bytes, for an answer.
func excerpt(s string) string {
	if len(s) > maxName {
		s = s[:maxName]
	}
	return s
}
