package mcpsource

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTP returns the transport to a server at a URL. A nil client is http.DefaultClient. An http:
// URL of another machine is an error unless insecure is true. A redirect to another host is not
// followed.
func HTTP(address string, client *http.Client, insecure bool) (mcp.Transport, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("MCP server %.100q: want an address with https", address)
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && !insecure && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("MCP server %.100q: want https beyond this machine, or allow http there (--insecure)", address)
	}
	if client == nil {
		client = http.DefaultClient
	}
	bounded := *client
	bounded.Transport = boundedTrip{client.Transport}
	bounded.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || to.URL.Host != via[0].URL.Host || to.URL.Scheme != via[0].URL.Scheme {
			return errors.New("a redirect to another host is not followed")
		}
		return nil
	}
	return &mcp.StreamableClientTransport{
		Endpoint: address, HTTPClient: &bounded, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
	}, nil
}

// boundedTrip limits the bodies of responses to maxMessage.
type boundedTrip struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b boundedTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	next := b.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		answer.Body = &boundedBody{ReadCloser: answer.Body, left: maxMessage}
	}
	return answer, err
}

var errTooLong = fmt.Errorf("the server sends more than %d bytes at once", maxMessage)

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Command returns the transport to a server that runs as a program. Connecting starts the program.
// Closing the connection closes its standard input, and kills it five seconds later.
func Command(cmd *exec.Cmd) mcp.Transport { return &command{cmd} }

type command struct{ cmd *exec.Cmd }

// Connect implements mcp.Transport.
func (c *command) Connect(ctx context.Context) (mcp.Connection, error) {
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := &boundedLines{r: bufio.NewReader(out)}
	return (&mcp.IOTransport{Reader: lines, Writer: &program{in, c.cmd}}).Connect(ctx)
}

// boundedLines limits the lines of the program's output to maxMessage.
type boundedLines struct {
	r    *bufio.Reader
	line int
}

// Read implements io.Reader.
func (b *boundedLines) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	for _, c := range p[:n] {
		if b.line++; c == '\n' {
			b.line = 0
		}
	}
	if b.line > maxMessage {
		return 0, errTooLong
	}
	return n, err
}

// Close implements io.Closer. It does nothing: the pipe closes when the program ends.
func (b *boundedLines) Close() error { return nil }

// program is the standard input of the program. Closing it ends the program.
type program struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close implements io.Closer.
func (p *program) Close() error {
	err := p.WriteCloser.Close()
	late := time.AfterFunc(closeTime, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if ended := p.cmd.Wait(); ended != nil && !errors.As(ended, &exit) {
		err = errors.Join(err, ended)
	}
	return err
}
