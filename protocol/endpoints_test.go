package protocol_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/internal/protocoltest"
)

// TestEndpoints runs the suite over each transport.
func TestEndpoints(t *testing.T) {
	server := newBenchOf(t, protocoltest.Skills()).Server
	stream := func(t *testing.T, conn io.ReadWriteCloser) protocoltest.Endpoint {
		client := protocol.NewClient(conn, nil)
		t.Cleanup(func() { _ = client.Close() })
		return func(ctx context.Context, method string, params any) (result json.RawMessage, err error) {
			err = client.Call(ctx, method, params, &result)
			return result, err
		}
	}
	for name, dial := range map[string]func(t *testing.T) protocoltest.Endpoint{
		"call": func(*testing.T) protocoltest.Endpoint {
			return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
				raw, err := json.Marshal(params)
				if err != nil {
					return nil, err
				}
				result, err := server.Call(ctx, ann, method, raw, nil)
				if err != nil {
					return nil, err
				}
				return json.Marshal(result)
			}
		},
		"stream": func(t *testing.T) protocoltest.Endpoint {
			ours, theirs := net.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = server.ServeStream(context.Background(), theirs, ann)
			}()
			t.Cleanup(func() { <-done })
			return stream(t, ours)
		},
		"unix": func(t *testing.T) protocoltest.Endpoint {
			path := filepath.Join(t.TempDir(), "s")
			l, err := server.ListenUnix(path)
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = server.ServeUnix(context.Background(), l)
			}()
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = l.Close()
				<-done
			})
			return stream(t, conn)
		},
		"http": func(t *testing.T) protocoltest.Endpoint {
			at := httptest.NewServer(server.Handler())
			t.Cleanup(at.Close)
			return func(ctx context.Context, method string, params any) (json.RawMessage, error) {
				body, err := json.Marshal(m{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
				if err != nil {
					return nil, err
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.URL+"/rpc", strings.NewReader(string(body)))
				if err != nil {
					return nil, err
				}
				req.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					return nil, err
				}
				defer func() { _ = res.Body.Close() }()
				var answer struct {
					Result json.RawMessage
					Error  *protocol.Error
				}
				if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
					return nil, err
				}
				if answer.Error != nil {
					return nil, answer.Error
				}
				return answer.Result, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) { protocoltest.Run(t, dial) })
	}
}
