package wiretest

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Request is a request to a provider.
type Request struct {
	Messages []Message         `json:"messages"`
	Tools    []core.Definition `json:"-"`
	Names    []string          `json:"tools"` // the names of Tools
}

// Message is one message of a request.
type Message struct {
	Role   string `json:"role"` // as in the OpenAI chat format
	Text   string `json:"content"`
	Calls  []Call `json:"tool_calls,omitempty"`
	CallID string `json:"tool_call_id,omitempty"`
	Name   string `json:"name,omitempty"` // name of the tool
}

// Model is the model's side of a conversation. It is safe for concurrent use.
type Model struct {
	answers []Answer

	mu   sync.Mutex
	sent []Request
}

// Model returns the model's side of a conversation, from the beginning.
func (c *Conversation) Model() *Model {
	m := &Model{}
	for _, t := range c.Turns {
		m.answers = append(m.answers, t.Answers...)
	}
	return m
}

// Answer returns the answer to the next request.
func (m *Model) Answer(r Request) (Answer, error) {
	for i := range r.Tools {
		r.Names = append(r.Names, r.Tools[i].Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, r)
	if len(m.sent) > len(m.answers) {
		return Answer{}, fmt.Errorf("the script ends after %d answers", len(m.answers))
	}
	return m.answers[len(m.sent)-1], nil
}

//go:embed testdata
var golden embed.FS

// Check compares the requests of a conversation with its golden file, and the definitions of the
// skill tools with want. If update is set, it writes the golden file below dir, the directory of
// this package.
func (m *Model) Check(t testing.TB, name string, want []core.Tool, update bool, dir string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.sent) != len(m.answers) {
		t.Fatalf("%d requests were sent, want %d", len(m.sent), len(m.answers))
	}
	for i := range m.sent {
		checkTools(t, i, m.sent[i].Tools, want)
		checkResults(t, i, m.sent[i].Messages)
	}
	got, file := written(t, m.sent), path.Join("testdata", name+".golden")
	if update {
		if err := os.WriteFile(path.Join(dir, file), []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if data, err := golden.ReadFile(file); err != nil || string(data) != got {
		t.Errorf("other requests than in %s (%v):\n%s\nwant\n%s", file, err, got, data)
	}
}

// checkResults checks that each call of a request has one result, after the message with the call.
func checkResults(t testing.TB, n int, messages []Message) {
	t.Helper()
	for i := range messages {
		for _, c := range messages[i].Calls {
			results := 0
			for k := i + 1; k < len(messages) && messages[k].Role == "tool"; k++ {
				if messages[k].CallID == c.ID {
					results++
				}
			}
			if results != 1 {
				t.Errorf("request %d has %d results of call %s %.40s", n, results, c.ID, c.Name)
			}
		}
	}
}

// checkTools compares the tools of a request with the host's and the runtime's.
func checkTools(t testing.TB, n int, got []core.Definition, want []core.Tool) {
	t.Helper()
	if len(got) != 1+len(want) || got[0].Name != HostTool {
		t.Fatalf("request %d offers %d tools, want %s and %d skill tools", n, len(got), HostTool, len(want))
	}
	for i := range want {
		w, g := &want[i], &got[i+1]
		if g.Name != w.Name || g.Description != w.Description || !reflect.DeepEqual(decoded(t, g.Schema), decoded(t, w.Schema)) {
			t.Errorf("request %d offers %s as %+v, want %+v", n, w.Name, g, w)
		}
	}
}

func decoded(t testing.TB, schema any) any {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// written returns the golden form of requests: a digest of each, and the messages of the last one.
func written(t testing.TB, sent []Request) string {
	t.Helper()
	var b strings.Builder
	for i := range sent {
		fmt.Fprintf(&b, "request %d: %d messages, sha256 %x\n", i+1, len(sent[i].Messages), sha256.Sum256(line(t, &sent[i])))
	}
	last := &sent[len(sent)-1]
	fmt.Fprintf(&b, "tools of the last: %s\n", strings.Join(last.Names, " "))
	for i := range last.Messages {
		fmt.Fprintf(&b, "%s\n", line(t, &last.Messages[i]))
	}
	return b.String()
}

func line(t testing.TB, v any) []byte {
	t.Helper()
	text, err := plainjson.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}
