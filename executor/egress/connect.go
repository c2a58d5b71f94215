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

// connect serves a CONNECT: a tunnel in which TLS is spoken, with the host that
// was asked for.
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
	e.toward(at)
	if !e.policy.fits("https", at) {
		e.refuse(w, e.noTunnel(at))
		return
	}
	upstream, err := e.dial(r.Context(), at)
	if err != nil {
		e.answerUnreached(w, err)
		return
	}
	defer e.keep(upstream)()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		e.fail(w, err)
		return
	}
	defer e.keep(client)()
	if err := e.tunnel(client, buffered.Reader, upstream, at.host); err != nil {
		e.entry.Reason = err.Error()
	}
}

var (
	errUser = errors.New("a user in the address is refused: send it as a header")
	// errOther is what a handshake with somebody else ends with.
	errOther = errors.New("the TLS handshake is with another host")
)

// noTunnel is the refusal of a tunnel. Where rules have the host for http:// alone, it
// says what they allow.
func (e *exchange) noTunnel(at place) error {
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

// answerUnreached answers that no connection was made.
func (e *exchange) answerUnreached(w http.ResponseWriter, err error) {
	if errors.Is(err, errNotPublic) {
		e.refuse(w, fmt.Errorf("%w. This is policy; another way will not work.", err))
		return
	}
	e.fail(w, err)
}

// tunnel waits for the handshake and then passes bytes until one side is done.
// What goes wrong before the handshake is a refusal.
func (e *exchange) tunnel(client net.Conn, from *bufio.Reader, upstream net.Conn, h host) error {
	limits := e.policy.Limits
	_ = client.SetDeadline(time.Now().Add(limits.Hello))
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return err
	}
	name, hello, err := readHello(from)
	if err == nil {
		err = e.sameHost(name, h)
	}
	if err != nil {
		e.entry.Verdict = verdictRefused
		return err
	}
	_ = client.SetDeadline(time.Time{}) // the other side has the idle limit for both
	if _, err := upstream.Write(hello); err != nil {
		return err
	}
	return pipe(client, from, upstream, limits.Idle)
}

// sameHost checks the name that a handshake asks for. A host that is an address
// has none (RFC 6066, 3).
func (e *exchange) sameHost(name string, h host) error {
	if name == "" && h.name == "" {
		return nil
	}
	if asked, err := parseHost(name); name == "" || err != nil || asked != h || h.name == "" {
		return errOther
	}
	return nil
}

// pipe passes bytes both ways until both sides have said that they are done, or
// one of them breaks.
func pipe(client net.Conn, from io.Reader, upstream net.Conn, idle time.Duration) error {
	up := make(chan error, 1)
	go func() {
		_, err := io.Copy(upstream, from)
		endOf(upstream, err)
		up <- err
	}()
	_, err := io.Copy(client, upstream)
	endOf(client, err)
	if err != nil {
		_ = upstream.Close()
		_ = client.Close()
	}
	_ = client.SetReadDeadline(time.Now().Add(idle))
	return errors.Join(err, <-up)
}

// endOf tells a side that nothing more comes, or that all is over.
func endOf(c net.Conn, err error) {
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

// excerpt is what the program sent, as it may stand in an answer.
func excerpt(s string) string {
	if len(s) > maxName {
		s = s[:maxName]
	}
	return s
}
