package egress

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Rule allows one place: a scheme, a host or all hosts below a domain, and a port. Rules that mean
// the same are equal (==).
type Rule struct {
	scheme string // http or https
	below  bool   // all names below place.host, which is a name
	place  place
}

// ParseRule reads a rule: https://host, https://host:port, or the same with http. Without a port it
// has the default one of the scheme. A host is a name, an address, or *.name. The star allows all
// names below name, with one label or more before it, but not name itself. A name under which others
// register their names, such as com or github.io, cannot follow the star.
func ParseRule(s string) (Rule, error) {
	r, err := parseRule(s)
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", s, err)
	}
	return r, nil
}

var (
	errScheme = errors.New("want https://host, https://host:port, or the same with http")
	errMore   = errors.New("want no path, user or query behind the host")
	errStar   = errors.New("a star stands for the labels before a name: *.example.com")
)

func parseRule(s string) (Rule, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	port := ports[scheme]
	if !ok || port == 0 {
		return Rule{}, errScheme
	}
	if strings.ContainsAny(rest, "/?#@\\") {
		return Rule{}, errMore
	}
	rest, below := strings.CutPrefix(rest, "*.")
	if strings.Contains(rest, "*") {
		return Rule{}, errStar
	}
	at, err := parsePlace(rest, port)
	if err != nil {
		return Rule{}, err
	}
	if below {
		if at.host.name == "" {
			return Rule{}, errStar
		}
		if suffix, _ := publicsuffix.PublicSuffix(at.host.name); suffix == at.host.name {
			return Rule{}, fmt.Errorf("below %s are the names of strangers", at.host.name)
		}
	}
	return Rule{scheme, below, at}, nil
}

// ports has the default port of each scheme.
var ports = map[string]uint16{"http": 80, "https": 443}

// String returns the rule in canonical form, which [ParseRule] reads.
func (r Rule) String() string {
	if r.scheme == "" {
		return ""
	}
	s := r.scheme + "://"
	if r.below {
		s += "*."
	}
	if r.place.port == ports[r.scheme] {
		return s + r.place.host.String()
	}
	return s + r.place.String()
}

// SecretHost returns the host to which the rule lets secrets be sent: the one name of an https
// rule. It is empty if the rule names many hosts, an address, or another scheme.
func (r Rule) SecretHost() string {
	if r.below || r.scheme != "https" {
		return ""
	}
	return r.place.host.name
}

// fits reports whether the rule allows a place.
func (r Rule) fits(scheme string, at place) bool {
	return r.scheme == scheme && r.place.port == at.port && r.covers(at.host)
}

// covers reports whether the rule allows a host.
func (r Rule) covers(h host) bool {
	if r.below {
		return strings.HasSuffix(h.name, "."+r.place.host.name)
	}
	return r.place.host == h
}

// contains reports whether a rule allows all that another does.
func (r Rule) contains(other Rule) bool {
	if r.scheme != other.scheme || r.place.port != other.place.port {
		return false
	}
	if !other.below {
		return r.covers(other.place.host)
	}
	return r.below && (r.place.host == other.place.host || r.covers(other.place.host))
}

// Narrow returns the policy with rules for what both it and the requested rules allow. It also
// returns the requested rules that the policy does not allow, or not fully.
func (p Policy) Narrow(requested []Rule) (narrow Policy, refused []Rule) {
	var common []Rule
	for _, want := range requested {
		isAllowed := false
		for _, r := range p.Rules {
			switch {
			case r.contains(want):
				common, isAllowed = append(common, want), true
			case want.contains(r):
				common = append(common, r)
			}
		}
		if !isAllowed && !slices.Contains(refused, want) {
			refused = append(refused, want)
		}
	}
	p.Rules = nil
	for _, r := range common {
		if !slices.Contains(p.Rules, r) {
			p.Rules = append(p.Rules, r)
		}
	}
	return p, refused
}
