//go:build unix

package servertest

import (
	"crypto/sha256"
	"hash"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards connections to a server, and loses some of the answers.
type Proxy struct {
	// Addr is the proxy's own address: a path, or host and port.
	Addr    string
	network string
	to      string
	every   atomic.Int64
	answers atomic.Int64
	losses  atomic.Int64
	delay   atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	// lost holds the hashes of requests whose last answer was dropped.
	lost map[[sha256.Size]byte]bool
}

// handshake is how many answers at the beginning of a connection are never lost.
const handshake = 2

// NewProxy opens a proxy for the server at an address until the test ends. If name is not empty,
// the proxy listens at a unix socket of that name in dir, otherwise at a port.
func NewProxy(t testing.TB, network, to, dir, name string) *Proxy {
	t.Helper()
	p := &Proxy{network: network, to: to, conns: map[net.Conn]bool{}, lost: map[[sha256.Size]byte]bool{}}
	on, at := "unix", filepath.Join(dir, name)
	if name == "" {
		on, at = "tcp", "127.0.0.1:0"
	}
	l, err := net.Listen(on, at)
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

// Lose makes the proxy lose each n-th answer of the server and close its connection, where n is
// every; 0 loses none. If a client repeats the request in the same bytes, its answer is not lost.
func (p *Proxy) Lose(every int) { p.every.Store(int64(every)) }

// Delay delays each answer of the server.
func (p *Proxy) Delay(by time.Duration) { p.delay.Store(int64(by)) }

// Lost returns how many answers were lost.
func (p *Proxy) Lost() int { return int(p.losses.Load()) }

// loses decides whether the answer to a request is lost.
func (p *Proxy) loses(request [sha256.Size]byte) bool {
	every := p.every.Load()
	if every == 0 {
		return false
	}
	due := p.answers.Add(1)%every == 0
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost[request] {
		delete(p.lost, request)
		return false
	}
	if due {
		p.lost[request] = true
		p.losses.Add(1)
	}
	return due
}

// requests forwards the bytes of a client and computes the hash of each request. A request is all
// bytes since the last answer.
type requests struct {
	net.Conn
	mu  sync.Mutex
	sum hash.Hash
}

// Write sends a part of a request to the server.
func (r *requests) Write(data []byte) (int, error) {
	r.mu.Lock()
	r.sum.Write(data)
	r.mu.Unlock()
	return r.Conn.Write(data)
}

// answered returns the hash of the request that the server has just answered.
func (r *requests) answered() (sum [sha256.Size]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Sum(sum[:0])
	r.sum.Reset()
	return sum
}

// Cut ends all connections.
func (p *Proxy) Cut() { p.end(func(*net.TCPConn) {}) }

// Reset ends all connections as a restarted machine does: clients at a port get a TCP reset.
func (p *Proxy) Reset() {
	p.end(func(c *net.TCPConn) { _ = c.SetLinger(0) }) // SetLinger fails if the peer has closed the connection
}

func (p *Proxy) end(before func(*net.TCPConn)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			before(tcp)
		}
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
	sent := &requests{Conn: server, sum: sha256.New()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		pass(sent, client, func() bool { return true })
		server.Close()
	}()
	answers := 0
	pass(client, server, func() bool {
		answers++
		request := sent.answered()
		if by := time.Duration(p.delay.Load()); by > 0 {
			select {
			case <-time.After(by):
			case <-done: // the client has closed its connection
			}
		}
		return answers <= handshake || !p.loses(request)
	})
	client.Close()
	server.Close()
	<-done
}

// pass copies bytes until an error, or until may returns false.
func pass(to, from net.Conn, may func() bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !may() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
