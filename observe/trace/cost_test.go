package trace_test

import (
	"bytes"
	stdcontext "context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/observe/trace"
)

// timed measures the time that calls spend in a tracer.
type timed struct {
	satchel.Tracer
	took time.Duration
}

func (t *timed) Event(ctx stdcontext.Context, e core.Event) {
	began := time.Now()
	t.Tracer.Event(ctx, e)
	t.took += time.Since(began)
}

func (t *timed) Request(ctx stdcontext.Context, r core.ModelRequest) {
	began := time.Now()
	t.Tracer.Request(ctx, r)
	t.took += time.Since(began)
}

func (t *timed) Answer(ctx stdcontext.Context, a core.ModelAnswer) {
	began := time.Now()
	t.Tracer.Answer(ctx, a)
	t.took += time.Since(began)
}

// endpoint answers requests at once.
func endpoint(t testing.TB) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"Answer."}}],"usage":{"prompt_tokens":100,"completion_tokens":2}}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// model is a host that calls a model with skills, without a framework.
type model struct {
	runtime *satchel.Runtime
	url     string
	tools   []core.Definition
	names   []string
}

func newModel(t testing.TB, opts ...satchel.Option) *model {
	t.Helper()
	files := fstest.MapFS{}
	for i := range 20 {
		name := fmt.Sprintf("skill-%d", i)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: %s\ndescription: Helps with the work of kind %d, and says when it is done.\n---\nWork.\n", name, i)}
	}
	rt, err := satchel.New(append(opts, satchel.WithSkillFS("skills", files))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rt.Close() })
	m := &model{runtime: rt, url: endpoint(t)}
	for _, tool := range rt.Tools() {
		m.names = append(m.names, tool.Name)
		m.tools = append(m.tools, core.Definition{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	return m
}

// call makes a request and sends it, as an adapter does.
func (m *model) call(t testing.TB, key core.SessionKey, messages []core.Message) {
	ctx, began := satchel.WithSession(stdcontext.Background(), key.Session), time.Now()
	request := core.Request{Key: key, Messages: messages, Tools: m.names}
	if m.runtime.Hooks().WatchesPrefix() {
		request.Definitions = m.tools
	}
	view, err := m.runtime.Prepare(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	answer := core.ModelAnswer{Key: key, Text: "Answer.", Usage: core.Usage{Prompt: 100, Completion: 2}}
	if view.Trace != nil {
		answer.ID = m.runtime.Hooks().TraceRequest(ctx, core.ModelRequest{Key: key, View: *view.Trace, Model: "m", Messages: view.Messages, Tools: m.tools})
	}
	type wire struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var body struct {
		Model    string            `json:"model"`
		Messages []wire            `json:"messages"`
		Tools    []core.Definition `json:"tools"`
	}
	body.Model, body.Tools = "m", m.tools
	for _, one := range view.Messages {
		body.Messages = append(body.Messages, wire{one.Role.String(), one.Text})
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(m.url, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answered map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answered); err != nil {
		t.Fatal(err)
	}
	answer.Duration = time.Since(began)
	m.runtime.Hooks().Answered(ctx, answer)
	if err := m.runtime.Hooks().Observe(ctx, key, nil); err != nil {
		t.Fatal(err)
	}
}

// turns are how many turns each conversation of the benchmark has.
const turns = 30

// BenchmarkCall makes a view and sends it to an endpoint of this machine that answers at once. trace-% is
// the part of the time that calls spend in the trace. A real model takes a thousand times as long.
func BenchmarkCall(b *testing.B) {
	for _, isOn := range []bool{false, true} {
		b.Run(map[bool]string{false: "off", true: "on"}[isOn], func(b *testing.B) {
			var opts []satchel.Option
			tracer := &timed{}
			if isOn {
				tr, err := trace.Open(filepath.Join(b.TempDir(), "trace.jsonl"))
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := tr.Close(); err != nil {
						b.Error(err)
					}
				}()
				tracer.Tracer = tr
				opts = append(opts, satchel.WithTrace(tracer))
			}
			m := newModel(b, opts...)
			question := strings.Repeat("What is the next step of the work, and when is it done? ", 10)
			var messages []core.Message
			session := 0
			tracer.took = 0
			for b.Loop() {
				if len(messages) > 2*turns || messages == nil {
					messages, session = []core.Message{{Role: core.System, Text: "You help."}}, session+1
				}
				messages = append(slices.Clip(messages), core.Message{Role: core.User, Text: question + fmt.Sprint(len(messages))})
				m.call(b, core.SessionKey{Session: fmt.Sprint("s", session)}, messages)
				messages = append(messages, core.Message{Role: core.Assistant, Text: "Answer."})
			}
			b.ReportMetric(100*tracer.took.Seconds()/b.Elapsed().Seconds(), "trace-%")
		})
	}
}
