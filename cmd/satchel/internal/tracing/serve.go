package tracing

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/page"
)

// servedPage is the page of files that may grow. It is safe for concurrent use.
type servedPage struct {
	files   *Files
	console cli.Console

	mu    sync.Mutex
	state string // of the files when they were read
	html  []byte
}

// current returns the page. It is written again if the files have changed, by one caller at a time. If they
// cannot be read, it stays as it was.
func (p *servedPage) current() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state, ok := p.files.state(); ok && state != p.state {
		if err := p.write(); err != nil {
			fmt.Fprintf(p.console.Err, "satchel: %s\n", cli.OneLine(err.Error()))
		}
	}
	return p.html
}

// write reads the files and writes the page.
func (p *servedPage) write() error {
	p.state, _ = p.files.state() // what is written while they are read is a change
	t, err := p.files.read(p.console)
	if err != nil {
		return err
	}
	var html bytes.Buffer
	if err := page.Write(&html, p.files.title(), t); err != nil {
		return err
	}
	p.html = html.Bytes()
	return nil
}

// serve serves the page until the process gets SIGINT or SIGTERM. It prints the URL of the page first.
func (cmd *TraceCommand) serve(ctx context.Context, c cli.Console) error {
	listener, err := listen(ctx, *cmd.Serve)
	if err != nil {
		return err
	}
	served := servedPage{files: &cmd.Files, console: c}
	if err := served.write(); err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	h := &pageHandler{host: listener.Addr().String(), path: "/" + rand.Text() + "/", policy: page.Policy(), page: served.current}
	server := &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader}
	if _, err := fmt.Fprintf(c.Out, "http://%s%s\n", h.host, h.path); err != nil {
		return errors.Join(fmt.Errorf("write address: %w", err), listener.Close())
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve trace: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}

// listen opens a port of a loopback address.
func listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: --serve %s: want HOST:PORT, such as 127.0.0.1:0", cli.ErrUsage, address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%w: --serve %s: want a loopback address, such as 127.0.0.1:0", cli.ErrUsage, address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w: --serve %s: %w", cli.ErrStart, address, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%w: --serve %s: %s is no loopback address", cli.ErrUsage, address, listener.Addr()), listener.Close())
	}
	return listener, nil
}

// pageHandler serves one page. The path has a key, because other users of the machine reach the port
// too.
type pageHandler struct {
	host, path, policy string
	page               func() []byte
}

// ServeHTTP implements [http.Handler].
func (h *pageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	switch {
	case r.Host != h.host:
		http.Error(w, "unknown host", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(h.path)) == 0:
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		header.Set("Content-Security-Policy", h.policy+"; frame-ancestors 'none'")
		header.Set("Content-Type", "text/html; charset=utf-8")
		html := h.page()
		header.Set("Content-Length", strconv.Itoa(len(html)))
		_, _ = w.Write(html) // the browser has gone
	}
}
