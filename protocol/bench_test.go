package protocol_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/shelf"
	"github.com/satchel-go/satchel/workspace"
)

// thousand opens a server of a thousand skills; box may be nil.
func thousand(b *testing.B, box executor.Executor) *protocol.Server {
	b.Helper()
	tree := fstest.MapFS{}
	for i := range 1000 {
		tree[fmt.Sprintf("s%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: s-%d\ndescription: x\n---\n", i)}
	}
	source, err := catalog.OpenSource(catalog.FS("test", tree))
	if err != nil {
		b.Fatal(err)
	}
	skills, err := shelf.Open(b.Context(), "", source)
	if err != nil {
		b.Fatal(err)
	}
	places, err := workspace.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	opts := []protocol.Option{protocol.WithShelf(skills), protocol.WithWorkspaces(places)}
	if box != nil {
		opts = append(opts, protocol.WithExecutor(box))
	}
	s, err := protocol.New(opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _, _ = s.Close(context.Background()), places.Close(), skills.Close() })
	return s
}

// BenchmarkHTTP compares a small call with the least that net/http can do, each on one
// connection, in turns: "times" is how much longer it takes.
func BenchmarkHTTP(b *testing.B) {
	body := `{"jsonrpc":"2.0","id":1,"method":"list_skills","params":{"limit":1}}`
	ours := httptest.NewServer(thousand(b, nil).Handler())
	defer ours.Close()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}))
	defer bare.Close()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	ask := func(url string) time.Duration {
		began := time.Now()
		res, err := client.Post(url, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return time.Since(began)
	}
	var call, least time.Duration
	for b.Loop() {
		call += ask(ours.URL + "/rpc")
		least += ask(bare.URL)
	}
	b.ReportMetric(float64(b.N)/call.Seconds(), "calls/s")
	b.ReportMetric(call.Seconds()/least.Seconds(), "times")
}

// BenchmarkList lists 50 of a thousand skills.
func BenchmarkList(b *testing.B) {
	s := thousand(b, nil)
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
		cmd.Listen = []executor.Listen{{Port: 3128, Serve: func(l net.Listener) {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		}}}
	}
	began := time.Now()
	p, err := box.Start(b.Context(), cmd, executor.Terminal{Output: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	if got, err := p.Wait(b.Context()); err != nil || got.ExitCode != 0 {
		b.Fatalf("%+v, %v", got, err)
	}
	return time.Since(began)
}

// BenchmarkRun compares a run with an import and a blob with a bare python3 in a
// sandbox, and that with one that has a port, in turns; and it says what a call of the
// channel takes.
func BenchmarkRun(b *testing.B) {
	box, err := sandbox.New()
	if err != nil || !box.Capabilities().Loopback.Enforced {
		b.Logf("no sandbox with a network of its own: %v", err)
		return
	}
	defer func() { _ = box.Close() }()
	s := thousand(b, box)
	places, err := workspace.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = places.Close() }()
	ws, err := places.Of(b.Context(), "bare")
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Release()
	code := "from runtime import blobs\ndef main(args):\n    return blobs.read_text(blobs.write_text('x'))\n"
	calls := "import time\nfrom runtime import _call\ndef main(args):\n    t = time.perf_counter()\n    for i in range(2000): _call('blobs.list', {})\n    return (time.perf_counter() - t) / 2000 * 1e6\n"
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
	var bare, port, whole time.Duration
	channel := 0.0
	for b.Loop() {
		bare += startOne(b, box, ws, false)
		port += startOne(b, box, ws, true)
		_, took := run(code)
		whole += took
		var one float64
		output, _ := run(calls)
		if err := json.Unmarshal(output, &one); err != nil {
			b.Fatal(err)
		}
		channel += one
	}
	b.ReportMetric(whole.Seconds()/bare.Seconds(), "run/python")
	b.ReportMetric(port.Seconds()/bare.Seconds(), "port/none")
	b.ReportMetric(channel/float64(b.N), "µs/channel")
}
