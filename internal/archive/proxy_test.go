package archive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// forward is an HTTP proxy for which every host is one server. It asks for a password.
type forward struct {
	*httptest.Server
	target string // host and port of the server

	mu    sync.Mutex
	asked []string
}

// newForward opens a proxy and names it in the environment.
func newForward(t *testing.T, target string) *forward {
	t.Helper()
	p := &forward{target: target}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	at := strings.Replace(p.URL, "://", "://user:word@", 1)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, at)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	return p
}

func (p *forward) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.Host)
	p.mu.Unlock()
	if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjp3b3Jk" {
		http.Error(w, "who?", http.StatusProxyAuthRequired)
		return
	}
	if r.Method != http.MethodConnect {
		out := r.Clone(r.Context())
		out.RequestURI, out.URL.Host = "", p.target
		got, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer got.Body.Close()
		for name, values := range got.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(got.StatusCode)
		_, _ = io.Copy(w, got.Body)
		return
	}
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	pipe(near, far)
}

func pipe(a, b net.Conn) {
	go func() {
		_, _ = io.Copy(a, b)
		_ = a.Close()
	}()
	_, _ = io.Copy(b, a)
	_ = b.Close()
}

func (p *forward) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// An archive is fetched by the proxy of the environment, and not by that of a host's own client.
func TestGetByAProxy(t *testing.T) {
	s := open(t, zipOf(t, entry{name: "SKILL.md", text: skill}))
	p := newForward(t, s.Listener.Addr().String())
	ours := func(u *url.URL) bool { return u.Scheme == "http" && u.Host == "skills.example" }
	got, err := NewCache(t.TempDir()).Get(t.Context(), "http://skills.example/skills.zip", Options{Allow: ours})
	if err != nil || unpacked(t, got.Dir)["SKILL.md"] != skill || !slices.Equal(p.all(), []string{"GET skills.example"}) {
		t.Fatalf("%+v, %v, and the proxy was asked %q", got, err, p.all())
	}
	for address, want := range map[string]string{
		"https://skills.example/x.zip":               "CONNECT skills.example:443", // and the certificate is another
		"https://10.0.0.1/x.zip":                     "",
		"https://[::ffff:10.0.0.1]/x.zip":            "",
		"https://2130706433/x.zip":                   "",
		"https://127.1/x.zip":                        "",
		"https://0x7f.0.0.0x1/x.zip":                 "",
		"https://intranet/x.zip":                     "",
		"https://metadata.google.internal./x.zip":    "",
		"https://A.LOCALHOST/x.zip":                  "",
		"http://skills.example/?to=https://10.0.0.1": "GET skills.example",
	} {
		before := len(p.all())
		_, err := NewCache(t.TempDir()).Get(t.Context(), address, Options{Allow: ours})
		asked := strings.Join(p.all()[before:], " ")
		if err == nil || asked != want || strings.HasPrefix(want, "CONNECT") == errors.Is(err, ErrURL) {
			t.Errorf("%s: %v, and the proxy was asked %q", address, err, asked)
		}
	}
	before := len(p.all())
	if _, err := NewCache(t.TempDir()).Get(t.Context(), "http://skills.example/x.zip", Options{Allow: ours, Client: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", p.target)
	}}}}); err != nil || len(p.all()) > before {
		t.Errorf("a client of the host: %v, and the proxy was asked %q", err, p.all()[before:])
	}
	t.Setenv("NO_PROXY", "skills.example")
	if through, err := Proxy(t.Context(), &url.URL{Scheme: "https", Host: "skills.example"}, false); err != nil || through != nil {
		t.Errorf("with NO_PROXY: %v, %v", through, err)
	}
	if _, err := NewCache(t.TempDir()).Get(t.Context(), "https://127.0.0.1:1/x.zip", Options{}); !errors.Is(err, ErrURL) {
		t.Errorf("an address that no proxy is asked for: %v", err)
	}
}

// Where this machine finds the address of a host, that counts.
func TestCheckProxied(t *testing.T) {
	for host, refused := range map[string]bool{"public.example": false, "private.example": true, "both.example": true, "unknown.example": false, "8.8.8.8": false, "2606:4700::1111": false, "fe80::1%eth0": true} {
		err := checkProxied(t.Context(), host, func(_ context.Context, _, host string) ([]netip.Addr, error) {
			found := map[string][]netip.Addr{
				"public.example": {netip.MustParseAddr("8.8.8.8")}, "private.example": {netip.MustParseAddr("10.0.0.1")},
				"both.example": {netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("::1")},
			}[host]
			if found == nil {
				return nil, &net.DNSError{IsNotFound: true}
			}
			return found, nil
		})
		if errors.Is(err, ErrURL) != refused || !refused && err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// A tunnel through each kind of proxy carries what is sent.
func TestDialThrough(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	p := newForward(t, echo.Addr().String())
	for through, want := range map[string]string{
		strings.Replace(p.URL, "://", "://user:word@", 1): "",
		p.URL:                          "it answers 407 Proxy Authentication Required",
		"socks5://127.0.0.1:1":         "the scheme is not http or https",
		"http://user:word@127.0.0.1:1": "refused",
		"ftp://user:word@127.0.0.1:1":  "the scheme is not http or https",
	} {
		u, err := url.Parse(through)
		if err != nil {
			t.Fatal(err)
		}
		c, err := DialThrough(t.Context(), u, "far.example:443")
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "word") {
				t.Errorf("%s: %v", through, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", through, err)
			continue
		}
		if _, err := io.WriteString(c, "hello\n"); err != nil {
			t.Error(err)
		}
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || line != "hello\n" {
			t.Errorf("%s: %q, %v", through, line, err)
		}
		_ = c.Close()
	}
	if asked := p.all(); !slices.Contains(asked, "CONNECT far.example:443") {
		t.Errorf("the proxy was asked %q", asked)
	}
}
