package egress_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor/egress"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// world is a network on loopback: a proxy, a plain server and a TLS server, and names for them.
type world struct {
	plain, secure *httptest.Server
	proxy         *egress.Proxy
	at            string // address on which the proxy listens

	mu      sync.Mutex
	names   map[string][]netip.Addr
	asked   map[string]int
	entries []egress.Entry
}

// LookupNetIP is Policy.Resolve.
func (w *world) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[name]++
	if found, ok := w.names[name]; ok {
		return append([]netip.Addr(nil), found...), nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

var local = netip.MustParseAddr("127.0.0.1")

// newWorld makes a world whose hosts are answered by serve. The certificate of
// the TLS server is for example.com.
func newWorld(t testing.TB, serve http.HandlerFunc, change func(*world, *egress.Policy)) *world {
	t.Helper()
	w := &world{names: map[string][]netip.Addr{"example.com.": {local}, "other.example.": {local}}, asked: map[string]int{}}
	w.plain, w.secure = httptest.NewServer(serve), httptest.NewTLSServer(serve)
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	policy := egress.Policy{
		Resolve: w.LookupNetIP, Private: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Rules: rules(t, "https://example.com:"+w.securePort(), "http://example.com:"+w.plainPort()),
		Log: func(e egress.Entry) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.entries = append(w.entries, e)
		},
	}
	if change != nil {
		change(w, &policy)
	}
	policy.Roots = x509.NewCertPool()
	policy.Roots.AddCert(w.secure.Certificate())
	p, err := egress.New(policy)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	w.proxy, w.at = p, l.Addr().String()
	return w
}

func portOf(s *httptest.Server) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	return u.Port()
}

func (w *world) plainPort() string  { return portOf(w.plain) }
func (w *world) securePort() string { return portOf(w.secure) }

// client is a program that goes by the variables of the proxy.
func (w *world) client(t testing.TB) *http.Client {
	t.Helper()
	proxy := &url.URL{Scheme: "http", Host: w.at}
	roots := x509.NewCertPool()
	roots.AddCert(w.secure.Certificate())
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// get returns status and body, or the error in the place of the body.
func get(t testing.TB, c *http.Client, address string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, err.Error()
	}
	return answer.StatusCode, string(body)
}

// raw sends bytes to the proxy. It returns the status and body of the answer, and the connection, which
// is closed at the end of the test.
func (w *world) raw(t testing.TB, text string) (int, string, net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect}) //nolint:bodyclose // the connection is closed
	if err != nil {
		return 0, err.Error(), c, r
	}
	if answer.StatusCode == http.StatusOK {
		return answer.StatusCode, "", c, r
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body), c, r
}

// last waits for so many entries and returns the last.
func (w *world) last(t testing.TB, n int) egress.Entry {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		w.mu.Lock()
		got := len(w.entries)
		if got >= n {
			e := w.entries[n-1]
			w.mu.Unlock()
			return e
		}
		w.mu.Unlock()
	}
	t.Fatalf("there are not %d entries", n)
	return egress.Entry{}
}

func song(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintf(w, "%s sings at %s, tls %t", r.Host, r.URL.Path, r.TLS != nil)
}
