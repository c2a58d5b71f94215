package protocol

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// traffic counts the requests that are being answered, and the bytes of their bodies.
type traffic struct {
	mu      sync.Mutex
	all     load
	tenants map[string]*load
}

// load is the number of requests and of bytes in memory.
type load struct{ requests, bytes int }

// within reports whether the load fits one of several equal shares of the bounds.
func (l *load) within(shares int) bool {
	return l.requests <= maxRequests/shares && l.bytes <= maxBodies/shares
}

func (l *load) add(requests, bytes int) { l.requests, l.bytes = l.requests+requests, l.bytes+bytes }

// add adds requests and bytes to the load of a tenant. It reports false, and adds nothing, if that
// would exceed a bound. A request that ends (-1) is always subtracted.
func (t *traffic) add(tenant string, shares, requests, bytes int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.tenants[tenant]
	if own == nil {
		own = &load{}
		t.tenants[tenant] = own
	}
	own.add(requests, bytes)
	t.all.add(requests, bytes)
	fits := requests < 0 || own.within(shares) && t.all.within(1)
	if !fits {
		own.add(-requests, -bytes)
		t.all.add(-requests, -bytes)
	}
	if own.requests == 0 {
		delete(t.tenants, tenant)
	}
	return fits
}

// admission is the part of the traffic that one request holds until its end.
type admission struct {
	from   *traffic
	tenant string
	shares int
	bytes  int
}

// admit counts a request, or returns nil if there are too many.
func (s *Server) admit(who Principal) *admission {
	a := &admission{from: &s.traffic, tenant: who.Tenant, shares: tenantShares}
	if s.auth == nil {
		a.shares = 1 // there is one tenant
	}
	if !s.traffic.add(a.tenant, a.shares, 1, 0) {
		return nil
	}
	return a
}

func (a *admission) end() { a.from.add(a.tenant, a.shares, -1, -a.bytes) }

var (
	errBusy = errors.New("too much at once")
	errLong = errors.New("message too long")
)

// read returns a body of at most most bytes. It counts the bytes in the traffic as its buffer
// grows.
func (a *admission) read(body io.Reader, most int) (raw []byte, err error) {
	for {
		if len(raw) == cap(raw) {
			more := min(max(cap(raw), firstRead), most+1-cap(raw))
			if more == 0 {
				return nil, errLong
			}
			if !a.from.add(a.tenant, a.shares, 0, more) {
				return nil, errBusy
			}
			a.bytes += more
			raw = append(make([]byte, 0, cap(raw)+more), raw...)
		}
		n, err := body.Read(raw[len(raw):cap(raw)])
		raw = raw[:len(raw)+n]
		switch {
		case len(raw) > most:
			return nil, errLong
		case errors.Is(err, io.EOF):
			return raw, nil
		case err != nil:
			return nil, err
		}
	}
}

// pacedBody is a request body that must arrive at bodyRate. If end is not zero, it must be complete
// by then.
type pacedBody struct {
	io.Reader
	control *http.ResponseController
	start   time.Time
	end     time.Time
	bytes   int64
}

func newPacedBody(w http.ResponseWriter, body io.Reader, wait time.Duration) *pacedBody {
	p := &pacedBody{Reader: body, control: http.NewResponseController(w), start: time.Now()}
	if wait > 0 {
		p.end = p.start.Add(wait)
	}
	return p
}

// Read implements io.Reader.
func (p *pacedBody) Read(b []byte) (int, error) {
	due := p.start.Add(bodyGrace + time.Duration(p.bytes)*time.Second/bodyRate)
	if !p.end.IsZero() && due.After(p.end) {
		due = p.end
	}
	_ = p.control.SetReadDeadline(due)
	n, err := p.Reader.Read(b)
	p.bytes += int64(n)
	return n, err
}

// maxMessage returns how many bytes a message of the caller may have.
func maxMessage(who Principal) int {
	if who.Has(ScopeRun) || who.Has(ScopeWrite) {
		return jsonrpc.MaxMessage
	}
	return maxReadMessage
}

// writeBusy answers a request that would exceed a bound of the traffic.
func writeBusy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, fault(codeBusy, "busy", "too many requests, or bytes of them, at once: at most %d and %d, and of a tenant with tokens %d and %d",
		maxRequests, maxBodies, maxRequests/tenantShares, maxBodies/tenantShares))
}
