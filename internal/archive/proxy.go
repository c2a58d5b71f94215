package archive

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// Proxy returns the proxy that the environment names for u, nil for none. It reads HTTPS_PROXY,
// HTTP_PROXY and NO_PROXY as net/http does. A proxy resolves the names of hosts, so the check of
// [Dialer] says nothing about them. If allowed is not set, Proxy checks the host itself. It returns an
// [ErrURL] if the name, or an address that this machine finds for it, is not public.
func Proxy(ctx context.Context, u *url.URL, allowed bool) (*url.URL, error) {
	through, err := httpproxy.FromEnvironment().ProxyFunc()(u)
	if err != nil || through == nil || allowed {
		return through, err
	}
	return through, checkProxied(ctx, u.Hostname(), net.DefaultResolver.LookupNetIP)
}

// checkProxied returns an error if a proxy must not be asked for a host. A name that lookup does not
// find is left to the proxy, because machines behind one often find no names.
func checkProxied(ctx context.Context, host string, lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)) error {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return checkPublic(host, a)
	}
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	isNumber := last != "" && strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") // other spellings of addresses
	isReserved := slices.ContainsFunc(reservedNames, func(name string) bool { return strings.HasSuffix("."+host, name) })
	if len(labels) < 2 || isNumber || isReserved {
		return fmt.Errorf("%w: %s is not the name of a public host", ErrURL, host)
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found, err := lookup(ctx, "ip", host)
	if err != nil {
		return nil //nolint:nilerr // the proxy finds it
	}
	for _, a := range found {
		if err := checkPublic(host, a); err != nil {
			return err
		}
	}
	return nil
}

func checkPublic(host string, a netip.Addr) error {
	if isPublic(a) {
		return nil
	}
	return fmt.Errorf("%w: %s is not a public address", ErrURL, host)
}

// reservedNames are the ends of names that no public host has.
var reservedNames = []string{".localhost", ".local", ".internal", ".home.arpa"}

// DialThrough connects to address, a host with a port, through a proxy.
func DialThrough(ctx context.Context, through *url.URL, address string) (net.Conn, error) {
	port, ok := map[string]string{"http": "80", "https": "443"}[through.Scheme]
	if !ok {
		return nil, fmt.Errorf("proxy %s: the scheme is not http or https, as git needs here", through.Redacted())
	}
	dialer := &net.Dialer{Timeout: dialTime}
	at := net.JoinHostPort(through.Hostname(), cmp.Or(through.Port(), port))
	c, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	if through.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: through.Hostname(), MinVersion: tls.VersionTLS12})
	}
	tunnel, err := connect(ctx, c, through, address)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("proxy %s: %w", through.Redacted(), err), c.Close())
	}
	return tunnel, nil
}

// connect asks an HTTP proxy at the end of c for a tunnel to address.
func connect(ctx context.Context, c net.Conn, through *url.URL, address string) (net.Conn, error) {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if user := through.User; user != nil {
		word, _ := user.Password()
		r.SetBasicAuth(user.Username(), word)
		r.Header["Proxy-Authorization"] = r.Header["Authorization"]
		delete(r.Header, "Authorization")
	}
	if err := r.Write(c); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(c, maxHeaders)
	answer, err := http.ReadResponse(in, r) //nolint:bodyclose // what follows the header is the tunnel
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", answer.Status)
	}
	return &bufferedConn{c, in}, nil
}

// bufferedConn is a connection of which a part was read.
type bufferedConn struct {
	net.Conn
	in *bufio.Reader
}

func (c *bufferedConn) Read(data []byte) (int, error) { return c.in.Read(data) }
