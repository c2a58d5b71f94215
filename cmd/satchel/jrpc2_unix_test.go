//go:build unix

package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/creachadair/jrpc2/jhttp"
)

// TestJRPC2 calls by a client of another hand: lines and the headers of LSP on the unix
// socket, and HTTP.
func TestJRPC2(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	startServe(t, "--unix", socket, "--unsafe-local")
	url := startServe(t, "--listen", "127.0.0.1:0", "--unsafe-local") + "/rpc"
	dial := func(framing channel.Framing) func() (channel.Channel, error) {
		return func() (channel.Channel, error) {
			conn, err := net.Dial("unix", socket)
			if err != nil {
				return nil, err
			}
			return framing(conn, conn), nil
		}
	}
	for name, open := range map[string]func() (channel.Channel, error){
		"lines": dial(channel.Line), "LSP": dial(channel.LSP),
		"HTTP": func() (channel.Channel, error) { return jhttp.NewChannel(url, nil), nil },
	} {
		t.Run(name, func(t *testing.T) {
			ch, err := open()
			if err != nil {
				t.Fatal(err)
			}
			client := jrpc2.NewClient(ch, nil)
			defer func() { _ = client.Close() }()
			var made struct {
				ID string `json:"blob_id"`
			}
			if err := client.CallResult(t.Context(), "create_blob", map[string]any{"content": "text", "kind": "text/plain"}, &made); err != nil || made.ID == "" {
				t.Fatalf("%+v, %v", made, err)
			}
			answers, err := client.Batch(t.Context(), []jrpc2.Spec{
				{Method: "read_blob", Params: map[string]any{"blob_id": made.ID}}, {Method: "list_skills", Notify: true}, {Method: "nothing"},
			})
			if err != nil || len(answers) != 2 {
				t.Fatalf("%d answers, %v", len(answers), err)
			}
			if !strings.Contains(answers[0].ResultString(), `"content":"text"`) || answers[1].Error() == nil || answers[1].Error().Code != jrpc2.MethodNotFound {
				t.Errorf("%s, %v", answers[0].ResultString(), answers[1].Error())
			}
			var run struct{ Output int }
			if err := client.CallResult(t.Context(), "run_code", map[string]any{"language": "bash", "code": `echo 42 > "$RESULT_FILE"`}, &run); err != nil || run.Output != 42 {
				t.Errorf("got %+v, error %v, want Output 42", run, err)
			}
			if err := client.CallResult(t.Context(), "list_skills", map[string]any{"limit": 0}, nil); jrpc2.ErrorCode(err) != jrpc2.InvalidParams {
				t.Errorf("error %v", err)
			}
		})
	}
}
