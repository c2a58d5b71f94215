package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// nonPublic are the ranges that are not on the public internet, or that lead from it to such
// addresses. Of IPv6 only 2000::/3 is public. That leaves out translations (64:ff9b::/96), private
// (fc00::/7, fec0::/10), local and multicast addresses. Sources: the special-purpose registries of
// RFC 6890.
var nonPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var public6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// isPublic reports whether an address is on the public internet.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsValid() || addr.Zone() != "" || addr.Is6() && !public6.Contains(addr) {
		return false
	}
	return !within(addr, nonPublic)
}

// within reports whether one of the ranges contains the address.
func within(addr netip.Addr, all []netip.Prefix) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Unreachable returns the address of a rule if the policy never lets a program reach it, because it
// is neither public nor in Private. ok is false for other addresses and for names.
func (p Policy) Unreachable(r Rule) (addr netip.Addr, ok bool) {
	addr = r.place.host.addr
	if !addr.IsValid() || isPublic(addr) || within(addr, p.Private) {
		return netip.Addr{}, false
	}
	return addr, true
}

// errNotPublic means that a host has an address that is not public.
var errNotPublic = errors.New("leads to an address that is not public")

// addresses returns the addresses of a host. If the policy forbids one of them, it returns that one
// and errNotPublic. Otherwise a client could retry until it reaches a forbidden address.
func (p *Proxy) addresses(ctx context.Context, h host) ([]netip.Addr, error) {
	found := []netip.Addr{h.addr}
	if h.name != "" {
		var err error
		// With the final dot the resolver does not try the search domains of this machine.
		if found, err = p.policy.Resolve(ctx, "ip", h.name+"."); err != nil {
			return nil, fmt.Errorf("cannot be resolved: %w", err)
		}
	}
	if len(found) == 0 || len(found) > maxAnswers {
		return nil, fmt.Errorf("cannot be resolved: %d addresses", len(found))
	}
	own, err := p.own()
	if err != nil {
		return nil, err
	}
	for i, addr := range found {
		addr = addr.Unmap()
		found[i] = addr
		if within(addr, p.policy.Private) && addr.Zone() == "" {
			continue
		}
		if !isPublic(addr) || slices.Contains(own, addr) {
			return found[i : i+1], errNotPublic
		}
	}
	return found, nil
}

// ownAddresses returns the addresses of this machine. Its services are not public, even if its
// address is.
func ownAddresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own, nil
}
