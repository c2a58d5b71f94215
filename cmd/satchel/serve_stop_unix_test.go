//go:build unix

package main

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestStopAnswers ends servers whose input stays open while a run goes on: the run is answered,
// and the server ends by itself.
func TestStopAnswers(t *testing.T) {
	const code = `"language":"python","code":"import runtime, time\ndef main(args):\n    runtime.progress('begun')\n    time.sleep(1)\n    return 6 * 7"`
	for _, args := range [][]string{{"serve", "--stdio"}, {"serve", "--unix"}, {"mcp"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			unix := strings.HasSuffix(strings.Join(args, " "), "--unix")
			if unix {
				args = append(args[:len(args):len(args)], filepath.Join(t.TempDir(), "s"))
			}
			p, address, in, out := listening(t, append(args, "--skills", t.TempDir(), "--unsafe-local")...)
			if unix {
				conn, err := net.Dial("unix", address)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				in, out = conn, bufio.NewReader(conn)
			}
			if args[0] == "mcp" {
				_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"},"name":"run_code","arguments":{`+code+"}}}\n")
			} else {
				_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":"1","method":"run_code","params":{"progress_token":"t",`+code+"}}\n")
			}
			began := false
			for {
				line, err := out.ReadString('\n')
				if err != nil {
					t.Fatalf("%q, %v", line, err)
				}
				if !began && strings.Contains(line, "begun") {
					began = true
					if err := p.Process.Signal(syscall.SIGTERM); err != nil {
						t.Fatal(err)
					}
				}
				if strings.Contains(line, `"output":42`) {
					break
				}
				if strings.Contains(line, `"error"`) {
					t.Fatal(line)
				}
			}
			if !began {
				t.Error("the run is over before the signal")
			}
			ended := time.AfterFunc(20*time.Second, func() { _ = p.Process.Kill() })
			if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
				t.Errorf("%q, %v", rest, err)
			}
			if !ended.Stop() {
				t.Error("the server goes on")
			}
		})
	}
}
