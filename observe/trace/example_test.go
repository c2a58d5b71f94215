package trace_test

import (
	stdcontext "context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

func ExampleNew() {
	var text strings.Builder
	t, err := trace.New(&text, trace.Texts(trace.Digests))
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := satchel.New(satchel.WithTrace(t))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rt.Close()

	// The runtime and the adapters call the trace; here the example does.
	key := core.SessionKey{Session: "chat-1"}
	t.Request(stdcontext.Background(), core.ModelRequest{ID: 1, Key: key, View: core.ViewTrace{Turn: 1, Prompt: "Hello."}, Messages: []core.Message{{Role: core.User, Text: "Hello."}}})
	t.Answer(stdcontext.Background(), core.ModelAnswer{ID: 1, Key: key, Text: "Hello!"})
	if err := t.Close(); err != nil {
		fmt.Println(err)
	}
	for line := range strings.Lines(text.String()) {
		event, _, _ := strings.Cut(strings.TrimPrefix(line, `{"v":1,"event":"`), `"`)
		fmt.Println(event)
	}
	// Output:
	// trace
	// turn
	// message
	// tools
	// call
	// answer
	// end
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.jsonl")
	// snippet: open
	t, err := trace.Open(path, trace.Texts(trace.Whole), trace.Size(16<<20))
	if err != nil {
		fmt.Println(err)
		return
	}
	rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithTrace(t))
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	// The trace ends after the runtime.
	fmt.Println(rt.Close(), t.Close(), t.Dropped())
	// Output: <nil> <nil> 0
}
