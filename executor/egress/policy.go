package egress

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Policy says what one run may reach. The zero value allows nothing.
type Policy struct {
	// Rules are the places that may be reached.
	Rules []Rule
	// Private are ranges of addresses that are not public, which the hosts of Rules may have
	// nevertheless. This machine's own addresses are not public.
	Private []netip.Prefix
	// Resolve finds the addresses of a name, as [net.Resolver.LookupNetIP] does. Nil
	// means this machine's resolver.
	Resolve func(ctx context.Context, network, host string) ([]netip.Addr, error)
	// Limits bound the run; zero fields mean the defaults.
	Limits Limits
	// Roots are the certificates that the proxy trusts when it speaks TLS itself. Nil means the
	// system's.
	Roots *x509.CertPool
	// Secrets are values that the proxy puts into requests.
	Secrets []Secret
	// Log, if set, is called for each connection when it has ended, by several goroutines at
	// once.
	Log func(Entry)
}

// Limits bound what a run does through its proxy. Zero fields mean the defaults.
type Limits struct {
	Connections int           // at once; more wait. Default 16
	Total       int           // in the whole run. Default 512
	Bytes       int64         // in each direction, in the whole run. Default 64 MiB
	Header      int           // bytes of a request's or an answer's header. Default 64 KiB
	Dial        time.Duration // for a name's addresses and a connection. Default 10 s
	Hello       time.Duration // until a TLS handshake has begun. Default 5 s
	Idle        time.Duration // without a byte. Default 30 s
}

func (l Limits) withDefaults() (Limits, error) {
	for _, n := range []int64{int64(l.Connections), int64(l.Total), l.Bytes, int64(l.Header), int64(l.Dial), int64(l.Hello), int64(l.Idle)} {
		if n < 0 {
			return l, errors.New("a limit is negative")
		}
	}
	l.Connections = cmp.Or(l.Connections, defaultConnections)
	l.Total = cmp.Or(l.Total, defaultTotal)
	l.Bytes = cmp.Or(l.Bytes, defaultBytes)
	l.Header = cmp.Or(l.Header, defaultHeader)
	l.Dial = cmp.Or(l.Dial, defaultDial)
	l.Hello = cmp.Or(l.Hello, defaultHello)
	l.Idle = cmp.Or(l.Idle, defaultIdle)
	return l, nil
}

// Entry describes one connection. It holds none of its content: no path, no header.
type Entry struct {
	Time     time.Time  // when the request came
	Verdict  string     // "allowed"; "refused" by policy or a limit; "failed": allowed, and the host was not reached
	Reason   string     // why it was refused or broke; empty for one that went well
	Name     string     // the requested host in canonical form; empty if the request was invalid
	Port     uint16     // 0 if the request was invalid
	Address  netip.Addr // of the connection to the host; not valid if there was none
	Sent     int64      // bytes to the host that were counted
	Received int64      // bytes from the host
	Tunnel   bool       // by CONNECT: the program speaks TLS itself
}

// These are the values of Entry.Verdict.
const (
	verdictAllowed = "allowed"
	verdictRefused = "refused"
	verdictFailed  = "failed"
)

// Secret is a value that a run may use and must not see: the program has only the placeholder.
// If the proxy sends a plain HTTP request on by TLS to one of the hosts, it puts the value into the
// headers. It removes the value from the headers and the body of the answer. In TLS that a program
// speaks itself, the placeholder stays.
type Secret struct {
	Name        string   // replaces the value in answers, in brackets
	Value       string   // at least 8 bytes, which a header can hold
	Placeholder string   // at least 16 bytes that occur nowhere else, such as random ones
	Hosts       []string // names without stars; no other host gets the value
}

// proxySecret is a secret with its parsed hosts.
type proxySecret struct {
	Secret
	hosts []host
}

// proxySecrets checks secrets and parses their hosts.
func proxySecrets(secrets []Secret) ([]proxySecret, error) {
	var all []proxySecret
	for _, s := range secrets {
		k := proxySecret{Secret: s}
		switch {
		case len(s.Value) < minValue || strings.ContainsAny(s.Value, "\r\n\x00"):
			return nil, fmt.Errorf("secret %q has no usable value", s.Name)
		case len(s.Placeholder) < minPlaceholder:
			return nil, fmt.Errorf("secret %q: the placeholder is too short", s.Name)
		case len(s.Hosts) == 0:
			return nil, fmt.Errorf("secret %q: name its hosts", s.Name)
		}
		for _, name := range s.Hosts {
			h, err := parseHost(name)
			if err != nil || h.name == "" {
				return nil, fmt.Errorf("secret %q: host %q: want a name without a star", s.Name, name)
			}
			k.hosts = append(k.hosts, h)
		}
		all = append(all, k)
	}
	return all, nil
}

func (k *proxySecret) isFor(h host) bool { return slices.Contains(k.hosts, h) }

// ruleList returns the rules as a text, for the answer to a refused program.
func (p *Policy) ruleList() string {
	var all []string
	for _, r := range p.Rules {
		all = append(all, r.String())
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// fits reports whether a rule allows a place.
func (p *Policy) fits(scheme string, at place) bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.fits(scheme, at) })
}

// Port is where a program finds the proxy, on the loopback interface of its sandbox.
const Port = 3128

// Environment returns the variables, as NAME=value, by which programs find a proxy of this
// policy at [Port]. Programs reach the loopback interface of their sandbox directly, except
// for addresses of it that a rule allows.
func (p Policy) Environment() []string {
	url := fmt.Sprintf("http://127.0.0.1:%d", Port)
	direct := slices.DeleteFunc([]string{"localhost", "127.0.0.1", "::1"}, func(name string) bool {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		h, err := parseHost(name)
		return err == nil && slices.ContainsFunc(p.Rules, func(r Rule) bool { return r.covers(h) })
	})
	noProxy := strings.Join(direct, ",")
	return []string{
		"http_proxy=" + url, "HTTP_PROXY=" + url, "https_proxy=" + url, "HTTPS_PROXY=" + url,
		"no_proxy=" + noProxy, "NO_PROXY=" + noProxy, "NODE_USE_ENV_PROXY=1",
	}
}
