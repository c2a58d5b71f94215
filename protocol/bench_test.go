package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/protocol"
)

// openThousand opens a server of a thousand skills; box may be nil.
func openThousand(b *testing.B, box executor.Executor) *protocol.Server {
	b.Helper()
	tree := fstest.MapFS{}
	for i := range 1000 {
		tree[fmt.Sprintf("s%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: s-%d\ndescription: x\n---\n", i)}
	}
	source, err := source.Open(b.Context(), source.FS("test", tree), source.Reading{})
	if err != nil {
		b.Fatal(err)
	}
	places, err := workspace.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	opts := []protocol.Option{protocol.WithSkills(source), protocol.WithWorkspaces(places)}
	if box != nil {
		opts = append(opts, protocol.WithExecutor(box))
	}
	s, err := protocol.Open(b.Context(), opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = s.Close(context.Background()), places.Close() })
	return s
}

// callFunc returns a function that calls a server on one connection. It does little itself, so that the
// benchmark measures the server.
func callFunc(b *testing.B, address, path, body string) (ask func() time.Duration) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, address, len(body), body)
	r := bufio.NewReader(conn)
	return func() time.Duration {
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		length := 0
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				b.Fatal(err)
			}
			if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
			if len(line) == 2 {
				break
			}
		}
		if n, err := r.Discard(length); n == 0 || err != nil {
			b.Fatalf("%d bytes, %v", n, err)
		}
		return time.Since(began)
	}
}

// BenchmarkHTTP compares a small call with the least that net/http can do, each on one
// connection, in turns: "times" is how much longer it takes.
func BenchmarkHTTP(b *testing.B) {
	body := `{"jsonrpc":"2.0","id":1,"method":"list_skills","params":{"limit":1}}`
	ours := httptest.NewServer(openThousand(b, nil).Handler())
	defer ours.Close()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}))
	defer bare.Close()
	askOurs, askBare := callFunc(b, ours.Listener.Addr().String(), "/rpc", body), callFunc(b, bare.Listener.Addr().String(), "/", body)
	var call, least time.Duration
	for b.Loop() {
		call += askOurs()
		least += askBare()
	}
	b.ReportMetric(float64(b.N)/call.Seconds(), "calls/s")
	b.ReportMetric(call.Seconds()/least.Seconds(), "times")
}

// BenchmarkList lists 50 of a thousand skills.
func BenchmarkList(b *testing.B) {
	s := openThousand(b, nil)
	for b.Loop() {
		if _, err := s.Call(b.Context(), ann, "list_skills", json.RawMessage(`{}`), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// startOne runs a command in a workspace of its own.
func startOne(b *testing.B, box executor.Executor, ws workspace.Workspace, listen bool) time.Duration {
	cmd := executor.Command{
		Args: []string{"python3", "-I", "-c", "pass"}, Env: []string{"PATH=" + workspace.SystemPath}, Workspace: ws.Path(), Limits: executor.Limits{Timeout: time.Minute},
	}
	if listen {
		cmd.Listen = map[uint16]func(net.Listener){3128: func(l net.Listener) {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}}
	}
	began := time.Now()
	p, err := box.Start(b.Context(), cmd, executor.Terminal{Output: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	if got, err := p.Wait(b.Context()); err != nil || got.ExitCode != 0 {
		b.Fatalf("Wait: got %+v, error %v, want ExitCode 0", got, err)
	}
	return time.Since(began)
}

// openBox opens a sandbox with a network of its own, and a workspace. Without one the
// benchmark has nothing to measure.
func openBox(b *testing.B) (*sandbox.Sandbox, workspace.Workspace) {
	b.Helper()
	box, err := sandbox.Open(b.Context())
	if err != nil || !box.Capabilities().Loopback.Enforced {
		b.Skipf("no sandbox with a network of its own: %v", err)
	}
	b.Cleanup(func() { _ = box.Close() })
	places, err := workspace.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = places.Close() })
	ws, err := places.Of(b.Context(), "bare")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(ws.Release)
	return box, ws
}

// median is the middle one of some times.
func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkPort compares a bare python3 in a sandbox with one that has a port, in turns,
// by their medians.
func BenchmarkPort(b *testing.B) {
	box, ws := openBox(b)
	var times [2][]time.Duration
	for i := 0; b.Loop(); i++ {
		for k := range 2 {
			which := (i + k) % 2
			times[which] = append(times[which], startOne(b, box, ws, which == 1))
		}
	}
	none, port := median(times[0]), median(times[1])
	b.ReportMetric(port.Seconds()/none.Seconds(), "port/none")
	b.ReportMetric(float64((port-none).Microseconds())/1000, "ms/port")
}

// BenchmarkRun compares a run with an import and a blob with a bare python3 in a sandbox, in
// turns, by their medians. It also measures a call of the channel.
func BenchmarkRun(b *testing.B) {
	box, ws := openBox(b)
	s := openThousand(b, box)
	code := "from runtime import blobs\ndef main(args):\n    return blobs.read_text(blobs.write_text('x'))\n"
	calls := "import time\nfrom runtime import _call\ndef main(args):\n    t = time.perf_counter()\n    for i in range(2000): _call('blobs.list', {})\n    return int((time.perf_counter() - t) / 2000 * 1e9)\n"
	run := func(code string) (output json.RawMessage, took time.Duration) {
		params, _ := json.Marshal(m{"language": "python", "code": code})
		began := time.Now()
		got, err := s.Call(b.Context(), ann, "run_code", params, nil)
		took = time.Since(began)
		text, _ := json.Marshal(got)
		var result struct {
			Status string
			Output json.RawMessage
		}
		if err != nil || json.Unmarshal(text, &result) != nil || result.Status != "completed" {
			b.Fatalf("%s, %v", text, err)
		}
		return result.Output, took
	}
	var bare, whole, channel []time.Duration
	for b.Loop() {
		bare = append(bare, startOne(b, box, ws, false))
		_, took := run(code)
		whole = append(whole, took)
		var one time.Duration
		output, _ := run(calls)
		if err := json.Unmarshal(output, &one); err != nil {
			b.Fatal(err)
		}
		channel = append(channel, one)
	}
	b.ReportMetric(median(whole).Seconds()/median(bare).Seconds(), "run/python")
	b.ReportMetric(float64(median(channel).Nanoseconds())/1000, "µs/channel")
}
