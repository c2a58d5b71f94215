package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// Proxy connects one run to the hosts that its Policy allows.
type Proxy struct {
	policy  Policy
	secrets []proxySecret
	redact  *redact.Set
	values  []redact.Secret // the secrets in all their forms
	own     func() ([]netip.Addr, error)

	server *http.Server
	slots  chan struct{} // has an element for each open connection
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup // requests and tunnels

	connections    atomic.Int64 // accepted so far
	sent, received atomic.Int64

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool // connections of tunnels, which the HTTP server does not close
}

// New returns a proxy for one run. The host closes it after the run.
func New(policy Policy) (*Proxy, error) {
	limits, err := policy.Limits.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	policy.Limits = limits
	if slices.Contains(policy.Rules, Rule{}) {
		return nil, errors.New("egress: a rule is empty: make rules with ParseRule")
	}
	policy.Rules = slices.Clone(policy.Rules)
	policy.Private = slices.Clone(policy.Private)
	if policy.Resolve == nil {
		policy.Resolve = net.DefaultResolver.LookupNetIP
	}
	if policy.Log == nil {
		policy.Log = func(Entry) {}
	}
	secrets, err := proxySecrets(policy.Secrets)
	if err != nil {
		return nil, fmt.Errorf("egress: %w", err)
	}
	var values []redact.Secret
	for _, s := range secrets {
		values = append(values, redact.Secret{Name: s.Name, Value: s.Value})
	}
	p := &Proxy{
		policy: policy, secrets: secrets, values: formsOf(values), own: ownAddresses,
		slots: make(chan struct{}, limits.Connections), open: map[net.Conn]bool{},
	}
	p.redact = redact.NewSet(p.values)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.serve),
		ReadHeaderTimeout: limits.Idle,
		MaxHeaderBytes:    limits.Header,
		ErrorLog:          log.New(io.Discard, "", 0), // errors of a program are not for the host's log
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, slotKey{}, c) },
		Protocols:         new(http.Protocols),
	}
	p.server.Protocols.SetHTTP1(true)
	p.server.SetKeepAlivesEnabled(false) // one request for each connection, so that both can be counted
	return p, nil
}

// Serve answers the connections of a listener until the listener or the proxy is closed. It returns
// nil when the last connection has ended.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(&gate{Listener: l, proxy: p})
	_ = p.Close()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close closes all connections and waits until their requests have ended. A closed proxy serves
// nothing. A second call does nothing.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	tunnels := p.open
	p.open = map[net.Conn]bool{}
	p.mu.Unlock()
	p.cancel()
	_ = p.server.Close()
	for c := range tunnels {
		_ = c.Close()
	}
	p.wait.Wait()
	return nil
}

// begin counts a request that Close must wait for. It returns false if the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wait.Add(1)
	}
	return !p.closed
}

// track adds a connection to those that Close closes. The caller calls done to close it before.
func (p *Proxy) track(c net.Conn) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return func() {}
	}
	p.open[c] = true
	return func() {
		p.mu.Lock()
		delete(p.open, c)
		p.mu.Unlock()
		_ = c.Close()
	}
}

// gate accepts a connection only when there is a slot for it. Other connections wait in the kernel.
type gate struct {
	net.Listener
	proxy *Proxy
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.proxy.slots <- struct{}{}:
	case <-g.proxy.ctx.Done():
		return nil, net.ErrClosed
	}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.proxy.slots
		return nil, err
	}
	s := &slotConn{Conn: c, number: g.proxy.connections.Add(1)}
	began := time.Now()
	s.end = sync.OnceFunc(func() {
		if !s.hasRequest.Load() {
			g.proxy.policy.Log(Entry{Time: began, Verdict: verdictRefused, Reason: "no request that can be understood"})
		}
		<-g.proxy.slots
	})
	return s, nil
}

// slotConn is a connection of the program. Close frees its slot.
type slotConn struct {
	net.Conn
	number     int64
	hasRequest atomic.Bool // there was a request, whose exchange makes the log entry
	end        func()
}

// slotKey is the context key of a request's connection.
type slotKey struct{}

func (s *slotConn) Close() error {
	defer s.end()
	return s.Conn.Close()
}

// serve answers one request.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if !p.begin() {
		return
	}
	defer p.wait.Done()
	e := &exchange{Proxy: p, hidden: p.redact, entry: Entry{Time: time.Now(), Verdict: verdictAllowed}}
	defer e.end()
	s := r.Context().Value(slotKey{}).(*slotConn) //nolint:forcetypeassert // ConnContext put it there
	s.hasRequest.Store(true)
	if err := p.overLimit(s.number); err != nil {
		e.refuse(w, err)
		return
	}
	if r.Method == http.MethodConnect {
		e.connect(w, r)
		return
	}
	e.forward(w, r)
}

// overLimit returns an error if the connection of that number exceeds a limit of the run.
func (p *Proxy) overLimit(number int64) error {
	l := p.policy.Limits
	if number > int64(l.Total) {
		return fmt.Errorf("over the limit of %d connections", l.Total)
	}
	if p.sent.Load() >= l.Bytes || p.received.Load() >= l.Bytes {
		return fmt.Errorf("over the limit of %s", size(l.Bytes))
	}
	return nil
}

// size returns a number of bytes as text.
func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// exchange is one request of the program and its answer, or one tunnel.
type exchange struct {
	*Proxy
	entry          Entry
	hidden         *redact.Set // values that no answer may show
	address        atomic.Pointer[netip.Addr]
	sent, received atomic.Int64
}

// end completes the entry and logs it.
func (e *exchange) end() {
	e.entry.Sent, e.entry.Received = e.sent.Load(), e.received.Load()
	if addr := e.address.Load(); addr != nil {
		e.entry.Address = *addr
	}
	e.policy.Log(e.entry)
}

// refuse answers a request that the policy or a limit forbids.
func (e *exchange) refuse(w http.ResponseWriter, why error) {
	e.answer(w, http.StatusForbidden, verdictRefused, why)
}

// fail answers an allowed request that did not work.
func (e *exchange) fail(w http.ResponseWriter, why error) {
	e.answer(w, http.StatusBadGateway, verdictFailed, why)
}

// answer answers with an error text, and records the verdict and the text in the entry.
func (e *exchange) answer(w http.ResponseWriter, status int, verdict string, why error) {
	text := e.hidden.Text(why.Error(), 0) // the error can repeat an answer of the host
	e.entry.Verdict, e.entry.Reason = verdict, text
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "egress: %s\n", text) //nolint:gosec // plain text, and its reader is a program
}

// setTarget records the requested place in the entry.
func (e *exchange) setTarget(at place) {
	e.entry.Name, e.entry.Port = at.host.String(), at.port
}

// notAllowed returns the error for a place that no rule allows.
func (e *exchange) notAllowed(at place) error {
	return fmt.Errorf("%q is not allowed for this run (allowed: %s). This is policy; another way will not work.", at, e.policy.ruleList())
}
