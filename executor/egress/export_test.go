package egress

import "net/netip"

// Own replaces the addresses of this machine.
func (p *Proxy) Own(all ...netip.Addr) {
	p.own = func() ([]netip.Addr, error) { return all, nil }
}

// Address checks for tests.
var (
	IsPublic  = isPublic
	ReadHello = readHello
)

// Spelling is the one spelling of a host, or empty.
func Spelling(text string) string {
	h, err := parseHost(text)
	if err != nil {
		return ""
	}
	return h.String()
}
