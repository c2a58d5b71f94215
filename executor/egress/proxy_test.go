package egress_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor/egress"
)

func TestWaysOut(t *testing.T) {
	w := newWorld(t, song, nil)
	for i, c := range []struct{ address, want string }{
		{"https://example.com:" + w.securePort() + "/a", "example.com:" + w.securePort() + " sings at /a, tls true"},
		{"http://example.com:" + w.plainPort() + "/b", "example.com:" + w.plainPort() + " sings at /b, tls false"},
		{"http://EXAMPLE.com.:" + w.securePort() + "/c", "example.com:" + w.securePort() + " sings at /c, tls true"}, // this port allows only https, so the proxy uses TLS
	} {
		client := w.client(t)
		if status, got := get(t, client, c.address); status != http.StatusOK || got != c.want {
			t.Errorf("%s: %d %q, want %q", c.address, status, got, c.want)
		}
		client.CloseIdleConnections()
		if e := w.last(t, i+1); e.Verdict != "allowed" || e.Name != "example.com" || e.Address != local || e.Received == 0 || e.Time.IsZero() {
			t.Errorf("%s: %+v", c.address, e)
		}
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t, song, func(w *world, p *egress.Policy) {
		p.Rules = append(p.Rules, rules(t, "https://*.wild.example", "https://mixed.example", "https://10.0.0.1", "https://gone.example", "http://plain.example", "http://*.plains.example")...)
		for name, addrs := range map[string]string{
			"a.wild.example.": "169.254.169.254", "b.wild.example.": "64:ff9b::7f00:1", "c.wild.example.": "100.64.0.1", "d.wild.example.": "::ffff:10.0.0.1",
		} {
			w.names[name] = []netip.Addr{netip.MustParseAddr(addrs)}
		}
		w.names["mixed.example."] = []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.1")}
	})
	allowed := "(allowed: https://example.com:" + w.securePort() + ", http://example.com:" + w.plainPort() +
		", https://*.wild.example, https://mixed.example, https://10.0.0.1, https://gone.example, http://plain.example, http://*.plains.example). This is policy; another way will not work."
	closed := " leads to an address that is not public. This is policy; another way will not work."
	entries := 0
	for _, c := range []struct {
		request string
		status  int
		want    string
	}{
		{"CONNECT evil.test:443", 403, `egress: "evil.test:443" is not allowed for this run ` + allowed},
		{"CONNECT xwild.example:443", 403, `"xwild.example:443" is not allowed`},
		{"CONNECT wild.example:443", 403, `"wild.example:443" is not allowed`},
		{"CONNECT a.wild.example:8443", 403, `"a.wild.example:8443" is not allowed`},
		{"CONNECT a.wild.example:80", 403, "is not allowed"},
		{"CONNECT me@a.wild.example:443", 403, "egress: a user in the address is refused"},
		{"CONNECT 2130706433:443", 403, `"127.0.0.1:443" is not allowed`},
		{"CONNECT 0x7f.1:443", 403, `"127.0.0.1:443" is not allowed`},
		{"CONNECT [::ffff:127.0.0.1]:443", 403, `"127.0.0.1:443" is not allowed`},
		{"CONNECT a.wild.example:443", 403, `egress: "a.wild.example:443"` + closed},
		{"CONNECT b.wild.example:443", 403, closed},
		{"CONNECT c.wild.example:443", 403, closed},
		{"CONNECT d.wild.example:443", 403, closed},
		{"CONNECT mixed.example:443", 403, closed},
		{"CONNECT 10.0.0.1:443", 403, `"10.0.0.1:443"` + closed},
		{"CONNECT 0xa000001:443", 403, `"10.0.0.1:443"` + closed},
		{"CONNECT gone.example:443", 502, `egress: "gone.example:443" cannot be resolved`},
		{"CONNECT a..b:443", 403, `"a..b:443": is not a host name`},
		{"CONNECT plain.example:443", 403, `egress: a tunnel (CONNECT) to "plain.example:443" takes a rule for https, and http://plain.example allows requests without TLS only: ask for http:// without a tunnel. This is policy; another way will not work.`},
		{"CONNECT plain.example:80", 403, `egress: a tunnel (CONNECT) to "plain.example:80" takes a rule for https, and http://plain.example allows`},
		{"CONNECT a.plains.example:443", 403, `and http://*.plains.example allows requests without TLS only`},
		{"CONNECT example.com:1", 403, `egress: "example.com:1" is not allowed`},
		{"GET http://evil.test/", 403, `"evil.test:80" is not allowed`},
		{"GET http://example.com/", 403, `"example.com:80" is not allowed`},
		{"GET http://a.wild.example/", 403, `"a.wild.example:443"` + closed},
		{"GET http://me:pw@example.com:" + w.plainPort() + "/", 403, "a user in the address"},
		{"GET /", 400, "egress: this is a proxy: ask for http://host/path"},
		{"GET https://example.com/", 400, "this is a proxy"},
		{"GET ftp://example.com/", 400, "this is a proxy"},
		{"TRACE http://example.com:" + w.plainPort() + "/", 405, "TRACE"},
		{"GET http://example.com:0/", 403, "want a port"},
	} {
		status, body, conn, _ := w.raw(t, c.request+" HTTP/1.1\r\nHost: example.com:"+w.plainPort()+"\r\n\r\n")
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.request, status, body, c.status, c.want)
		}
		_ = conn.Close()
		entries++
		if e := w.last(t, entries); e.Verdict == "allowed" || e.Reason == "" || strings.Contains(e.Reason, "/path?") {
			t.Errorf("%s: %+v", c.request, e)
		}
	}
	_, _, conn, _ := w.raw(t, "no request at all\r\n\r\n")
	_ = conn.Close()
	if e := w.last(t, entries+1); e.Verdict != "refused" || e.Reason != "no request that can be understood" {
		t.Errorf("%+v", e)
	}
	status, body, _, _ := w.raw(t, "GET http://example.com:"+w.plainPort()+"/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if status != http.StatusMethodNotAllowed {
		t.Errorf("an upgrade: %d %s", status, body)
	}
}

// TestOwnAddress looks at a public address that is this machine's own.
func TestOwnAddress(t *testing.T) {
	w := newWorld(t, song, func(w *world, p *egress.Policy) {
		p.Rules = rules(t, "https://self.example")
		w.names["self.example."] = []netip.Addr{netip.MustParseAddr("8.8.4.4")}
	})
	w.proxy.Own(netip.MustParseAddr("8.8.4.4"))
	if status, body, _, _ := w.raw(t, "CONNECT self.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"); status != 403 || !strings.Contains(body, "not public") {
		t.Errorf("%d %s", status, body)
	}
}

// TestHostLies looks at requests that name another host than the target.
func TestHostLies(t *testing.T) {
	w := newWorld(t, song, nil)
	c, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET http://example.com:%s/x HTTP/1.1\r\nHost: admin.internal\r\nProxy-Authorization: me\r\n\r\n", w.plainPort())
	got, err := io.ReadAll(c)
	if err != nil || !strings.HasSuffix(string(got), "example.com:"+w.plainPort()+" sings at /x, tls false") {
		t.Errorf("%v %q", err, got)
	}
}

// TestTunnelSpeaksTLSOnly looks at what is said in a tunnel before the handshake.
func TestTunnelSpeaksTLSOnly(t *testing.T) {
	w := newWorld(t, song, nil)
	at := "example.com:" + w.securePort()
	for what, first := range map[string][]byte{
		"plain text":     []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"),
		"second CONNECT": []byte("CONNECT " + at + " HTTP/1.1\r\n\r\n"),
		"another name":   hello(t, &tls.Config{ServerName: "evil.test", MinVersion: tls.VersionTLS12}),
		"no name":        hello(t, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}), //nolint:gosec // nothing is sent
	} {
		w.mu.Lock()
		before := len(w.entries)
		w.mu.Unlock()
		status, body, c, r := w.raw(t, "CONNECT "+at+" HTTP/1.1\r\nHost: "+at+"\r\n\r\n")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", what, status, body)
		}
		if _, err := c.Write(first); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); len(got) > 0 {
			t.Errorf("%s: %q, %v came back", what, got, err)
		}
		if e := w.last(t, before+1); e.Verdict != "refused" || e.Reason == "" || e.Sent != 0 {
			t.Errorf("%s: %+v", what, e)
		}
	}
}

// TestSilentTunnel looks at a program that begins no handshake.
func TestSilentTunnel(t *testing.T) {
	w := newWorld(t, song, func(_ *world, p *egress.Policy) { p.Limits.Hello = 20 * time.Millisecond })
	status, _, _, r := w.raw(t, "CONNECT example.com:"+w.securePort()+" HTTP/1.1\r\nHost: x\r\n\r\n")
	if got, err := io.ReadAll(r); status != http.StatusOK || len(got) > 0 {
		t.Errorf("%d %q %v", status, got, err)
	}
	if e := w.last(t, 1); e.Verdict != "refused" {
		t.Errorf("last: got %+v, want Verdict %q", e, "refused")
	}
}

// TestRebinding uses a name whose second answer is a private address. The proxy must resolve it once
// for each connection, and connect to the address that it has checked.
func TestRebinding(t *testing.T) {
	w := newWorld(t, song, nil)
	if status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/"); status != 200 {
		t.Fatal(status, body)
	}
	w.mu.Lock()
	asked := w.asked["example.com."]
	w.names["example.com."] = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
	w.mu.Unlock()
	if asked != 1 {
		t.Errorf("asked %d times for one connection", asked)
	}
	if status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/"); status != 403 {
		t.Errorf("%d %s", status, body)
	}
}

// TestRedirect: where a host sends the client is the client's next request.
func TestRedirect(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://evil.test/", http.StatusFound)
	}, nil)
	if status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/"); status != 403 || !strings.Contains(body, `"evil.test:80" is not allowed`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestConnectionsInAll(t *testing.T) {
	w := newWorld(t, song, func(_ *world, p *egress.Policy) { p.Limits.Total = 3 })
	for i := range 5 {
		status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/")
		if i < 3 && status != 200 || i >= 3 && (status != 403 || body != "egress: over the limit of 3 connections\n") {
			t.Errorf("%d: %d %q", i, status, body)
		}
	}
}

// TestConnectionsAtOnce opens more connections than there are slots. The others wait until a slot is
// free.
func TestConnectionsAtOnce(t *testing.T) {
	entered, leave := make(chan string, 8), make(chan bool)
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		entered <- r.URL.Path
		<-leave
		song(w, r)
	}, func(_ *world, p *egress.Policy) { p.Limits.Connections = 2 })
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/"); status != 200 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	<-entered
	<-entered
	select {
	case <-entered:
		t.Error("a third is served beside two")
	case <-time.After(50 * time.Millisecond): // long enough for a third request to arrive
	}
	close(leave)
	all.Wait()
}

func TestBytesInAll(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, big)
	}, func(_ *world, p *egress.Policy) { p.Limits.Bytes = 1 << 20 })
	_, body := get(t, w.client(t), "https://example.com:"+w.securePort()+"/")
	if len(body) >= len(big) {
		t.Errorf("%d bytes came through", len(body))
	}
	if e := w.last(t, 1); e.Received > 1<<20 || e.Received < 1<<19 || !strings.Contains(e.Reason, "over the limit") {
		t.Errorf("%+v", e)
	}
	if status, body := get(t, w.client(t), "http://example.com:"+w.plainPort()+"/"); status != 403 || body != "egress: over the limit of 1 MiB\n" {
		t.Errorf("%d %q", status, body)
	}
}

func TestBytesUp(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		_, _ = fmt.Fprint(w, n)
	}, func(_ *world, p *egress.Policy) { p.Limits.Bytes = 1 << 20 })
	answer, err := w.client(t).Post("http://example.com:"+w.plainPort()+"/", "text/plain", strings.NewReader(strings.Repeat("x", 2<<20)))
	if err == nil {
		defer answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("two MiB went through")
		}
	}
	if e := w.last(t, 1); e.Sent > 1<<20 || e.Verdict == "allowed" && e.Reason == "" {
		t.Errorf("%+v", e)
	}
}

// TestIdle looks at a host that says nothing more.
func TestIdle(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := newWorld(t, song, func(_ *world, p *egress.Policy) {
		p.Limits.Idle = 50 * time.Millisecond
		p.Rules = rules(t, "http://example.com:"+fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	})
	if status, body := get(t, w.client(t), "http://example.com:"+fmt.Sprint(l.Addr().(*net.TCPAddr).Port)+"/"); status != http.StatusBadGateway {
		t.Errorf("%d %s", status, body)
	}
	if e := w.last(t, 1); e.Verdict != "failed" || e.Address != local {
		t.Errorf("%+v", e)
	}
}

// TestClose ends tunnels, requests that wait and connections that say nothing.
func TestClose(t *testing.T) {
	entered := make(chan bool, 1)
	w := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
		entered <- true
		<-r.Context().Done()
	}, nil)
	status, _, _, tunnel := w.raw(t, "CONNECT example.com:"+w.securePort()+" HTTP/1.1\r\nHost: x\r\n\r\n")
	if status != http.StatusOK {
		t.Fatal(status)
	}
	silent, err := net.Dial("tcp", w.at)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	waiting := make(chan int, 1)
	client := w.client(t)
	go func() {
		status, _ := get(t, client, "http://example.com:"+w.plainPort()+"/")
		waiting <- status
	}()
	<-entered
	if err := w.proxy.Close(); err != nil {
		t.Error(err)
	}
	for what, r := range map[string]io.Reader{"tunnel": tunnel, "silent": silent} {
		_ = silent.SetReadDeadline(time.Now().Add(patience))
		if got, err := io.ReadAll(r); len(got) > 0 || err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %q %v", what, got, err)
		}
	}
	if status := <-waiting; status == http.StatusOK {
		t.Error("a request was answered after all")
	}
}

func TestNewRefuses(t *testing.T) {
	good := egress.Secret{Name: "X", Value: "0123456789", Placeholder: "satchel-secret-0123456789", Hosts: []string{"a.example"}}
	for what, p := range map[string]egress.Policy{
		"empty rule":     {Rules: make([]egress.Rule, 1)},
		"negative limit": {Limits: egress.Limits{Bytes: -1}},
		"short value":    {Secrets: []egress.Secret{{Name: "X", Value: "short", Placeholder: good.Placeholder, Hosts: good.Hosts}}},
		"lines":          {Secrets: []egress.Secret{{Name: "X", Value: "0123456\r\nX: y", Placeholder: good.Placeholder, Hosts: good.Hosts}}},
		"placeholder":    {Secrets: []egress.Secret{{Name: "X", Value: good.Value, Placeholder: "x", Hosts: good.Hosts}}},
		"no host":        {Secrets: []egress.Secret{{Name: "X", Value: good.Value, Placeholder: good.Placeholder}}},
		"star":           {Secrets: []egress.Secret{{Name: "X", Value: good.Value, Placeholder: good.Placeholder, Hosts: []string{"*.a.example"}}}},
	} {
		if _, err := egress.New(p); err == nil || !strings.HasPrefix(err.Error(), "egress: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
