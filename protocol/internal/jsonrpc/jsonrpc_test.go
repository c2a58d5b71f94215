package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// echo answers with what it got; "fail" fails, and "wait" waits for its end.
func echo(ctx context.Context, c jsonrpc.Call, _ func(string, any)) (any, error) {
	switch c.Method {
	case "fail":
		return nil, errors.New("a secret of the server")
	case "wait":
		<-ctx.Done()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeCancelled, Message: "cancelled"}
	}
	return map[string]any{"method": c.Method, "params": c.Params, "loose": c.Loose}, nil
}

func TestHandle(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"method":"m"}`
	many := strings.Repeat(good+",", jsonrpc.MaxBatch)
	for name, c := range map[string]struct{ in, want string }{
		"call":            {`{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":"<"}}`, `{"jsonrpc":"2.0","id":"a","result":{"loose":false,"method":"m","params":{"x":"<"}}}`},
		"null params":     {`{"jsonrpc":"2.0","id":null,"method":"m","params":null}`, `"params":null`},
		"large id":        {`{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"}`, `"id":12345678901234567890,"result"`},
		"list params":     {`{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, `"id":1,"error":{"code":-32602`},
		"fraction":        {`{"jsonrpc":"2.0","id":1.5,"method":"m"}`, `"id":null,"error":{"code":-32600`},
		"object id":       {`{"jsonrpc":"2.0","id":{},"method":"m"}`, `"id":null,"error":{"code":-32600`},
		"old version":     {`{"jsonrpc":"1.0","id":1,"method":"m"}`, `"id":1,"error":{"code":-32600`},
		"loose":           {`{"id":1,"method":"m"}`, `"loose":true`},
		"loose with more": {`{"id":1,"method":"m","more":1}`, `-32600`},
		"no method":       {`{"jsonrpc":"2.0","id":1}`, `"id":1,"error":{"code":-32600`},
		"no object":       {`1`, `-32600`},
		"not JSON":        {`{"`, `"id":null,"error":{"code":-32700`},
		"nothing":         {``, `-32700`},
		"notification":    {`{"jsonrpc":"2.0","method":"m"}`, ``},
		"empty batch":     {`[]`, `"id":null,"error":{"code":-32600`},
		"batch":           {`[` + good + `,1,{"jsonrpc":"2.0","method":"n"},` + good + `]`, `}},{"jsonrpc":"2.0","id":null,"error":{"code":-32600`},
		"large batch":     {`[` + many + good + `]`, `-32600`},
		"its own fault":   {`{"jsonrpc":"2.0","id":1,"method":"fail"}`, `"error":{"code":-32603,"message":"internal error","data":{"kind":"internal"}}`},
	} {
		got := string(jsonrpc.Handle(t.Context(), []byte(c.in), echo, nil).Text)
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestLargeAnswers checks the bound of an answer and of the answers of a batch together. An answer
// that exceeds it is not encoded.
func TestLargeAnswers(t *testing.T) {
	text := strings.Repeat("x", 64<<10)
	made := 0
	handle := func(_ context.Context, c jsonrpc.Call, _ func(string, any)) (any, error) {
		made++
		n, list := 100, []string{}
		if c.Method == "large" {
			n = 4000 // 256 MB in total
		}
		for range n {
			list = append(list, text)
		}
		return map[string]any{"list": list}, nil
	}
	call := func(method string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"%s"}`, method, method)
	}
	batch := "[" + call("small") + strings.Repeat(","+call("large"), 2) + strings.Repeat(","+call("small"), 4) + "]"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	one := jsonrpc.Handle(t.Context(), []byte(call("large")), handle, nil)
	if want := `{"jsonrpc":"2.0","id":"large","error":{"code":-32005,"message":"the answer has more than 16777216 bytes: ask for less at once","data":{"kind":"size"}}}`; string(one.Text) != want || one.Error == nil {
		t.Errorf("%.300s", one.Text)
	}
	if made != 1 {
		t.Errorf("%d calls were made", made)
	}
	all := string(jsonrpc.Handle(t.Context(), []byte(batch), handle, nil).Text)
	runtime.ReadMemStats(&after)
	if len(all) > jsonrpc.MaxMessage || strings.Count(all, `"result":`) != 2 || strings.Count(all, `"code":-32005`) != 5 || !json.Valid([]byte(all)) {
		t.Errorf("a batch is answered with %d bytes, %d results and %d errors", len(all), strings.Count(all, `"result":`), strings.Count(all, `"code":-32005`))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 150<<20 {
		t.Errorf("%d MiB were allocated", n>>20)
	}
}

// TestIDOfACallWithoutRoom fills the room of a batch by its first answer, so that its second call is
// not made. The id of that call must be free afterwards.
func TestIDOfACallWithoutRoom(t *testing.T) {
	const room = jsonrpc.MaxMessage - 2*(1024+256) // the server reserves room for an error for each call of a batch
	text := strings.Repeat("x", room-len(`{"jsonrpc":"2.0","id":1,"result":""}`))
	conn, _ := dial(t, func(_ context.Context, c jsonrpc.Call, _ func(string, any)) (any, error) {
		if c.Method == "large" {
			return text, nil
		}
		return "ok", nil
	})
	answers := bufio.NewReaderSize(conn, 1<<20)
	for _, c := range []struct{ in, want string }{
		{`[{"jsonrpc":"2.0","id":1,"method":"large"},{"jsonrpc":"2.0","id":2,"method":"small"}]`, `"id":2,"error":{"code":-32005`},
		{`{"jsonrpc":"2.0","id":2,"method":"small"}`, `"id":2,"result":"ok"`},
	} {
		go func() { _, _ = io.WriteString(conn, c.in+"\n") }()
		if got, err := answers.ReadString('\n'); err != nil || !strings.Contains(got, c.want) {
			t.Fatalf("%.200s, %v, want %s", got[max(len(got)-200, 0):], err, c.want)
		}
	}
}

// TestManyParts: a message of many members or calls is read without keeping them.
func TestManyParts(t *testing.T) {
	var members strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&members, `,"m%d":1`, i)
	}
	for name, c := range map[string]struct{ in, want string }{
		"calls":   {"[" + strings.Repeat("1,", 3<<20) + "1]", `"message":"a batch of none or too many: want 1 to 32"`},
		"members": {`{"jsonrpc":"2.0","id":1,"method":"m"` + members.String() + `}`, `"id":1,"result"`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := string(jsonrpc.Handle(t.Context(), []byte(c.in), echo, nil).Text)
		runtime.ReadMemStats(&after)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %.200s", name, got)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(30*len(c.in)) {
			t.Errorf("%s: %d MiB were allocated for %d MiB", name, n>>20, len(c.in)>>20)
		}
	}
}

// dial serves one end of a connection and returns the other.
func dial(t *testing.T, handle jsonrpc.Handler) (net.Conn, <-chan error) {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- jsonrpc.Serve(t.Context(), theirs, handle) }()
	t.Cleanup(func() { _ = ours.Close() })
	return ours, done
}

// TestInFlight sends more calls than are answered at once: the next is not read.
func TestInFlight(t *testing.T) {
	var most, now atomic.Int32
	begun, release := make(chan struct{}, 100), make(chan struct{})
	ours, done := dial(t, func(context.Context, jsonrpc.Call, func(string, any)) (any, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			old := most.Load()
			if n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		begun <- struct{}{}
		<-release
		return 1, nil
	})
	go func() {
		for i := range 2 * jsonrpc.MaxInFlight {
			if _, err := fmt.Fprintf(ours, `{"jsonrpc":"2.0","id":%d,"method":"m"}`+"\n", i); err != nil {
				return
			}
		}
	}()
	for range jsonrpc.MaxInFlight {
		<-begun
	}
	close(release)
	lines := bufio.NewScanner(ours)
	for range 2 * jsonrpc.MaxInFlight {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
	}
	if got := most.Load(); got != jsonrpc.MaxInFlight {
		t.Errorf("%d at once", got)
	}
	_ = ours.Close()
	if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestCancelAndDoubleID(t *testing.T) {
	ours, _ := dial(t, echo)
	lines := bufio.NewScanner(ours)
	for _, step := range []struct{ send, want string }{
		{`{"jsonrpc":"2.0","id":"a","method":"wait"}` + "\n" + `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"b"}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, `"id":1,"result"`},
		{`{"jsonrpc":"2.0","id":"a","method":"m"}`, `"id":"a","error":{"code":-32600`},
		{`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}}`, `"id":"a","error":{"code":-32800`},
	} {
		if _, err := io.WriteString(ours, step.send+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !strings.Contains(lines.Text(), step.want) {
			t.Errorf("%s: %s, want %s", step.send, lines.Text(), step.want)
		}
	}
}

func TestHostileFrames(t *testing.T) {
	for name, send := range map[string]string{
		"long frame": "Content-Length: 99999999999\r\n\r\n", "negative": "Content-Length: -1\r\n\r\n", "no length": "Content-Type: x\r\n\r\n",
		"long header": "C" + strings.Repeat("x", 10_000) + "\r\n",
	} {
		ours, done := dial(t, echo)
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		go func() { _, _ = io.WriteString(ours, send) }()
		if err := <-done; err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzHandle(f *testing.F) {
	for _, text := range []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`, `[{}]`, `{"id":"a","method":"m"}`, `[1,2`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		nothing := func(context.Context, jsonrpc.Call, func(string, any)) (any, error) { return nil, nil }
		if text := jsonrpc.Handle(t.Context(), raw, nothing, nil).Text; len(text) > 0 && !json.Valid(text) {
			t.Errorf("%q", text)
		}
	})
}

func FuzzServe(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("{}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = jsonrpc.Serve(t.Context(), theirs, func(context.Context, jsonrpc.Call, func(string, any)) (any, error) { return nil, nil })
		}()
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		_, _ = ours.Write(raw)
		_ = ours.Close()
		<-done
	})
}

func ExampleHandle() {
	hello := func(_ context.Context, c jsonrpc.Call, _ func(string, any)) (any, error) { return "hello", nil }
	fmt.Println(string(jsonrpc.Handle(context.Background(), []byte(`{"jsonrpc":"2.0","id":1,"method":"greet"}`), hello, nil).Text))
	// Output: {"jsonrpc":"2.0","id":1,"result":"hello"}
}
