//go:build amd64 || arm64

package executortest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// listen opens sockets of the host: on loopback, in the abstract namespace and in a directory.
func (g *target) listen(t *testing.T) {
	t.Helper()
	g.facts["tcp"] = port(g.accept(t, "tcp", "127.0.0.1:0", &g.reached.tcp))
	if probe, err := net.Listen("tcp", "[::1]:0"); err == nil {
		_ = probe.Close()
		g.hasIPv6 = true
		g.facts["tcp6"] = port(g.accept(t, "tcp", "[::1]:0", &g.reached.tcp6))
	}
	g.facts["abstract"] = g.token
	g.accept(t, "unix", "@"+g.token, &g.reached.abstract)
	outside, err := os.Open(g.outside)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = outside.Close() })
	g.facts["socket"] = filepath.Join(g.outside, "socket") // can be too long for an address
	g.accept(t, "unix", fmt.Sprintf("/proc/self/fd/%d/socket", outside.Fd()), &g.reached.path)

	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	g.facts["udp"] = port(packets.LocalAddr())
	go func() {
		buf := make([]byte, 16)
		for {
			n, from, err := packets.ReadFrom(buf)
			if err != nil {
				return
			}
			g.reached.udp.Add(1)
			_, _ = packets.WriteTo(buf[:n], from)
		}
	}()
}

func (g *target) accept(t *testing.T, network, address string, count *atomic.Int32) net.Addr {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			_, _ = conn.Write([]byte(song))
			_ = conn.Close()
		}
	}()
	return listener.Addr()
}

func port(addr net.Addr) int {
	switch a := addr.(type) {
	case *net.TCPAddr:
		return a.Port
	case *net.UDPAddr:
		return a.Port
	}
	return 0
}
