//go:build amd64 || arm64

package executortest

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

const noSuchSocket = "CLOSED(EAFNOSUPPORT) CLOSED(EPROTONOSUPPORT) CLOSED(ENOPROTOOPT) CLOSED(ESOCKTNOSUPPORT)"

// networkAttacks connect to sockets of the host.
var networkAttacks = []attack{
	{name: "TCP", holds: networks, harm: func(g *target) bool { return g.reached.tcp.Load() > 0 }, probe: `
s = socket.create_connection(('127.0.0.1', T['tcp']), 30)
if s.recv(5) != b'sings': no('other')`},
	{name: "TCP on IPv6", holds: networks, needs: func(g *target) bool { return g.hasIPv6 }, without: "CLOSED(none)",
		harm: func(g *target) bool { return g.reached.tcp6.Load() > 0 }, probe: `
if not T.get('tcp6'): no('none')
s = socket.create_connection(('::1', T['tcp6']), 30)
if s.recv(5) != b'sings': no('other')`},
	{name: "MPTCP", holds: networks, needs: speaks(unix.AF_INET, unix.SOCK_STREAM, 262), without: noSuchSocket, probe: `
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.connect(('127.0.0.1', T['tcp']))
if s.recv(5) != b'sings': no('other')`},
	{name: "UDP", holds: networks, harm: func(g *target) bool { return g.reached.udp.Load() > 0 }, probe: `
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(30)
s.connect(('127.0.0.1', T['udp']))
s.send(b'x')
s.recv(1)`},
	{name: "an abstract socket", holds: networks, harm: func(g *target) bool { return g.reached.abstract.Load() > 0 }, probe: `
s = socket.socket(socket.AF_UNIX)
s.connect('\0' + T['abstract'])
if s.recv(5) != b'sings': no('other')`},
	{name: "a socket in a directory", holds: networks, harm: func(g *target) bool { return g.reached.path.Load() > 0 }, probe: `
s = socket.socket(socket.AF_UNIX)
s.connect(near(T['socket']))
if s.recv(5) != b'sings': no('other')`},
	{name: "a socket at the other end of a pair", holds: networks, harm: func(g *target) bool { return g.reached.path.Load() > 0 }, probe: `
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
either(lambda: a.connect(near(T['socket'])), lambda: socket.socket(socket.AF_UNIX).connect(near(T['socket'])))`},
	{name: "interfaces", holds: networks, needs: connected, without: "CLOSED(none)", probe: `
if all(name == 'lo' for _, name in socket.if_nameindex()): no('none')`},
	{name: "name servers", holds: files, needs: openable("/etc/resolv.conf", os.O_RDONLY), without: "CLOSED(ENOENT)", probe: `read('/etc/resolv.conf')`},
}

// socketAttacks open sockets of kinds that no skill needs.
var socketAttacks = []attack{
	opensSocket("AF_VSOCK", 40, unix.SOCK_STREAM, 0),
	opensSocket("AF_ALG", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
	opensSocket("AF_PACKET", unix.AF_PACKET, unix.SOCK_RAW, 0),
	opensSocket("AF_KEY", unix.AF_KEY, unix.SOCK_RAW, 2),
	opensSocket("raw IP", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
	opensSocket("raw IPv6", unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6),
	opensSocket("MPTCP", unix.AF_INET, unix.SOCK_STREAM, 262),
	opensSocket("SCTP", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP),
	opensSocket("events of the kernel", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
	opensSocket("audit", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
	opensSocket("netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
	opensSocket("generic netlink", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC),
}

func opensSocket(name string, family, kind, protocol int) attack {
	return attack{
		name: name, holds: calls, needs: speaks(family, kind, protocol), without: noSuchSocket + " CLOSED(EPERM)",
		probe: fmt.Sprintf("socket.socket(%d, %d, %d)", family, kind, protocol),
	}
}

// speaks reports whether this process can open a socket.
func speaks(family, kind, protocol int) func(*target) bool {
	return func(*target) bool {
		fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err == nil
	}
}

// connected reports whether the host has an interface that is not its loopback.
func connected(*target) bool {
	all, err := net.Interfaces()
	for _, i := range all {
		if i.Name != "lo" {
			return true
		}
	}
	return err != nil
}
