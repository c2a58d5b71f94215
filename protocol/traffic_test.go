package protocol_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// byHeader takes the tenant and the scope from headers.
type byHeader struct{}

func (byHeader) Authenticate(r *http.Request) (protocol.Principal, error) {
	who := protocol.Principal{Tenant: r.Header.Get("Tenant")}
	if who.Tenant == "" {
		return who, protocol.ErrUnauthenticated
	}
	for _, scope := range strings.Split(r.Header.Get("Scope"), ",") {
		who.Scopes = append(who.Scopes, protocol.Scope(scope))
	}
	return who, nil
}

// TestTenantsApart: neither requests nor bytes of one tenant keep another one out.
func TestTenantsApart(t *testing.T) {
	const list, evil, good = `{"jsonrpc":"2.0","id":1,"method":"list_skills"}`, "Tenant: evil\r\nScope: read\r\n", "good"
	reads := []string{"Tenant", good, "Scope", "read"}
	t.Run("requests", func(t *testing.T) {
		url := serve(t, newBench(t, protocol.WithAuth(byHeader{}.Authenticate)))
		address := strings.TrimPrefix(url, "http://")
		refusedWithout(t, hold(t, address, 1, ""), "401")
		refusedWithout(t, hold(t, address, 300, evil), "503")
		for range 20 {
			if got := do(t, "POST", url+"/rpc", list, reads...); got.status != 200 {
				t.Fatalf("beside them: %d %.200s", got.status, got.body)
			}
		}
	})
	t.Run("bytes", func(t *testing.T) {
		url := serve(t, newBench(t, protocol.WithAuth(byHeader{}.Authenticate)))
		answers := make(chan string, 8)
		for range cap(answers) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
			go func() {
				_, _ = fmt.Fprintf(conn, "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTenant: evil\r\nScope: write\r\nContent-Length: %d\r\n\r\n", 15<<20)
				_, _ = io.CopyN(conn, strings.NewReader(strings.Repeat(" ", 15<<20)), 15<<20-1)
			}()
			go func() {
				line := make([]byte, len("HTTP/1.1 200"))
				if _, err := io.ReadFull(conn, line); err == nil {
					answers <- string(line)
				}
			}()
		}
		refusedWithout(t, answers, "503")
		if got := do(t, "POST", url+"/rpc", list+strings.Repeat(" ", 4<<20), "Tenant", good, "Scope", "read,write"); got.status != 200 {
			t.Errorf("beside them: %d %.200s", got.status, got.body)
		}
	})
	t.Run("before the body", func(t *testing.T) {
		url := serve(t, newBench(t, protocol.WithAuth(byHeader{}.Authenticate)))
		if got := do(t, "POST", url+"/rpc", list+strings.Repeat(" ", 1<<20), reads...); got.status != 413 || !strings.Contains(got.body, "more than 1048576 bytes") {
			t.Errorf("a long message of one who may read: %d %.200s", got.status, got.body)
		}
		refusedWithout(t, hold(t, strings.TrimPrefix(url, "http://"), 1, "Tenant: evil\r\nScope: metrics\r\n"), "403")
	})
}

// pipes is a listener of connections in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// TestSlowBodies: a body has to come at a rate, and may take as much time as it needs at that.
func TestSlowBodies(t *testing.T) {
	for name, c := range map[string]struct {
		size, step  int // bytes of the body, and bytes sent each second
		status      int
		least, most time.Duration
	}{
		"nothing comes": {jsonrpc.MaxMessage, 0, 408, 9 * time.Second, 12 * time.Second},
		"a byte":        {jsonrpc.MaxMessage, 1, 408, 9 * time.Second, 12 * time.Second},
		"at the rate":   {8 << 20, 80 << 10, 200, 90 * time.Second, 110 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := protocol.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				at := &pipes{make(chan net.Conn), make(chan struct{})}
				server := &http.Server{Handler: s.Handler(), ReadTimeout: time.Minute}
				go func() { _ = server.Serve(at) }()
				ours, theirs := net.Pipe()
				at.conns <- theirs
				began := time.Now()
				var sending sync.WaitGroup
				sending.Go(func() {
					_, _ = fmt.Fprintf(ours, "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", c.size)
					body := `{"jsonrpc":"2.0","id":1,"method":"list_skills"}`
					for text := body + strings.Repeat(" ", c.size-len(body)); c.step > 0 && text != ""; text = text[min(c.step, len(text)):] {
						time.Sleep(time.Second)
						if _, err := io.WriteString(ours, text[:min(c.step, len(text))]); err != nil {
							return
						}
					}
				})
				answer, err := http.ReadResponse(bufio.NewReader(ours), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				if took := time.Since(began); answer.StatusCode != c.status || took < c.least || took > c.most {
					t.Errorf("%d after %v, want %d", answer.StatusCode, took, c.status)
				}
				_ = ours.Close()
				sending.Wait()
				_ = server.Close()
				if err := s.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
