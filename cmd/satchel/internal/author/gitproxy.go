package author

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/satchel-go/satchel/internal/archive"
)

// gitProxy is the proxy by which git reaches the host of one repository. It counts the bytes, and
// checks the IP address of each dial. Requests to other origins are refused.
type gitProxy struct {
	URL string // of the proxy

	target *url.URL
	server *http.Server
	left   atomic.Int64 // bytes that git may still get

	mu    sync.Mutex
	why   error // the first reason why a request was refused or cut
	conns []net.Conn
}

// startProxy starts a proxy to the origin of target. If allowed is set, that may be a loopback or
// private host. If the environment names a proxy for target, the new one asks that proxy.
func startProxy(ctx context.Context, target *url.URL, allowed bool) (*gitProxy, error) {
	through, err := archive.Proxy(ctx, target, allowed)
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &gitProxy{URL: "http://" + l.Addr().String(), target: target}
	p.left.Store(maxRepositoryDownload)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		// The proxy of the environment may be a private host, and is the only one that is dialled.
		c, err := archive.Dialer().DialContext(archive.WithAllowed(ctx, allowed || through != nil), network, address)
		if err != nil {
			p.note(err)
		}
		return c, err
	}
	tunnelled := dial
	if through != nil {
		tunnelled = func(ctx context.Context, _, address string) (net.Conn, error) {
			return archive.DialThrough(ctx, through, address)
		}
	}
	plain := &httputil.ReverseProxy{
		Rewrite:       func(*httputil.ProxyRequest) {}, // git has sent the whole address
		Transport:     &http.Transport{Proxy: http.ProxyURL(through), DialContext: dial, DisableCompression: true, DisableKeepAlives: true},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // reason has what matters

		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { p.refuse(w, err) },
		ModifyResponse: func(r *http.Response) error {
			r.Body = &countedBody{ReadCloser: r.Body, proxy: p}
			return nil
		},
	}
	p.server = &http.Server{ReadHeaderTimeout: repositoryWait, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch at := p.originOf(r); {
		case at != archive.Origin(target):
			p.refuse(w, fmt.Errorf("%w: a redirect to another origin, %s", archive.ErrURL, at))
		case r.Method == http.MethodConnect:
			p.tunnel(w, r, tunnelled)
		default:
			plain.ServeHTTP(w, r)
		}
	})}
	go func() { _ = p.server.Serve(l) }()
	return p, nil
}

// originOf returns the origin that a request is for.
func (p *gitProxy) originOf(r *http.Request) string {
	if r.Method == http.MethodConnect {
		return archive.Origin(&url.URL{Scheme: "https", Host: r.Host})
	}
	return archive.Origin(r.URL)
}

// note keeps the first reason for a failure.
func (p *gitProxy) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why == nil {
		p.why = err
	}
}

// reason returns why a request was refused or cut, or nil.
func (p *gitProxy) reason() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

func (p *gitProxy) refuse(w http.ResponseWriter, err error) {
	p.note(err)
	http.Error(w, "refused", http.StatusForbidden)
}

// take counts n bytes. The error says that there were too many.
func (p *gitProxy) take(n int) error {
	if p.left.Add(-int64(n)) >= 0 {
		return nil
	}
	err := fmt.Errorf("%w: the server sends more than %d bytes", archive.ErrRefused, maxRepositoryDownload)
	p.note(err)
	return err
}

// tunnel connects git with its host.
func (p *gitProxy) tunnel(w http.ResponseWriter, r *http.Request, dial func(context.Context, string, string) (net.Conn, error)) {
	far, err := dial(r.Context(), "tcp", r.Host)
	if err != nil {
		p.refuse(w, err)
		return
	}
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		p.refuse(w, err)
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, near, far)
	p.mu.Unlock()
	_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, buffered)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, &countedBody{ReadCloser: far, proxy: p})
	_ = errors.Join(near.Close(), far.Close())
}

// Close ends all connections.
func (p *gitProxy) Close() error {
	if p == nil {
		return nil
	}
	err := p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	return err
}

// countedBody counts what git gets.
type countedBody struct {
	io.ReadCloser
	proxy *gitProxy
}

// Read implements io.Reader.
func (b *countedBody) Read(data []byte) (int, error) {
	n, err := b.ReadCloser.Read(data)
	if over := b.proxy.take(n); over != nil {
		return 0, over
	}
	return n, err
}
