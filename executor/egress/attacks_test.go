package egress_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor/egress"
)

// direct is a client without the proxy. It resolves names itself and connects to the first address
// that answers, if look accepts the name.
func direct(t *testing.T, w *world, look func(name string) bool) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		name, port, err := net.SplitHostPort(address)
		if err != nil || !look(name) {
			return nil, errors.New("refused")
		}
		found, err := w.LookupNetIP(ctx, "ip", name+".")
		for _, addr := range found {
			var conn net.Conn
			if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", addr.Unmap().String()+":"+port); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// TestAttackByNames lets allowed names resolve to this machine. A client without the proxy reaches it,
// even if it checks the address of the name before it connects.
func TestAttackByNames(t *testing.T) {
	public := netip.MustParseAddr("8.8.8.8")
	for name, addrs := range map[string][]netip.Addr{
		"loopback": {local}, "mapped": {netip.MustParseAddr("::ffff:127.0.0.1")}, "both": {local, public},
	} {
		w := newWorld(t, song, func(w *world, p *egress.Policy) {
			p.Private = nil
			w.names["example.com."] = addrs
		})
		address := "http://example.com:" + w.plainPort() + "/x"
		anything := func(string) bool { return true }
		if status, got := get(t, direct(t, w, anything), address); status != http.StatusOK || !strings.Contains(got, "sings") {
			t.Errorf("%s without the guard: %d %s", name, status, got)
		}
		if status, got := get(t, w.client(t), address); status != http.StatusForbidden || !strings.Contains(got, "not public") {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}
	w := newWorld(t, song, nil)
	looked := func(name string) bool { // looked reports whether a name was resolved, and makes it resolve to another address afterwards
		w.mu.Lock()
		defer w.mu.Unlock()
		was := w.names[name+"."]
		w.names[name+"."] = []netip.Addr{local}
		return was[0] == public
	}
	w.names["example.com."] = []netip.Addr{public}
	if status, got := get(t, direct(t, w, looked), "http://example.com:"+w.plainPort()+"/x"); status != http.StatusOK {
		t.Errorf("rebound without the guard: %d %s", status, got)
	}
}
