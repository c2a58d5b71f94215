//go:build unix

package servertest

import (
	"io"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a client and a server, and loses some of the answers.
type Proxy struct {
	// Addr is where it listens: a path for "unix", else host and port.
	Addr    string
	network string
	to      string
	every   atomic.Int64
	answers atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
}

// NewProxy listens in front of the server at an address until the test is over. A
// unix socket is called name in a directory of its own.
func NewProxy(t testing.TB, network, to, dir, name string) *Proxy {
	t.Helper()
	p := &Proxy{network: network, to: to, conns: map[net.Conn]bool{}}
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(dir, name)
	}
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	p.Addr = l.Addr().String()
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.Cut()
		wg.Wait()
	})
	return p
}

// Lose lets each so many-th answer of the server be lost with its connection; 0 loses
// none.
func (p *Proxy) Lose(every int) { p.every.Store(int64(every)) }

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial(p.network, p.to)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, client)
		delete(p.conns, server)
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(server, client)
		server.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if every := p.every.Load(); n > 0 && every > 0 && p.answers.Add(1)%every == 0 {
			break
		}
		if n > 0 {
			if _, writeErr := client.Write(buf[:n]); writeErr != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	client.Close()
	server.Close()
	<-done
}
