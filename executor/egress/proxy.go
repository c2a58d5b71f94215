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
	slots  chan struct{} // one for each connection that is open
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup // requests and tunnels

	connections    atomic.Int64 // that there were
	sent, received atomic.Int64

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool // tunnels, which the server has let go of
}

// New returns a proxy for one run. Close ends it.
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
		ErrorLog:          log.New(io.Discard, "", 0), // what a program sends is not the host's business
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, slotKey{}, c) },
		Protocols:         new(http.Protocols),
	}
	p.server.Protocols.SetHTTP1(true)
	p.server.SetKeepAlivesEnabled(false) // one request for each connection, so that both can be counted
	return p, nil
}

// Serve answers the connections of a listener until it is closed or the proxy is.
// It returns when the last of them has ended, and nil then.
func (p *Proxy) Serve(l net.Listener) error {
	err := p.server.Serve(&gate{Listener: l, proxy: p})
	_ = p.Close()
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Close ends all connections and waits for them to be gone. It may be called
// more than once; a closed proxy serves nothing.
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

// begin counts a request that is under way, unless the proxy is closed.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wait.Add(1)
	}
	return !p.closed
}

// keep makes Close close a connection; the function that it returns closes it
// now.
func (p *Proxy) keep(c net.Conn) (done func()) {
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

// gate takes a connection only when there is a slot for it: the others wait in
// the kernel.
type gate struct {
	net.Listener
	proxy *Proxy
}

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
		if !s.asked.Load() {
			g.proxy.policy.Log(Entry{Time: began, Verdict: verdictRefused, Reason: "no request that can be understood"})
		}
		<-g.proxy.slots
	})
	return s, nil
}

// slotConn is a connection of the program. It gives its slot back when it is
// closed.
type slotConn struct {
	net.Conn
	number int64
	asked  atomic.Bool // there was a request, which has an entry of its own
	end    func()
}

// slotKey is the key of a request's connection in its context.
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
	s.asked.Store(true)
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

// overLimit says which limit of the run is reached by the connection of that
// number.
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

func size(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// exchange is one connection of the program.
type exchange struct {
	*Proxy
	entry          Entry
	hidden         *redact.Set // what no answer may show
	address        atomic.Pointer[netip.Addr]
	sent, received atomic.Int64
}

func (e *exchange) end() {
	e.entry.Sent, e.entry.Received = e.sent.Load(), e.received.Load()
	if addr := e.address.Load(); addr != nil {
		e.entry.Address = *addr
	}
	e.policy.Log(e.entry)
}

// refuse answers that something is not allowed.
func (e *exchange) refuse(w http.ResponseWriter, why error) {
	e.answer(w, http.StatusForbidden, verdictRefused, why)
}

// fail answers that what is allowed did not work.
func (e *exchange) fail(w http.ResponseWriter, why error) {
	e.answer(w, http.StatusBadGateway, verdictFailed, why)
}

func (e *exchange) answer(w http.ResponseWriter, status int, v string, why error) {
	text := e.hidden.Text(why.Error(), 0) // a host's broken answer can be part of it
	e.entry.Verdict, e.entry.Reason = v, text
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "egress: %s\n", text) //nolint:gosec // plain text, and its reader is a program
}

// toward notes where the program wants to go.
func (e *exchange) toward(at place) {
	e.entry.Name, e.entry.Port = at.host.String(), at.port
}

// notAllowed is the refusal of a place that no rule has.
func (e *exchange) notAllowed(at place) error {
	return fmt.Errorf("%q is not allowed for this run (allowed: %s). This is policy; another way will not work.", at, e.policy.ruleList())
}
