package egress

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// host is a host in canonical form: either an address or an ASCII name.
type host struct {
	name string     // lower case, no trailing dot; empty for an address
	addr netip.Addr // without zone; an IPv4 address written as IPv6 is IPv4
}

func (h host) String() string {
	switch {
	case h.name != "":
		return h.name
	case h.addr.Is6():
		return "[" + h.addr.String() + "]"
	}
	return h.addr.String()
}

var (
	errNoName = errors.New("is not a host name")
	errZone   = errors.New("has a zone")
)

// parseHost reads the host of a URL. Any spelling that a resolver or a client could read as an
// address is an address.
func parseHost(text string) (host, error) {
	if inside, ok := strings.CutPrefix(text, "["); ok {
		inside, closed := strings.CutSuffix(inside, "]")
		addr, err := netip.ParseAddr(inside)
		if err != nil || !closed || !addr.Is6() {
			return host{}, errNoName
		}
		return addressHost(addr)
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		return addressHost(addr)
	}
	name, err := names.ToASCII(strings.TrimSuffix(text, "."))
	if err != nil || name == "" || len(name) > maxName || strings.HasSuffix(name, ".") {
		return host{}, errNoName
	}
	name = strings.ToLower(name)
	if second, err := names.ToASCII(name); err != nil || second != name {
		return host{}, errNoName // bytes that are no text become a name that no rule can match
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return host{}, errNoName
		}
	}
	if isNumber(labels[len(labels)-1]) {
		addr, ok := oldAddress(labels)
		if !ok {
			return host{}, errNoName
		}
		return host{addr: addr}, nil
	}
	return host{name: name}, nil
}

// names converts names to ASCII as browsers do, and refuses names that DNS cannot have.
var names = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.VerifyDNSLength(false))

// addressHost returns the host of an address, which must have no zone.
func addressHost(addr netip.Addr) (host, error) {
	if addr.Zone() != "" {
		return host{}, errZone
	}
	return host{addr: addr.Unmap()}, nil
}

// validLabel reports whether a text can be a part of a name between dots.
func validLabel(label string) bool {
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, c := range []byte(label) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isNumber reports whether a label is a number for inet_aton, perhaps an invalid one. No name ends
// with such a label.
func isNumber(label string) bool {
	digits := "0123456789"
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = rest, "0123456789abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// oldAddress reads an IPv4 address as inet_aton does: one to four decimal, octal or hexadecimal
// numbers. Each is one byte, and the last one has all remaining bytes.
func oldAddress(parts []string) (netip.Addr, bool) {
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var addr uint64
	for i, part := range parts {
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:], 16
			if part == "" {
				part = "0"
			}
		case len(part) > 1 && part[0] == '0':
			part, base = part[1:], 8
		}
		room := 8
		if i == len(parts)-1 {
			room = 8 * (5 - len(parts))
		}
		n, err := strconv.ParseUint(part, base, room)
		if err != nil {
			return netip.Addr{}, false
		}
		addr = addr<<room | n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}), true
}

// place is a host with a port.
type place struct {
	host host
	port uint16
}

// String returns host:port.
func (p place) String() string { return p.host.String() + ":" + strconv.Itoa(int(p.port)) }

var errPort = errors.New("want a port from 1 to 65535")

// parsePlace reads host:port, or a host that has the given port.
func parsePlace(text string, port uint16) (place, error) {
	name := text
	if at := strings.LastIndexByte(text, ':'); at > strings.LastIndexByte(text, ']') && strings.Count(text[strings.LastIndexByte(text, ']')+1:], ":") == 1 {
		n, err := strconv.ParseUint(text[at+1:], 10, 16)
		if err != nil || n == 0 {
			return place{}, errPort
		}
		name, port = text[:at], uint16(n)
	}
	h, err := parseHost(name)
	return place{h, port}, err
}

// dialAddress returns an address and port for net.Dialer.
func dialAddress(addr netip.Addr, port uint16) string {
	return net.JoinHostPort(addr.String(), strconv.Itoa(int(port)))
}
