package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// request is one download.
type request struct {
	url  *url.URL
	opts Options
	// etag and modified are the headers of the cached archive.
	etag, modified string
}

// response is the answer of a server, or a local file.
type response struct {
	io.ReadCloser
	notModified    bool // the cached archive is current
	etag, modified string
}

// checkURL returns an error if the host does not allow an address.
func (o *Options) checkURL(u *url.URL) error {
	if u.Scheme == "https" && u.Host != "" || o.allows(u) && (u.Scheme == "http" || u.Scheme == "file") {
		return nil
	}
	return fmt.Errorf("%s %s: %w: only https: is, unless the host allows another", o.kind(), shown(u), ErrURL)
}

func (o *Options) allows(u *url.URL) bool { return o.Allow != nil && o.Allow(u) }

type (
	allowedKey struct{}
	proxyKey   struct{}
)

// isPublic reports whether a request may dial an IP address without the host's permission.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

// reserved are further ranges without public hosts, besides loopback, private and link-local
// ones, and ranges that embed another address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// WithAllowed returns a context in which [Dialer] dials any address if allowed is set.
func WithAllowed(ctx context.Context, allowed bool) context.Context {
	return context.WithValue(ctx, allowedKey{}, allowed)
}

// Dialer returns a dialer that refuses loopback, private and link-local addresses, unless its
// context is from [WithAllowed]. It checks the IP address of each dial. Checking the name
// beforehand is not enough, because it may resolve to another address each time.
func Dialer() *net.Dialer {
	return &net.Dialer{Timeout: dialTime, ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		if allowed, _ := ctx.Value(allowedKey{}).(bool); allowed {
			return nil
		}
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) {
			return fmt.Errorf("%w: %s is not a public address", ErrURL, address)
		}
		return nil
	}}
}

func newTransport() *http.Transport {
	through := func(r *http.Request) (*url.URL, error) {
		proxy, _ := r.Context().Value(proxyKey{}).(*url.URL)
		return proxy, nil
	}
	return &http.Transport{Proxy: through, DialContext: Dialer().DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaders}
}

// roundTripper records in the context of each request, also a redirected one, whether the host
// allows its address, and which proxy the transport of newTransport uses.
type roundTripper struct {
	inner http.RoundTripper
	opts  *Options
}

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, allowed := r.Context(), t.opts.allows(r.URL)
	if t.opts.Client == nil {
		proxy, err := Proxy(ctx, r.URL, allowed)
		if err != nil {
			return nil, err
		}
		if proxy != nil { // the transport dials the proxy and nothing else
			ctx, allowed = context.WithValue(ctx, proxyKey{}, proxy), true
		}
	}
	return t.inner.RoundTrip(r.WithContext(WithAllowed(ctx, allowed)))
}

// open requests the archive. The caller closes the response.
func (q *request) open(ctx context.Context) (*response, error) {
	if err := q.opts.checkURL(q.url); err != nil {
		return nil, err
	}
	if q.url.Scheme == "file" {
		return openLocal(filePath(q.url))
	}
	client := &http.Client{Transport: newTransport()}
	if q.opts.Client != nil {
		clone := *q.opts.Client
		client = &clone
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = roundTripper{client.Transport, &q.opts}
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("%w: more than %d redirects", ErrURL, maxRedirects)
		case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https":
			return fmt.Errorf("%w: a redirect from https to %s", ErrURL, r.URL.Scheme)
		case r.URL.Scheme == "file":
			return fmt.Errorf("%w: a redirect to a file", ErrURL)
		case q.opts.SameOrigin && Origin(r.URL) != Origin(q.url):
			return fmt.Errorf("%w: a redirect to another origin, %s", ErrURL, Origin(r.URL))
		}
		return q.opts.checkURL(r.URL)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, q.url.String(), nil)
	if err != nil {
		return nil, err
	}
	if q.etag != "" {
		r.Header.Set("If-None-Match", q.etag)
	}
	if q.modified != "" {
		r.Header.Set("If-Modified-Since", q.modified)
	}
	got, err := client.Do(r)
	if err != nil {
		if failed := (*url.Error)(nil); errors.As(err, &failed) {
			failed.URL = Shown(failed.URL)
		}
		return nil, err
	}
	out := &response{ReadCloser: got.Body, etag: bounded(got.Header.Get("ETag")), modified: bounded(got.Header.Get("Last-Modified"))}
	switch {
	case got.StatusCode == http.StatusNotModified && q.etag+q.modified != "":
		out.notModified = true
	case got.StatusCode != http.StatusOK:
		return nil, errors.Join(fmt.Errorf("%s %s: the server answers %s", q.opts.kind(), shown(q.url), got.Status), got.Body.Close())
	}
	return out, nil
}

// bounded returns a header if it is short and printable ASCII, else "".
func bounded(header string) string {
	if len(header) > maxHeader || strings.ContainsFunc(header, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return ""
	}
	return header
}

// openLocal opens an archive of this machine.
func openLocal(path string) (*response, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|plainfile.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &response{ReadCloser: f}, nil
}

// filePath returns the path of a file: address.
func filePath(u *url.URL) string {
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // file:///C:/x
		path = path[1:]
	}
	return path
}
