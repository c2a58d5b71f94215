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
	"github.com/satchel-go/satchel/session"
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

// endpoint answers requests after a time.
func endpoint(t testing.TB, after time.Duration) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(after)
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
	m := &model{runtime: rt, url: endpoint(t, 0)}
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

// modelTime is how long the model of BenchmarkTracedCall works. Few real ones are as fast.
const modelTime = 100 * time.Millisecond

// BenchmarkTracedCall has the same conversations with a trace and without one, in turns, and compares the calls:
// off-µs and on-µs, and added-%. Each turn has two calls, so every other call saves its number beside the request.
func BenchmarkTracedCall(b *testing.B) {
	for name, open := range map[string]func() session.Store{
		"memory": func() session.Store { return session.NewMemory() },
		"directory": func() session.Store {
			store, err := session.OpenDirectory(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			return store
		},
	} {
		b.Run(name, func(b *testing.B) {
			store, url := open(), endpoint(b, modelTime)
			took, n := map[bool][]time.Duration{}, 0
			for b.Loop() {
				for _, isOn := range []bool{n%2 == 0, n%2 != 0} {
					n++
					took[isOn] = append(took[isOn], converse(b, store, url, fmt.Sprint("s", n), isOn)...)
				}
			}
			off, on := mean(took[false]), mean(took[true])
			b.ReportMetric(float64(off.Microseconds()), "off-µs")
			b.ReportMetric(float64(on.Microseconds()), "on-µs")
			b.ReportMetric(100*(on.Seconds()/off.Seconds()-1), "added-%")
		})
	}
}

// converse has a conversation of a few turns, and returns how long each call took.
func converse(b *testing.B, store session.Store, url, id string, isTraced bool) (took []time.Duration) {
	opts := []satchel.Option{satchel.WithStore(store)}
	if isTraced {
		tr, err := trace.Open(filepath.Join(b.TempDir(), "trace.jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := tr.Close(); err != nil {
				b.Error(err)
			}
		}()
		opts = append(opts, satchel.WithTrace(tr))
	}
	m := newModel(b, opts...)
	m.url = url
	defer m.runtime.Close()
	key, messages := core.SessionKey{Session: id}, []core.Message{{Role: core.System, Text: "You help."}}
	for turn := range 10 {
		messages = append(messages, core.Message{Role: core.User, Text: strings.Repeat("What is the next step of the work? ", 10) + fmt.Sprint(turn)})
		for step := range 2 {
			began := time.Now()
			m.call(b, key, messages)
			took = append(took, time.Since(began))
			said := core.Message{Role: core.Assistant, Text: "Answer."}
			if step == 0 {
				said.Calls = []core.ToolCall{{ID: fmt.Sprint("c", turn), Name: "look", Arguments: "{}"}}
				messages = append(messages, said, core.Message{Role: core.ToolResult, CallID: said.Calls[0].ID, Text: "Seen."})
			} else {
				messages = append(messages, said)
			}
		}
	}
	return took[2:] // the first turn opens connections
}

// mean returns the mean without the slowest and the fastest twentieth, in which the machine did something else.
func mean(all []time.Duration) (sum time.Duration) {
	slices.Sort(all)
	all = all[len(all)/20 : len(all)-len(all)/20]
	for _, one := range all {
		sum += one
	}
	return sum / time.Duration(len(all))
}
