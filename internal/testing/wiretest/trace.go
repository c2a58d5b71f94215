package wiretest

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// Trace is a tracer that keeps the requests and the answers that a runtime reports. It is safe for
// concurrent use.
type Trace struct {
	mu      sync.Mutex
	entries []entry
}

// entry is a request, or an answer if request is nil.
type entry struct {
	request *core.ModelRequest
	answer  core.ModelAnswer
}

// Event ignores an event.
func (*Trace) Event(context.Context, core.Event) {}

// Request keeps a request.
func (tr *Trace) Request(_ context.Context, r core.ModelRequest) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.entries = append(tr.entries, entry{request: &r})
}

// Answer keeps an answer.
func (tr *Trace) Answer(_ context.Context, a core.ModelAnswer) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.entries = append(tr.entries, entry{answer: a})
}

// Exchange is a request and the answer to it.
type Exchange struct {
	Request core.ModelRequest
	Answer  core.ModelAnswer
}

// Exchanges returns the requests with their answers, in the order of the answers. It fails if a request has
// not exactly one answer after it, or if the two have different keys.
func (tr *Trace) Exchanges(t testing.TB) []Exchange {
	t.Helper()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	open := map[uint64]core.ModelRequest{}
	var done []Exchange
	for i := range tr.entries {
		e := &tr.entries[i]
		if e.request != nil {
			if _, isOpen := open[e.request.ID]; isOpen || e.request.ID == 0 {
				t.Errorf("two requests have the id %d", e.request.ID)
			}
			open[e.request.ID] = *e.request
			continue
		}
		r, ok := open[e.answer.ID]
		if !ok || r.Key != e.answer.Key {
			t.Errorf("the answer %+v has no request of its own", e.answer)
		}
		delete(open, e.answer.ID)
		done = append(done, Exchange{Request: r, Answer: e.answer})
	}
	for id := range open {
		t.Errorf("request %d has no answer", id)
	}
	return done
}

// Check compares the trace of a conversation with the requests that the model got, and with its answers. A
// request that has failed is followed by an equal one.
func (tr *Trace) Check(t testing.TB, m *Model) {
	t.Helper()
	all := tr.Exchanges(t)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for i := range all {
		if n >= len(m.sent) {
			t.Fatalf("the trace has more than %d requests that were answered", len(m.sent))
		}
		checkRequest(t, n, &all[i].Request, &m.sent[n])
		if all[i].Answer.Err != nil {
			continue
		}
		var next []Message
		if n+1 < len(m.sent) {
			next = m.sent[n+1].Messages
		}
		checkAnswer(t, n, &all[i].Answer, &m.answers[n], next)
		n++
	}
	if n != len(m.sent) {
		t.Errorf("the trace has %d requests that were answered, want %d", n, len(m.sent))
	}
}

func checkRequest(t testing.TB, n int, got *core.ModelRequest, sent *Request) {
	t.Helper()
	var messages []Message
	for i := range got.Messages {
		m := &got.Messages[i]
		one := Message{Role: m.Role.String(), Text: m.Text, CallID: m.CallID, Name: m.Tool}
		for _, c := range m.Calls {
			one.Calls = append(one.Calls, Call(c))
		}
		messages = append(messages, one)
	}
	if !reflect.DeepEqual(messages, sent.Messages) {
		t.Errorf("request %d is traced as\n%s\nwant\n%s", n, line(t, messages), line(t, sent.Messages))
	}
	if got.Key.Session != "s" || got.Model != "" {
		t.Errorf("request %d is traced with key %+v and model %q, want the session s and no model", n, got.Key, got.Model)
	}
	if len(got.Tools) != len(sent.Tools) {
		t.Fatalf("request %d is traced with %d tools, want %d", n, len(got.Tools), len(sent.Tools))
	}
	for i := range sent.Tools {
		w, g := &sent.Tools[i], &got.Tools[i]
		if g.Name != w.Name || g.Description != w.Description || !reflect.DeepEqual(decoded(t, g.Schema), decoded(t, w.Schema)) {
			t.Errorf("request %d is traced with the tool %+v, want %+v", n, g, w)
		}
	}
}

// checkAnswer compares an answer with the script. Calls have the ids that the next request has, where they
// end its last response.
func checkAnswer(t testing.TB, n int, got *core.ModelAnswer, want *Answer, next []Message) {
	t.Helper()
	if got.Text != want.Text || len(got.Calls) != len(want.Calls) || got.Duration < 0 {
		t.Fatalf("answer %d is traced as %+v, want %+v", n, got, want)
	}
	for i, c := range got.Calls {
		w := want.Calls[i]
		if c.ID == "" || w.ID != "" && i == 0 && c.ID != w.ID || c.Name != w.Name || c.Arguments != cmp.Or(w.Arguments, "{}") {
			t.Errorf("call %d of answer %d is traced as %+v, want %+v", i, n, c, w)
		}
	}
	for k := len(next) - 1; k >= 0; k-- {
		if len(next[k].Calls) == 0 {
			continue
		}
		for i := range next[k].Calls {
			if len(want.Calls) > i && next[k].Calls[i].ID != got.Calls[i].ID {
				t.Errorf("call %d of answer %d is traced with id %q, and sent with %q", i, n, got.Calls[i].ID, next[k].Calls[i].ID)
			}
		}
		return
	}
}

// Lines returns the trace with one line for each request and each answer, without what differs between
// frameworks: agents, ids, models and durations. Requests that have failed are left out.
func (tr *Trace) Lines(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, e := range tr.Exchanges(t) {
		if e.Answer.Err != nil {
			continue
		}
		e.Request.Key.Agent, e.Request.ID, e.Request.Model = "", 0, ""
		for i := range e.Request.Messages {
			m := &e.Request.Messages[i]
			m.Calls = append([]core.ToolCall{}, m.Calls...)
		}
		for i := range e.Request.Tools {
			e.Request.Tools[i].Schema = decoded(t, e.Request.Tools[i].Schema)
		}
		answer := map[string]any{"text": e.Answer.Text, "calls": append([]core.ToolCall{}, e.Answer.Calls...), "usage": e.Answer.Usage}
		all = append(all, string(line(t, e.Request)), string(line(t, answer)))
	}
	return all
}

// Answers returns how many answers were reported.
func (tr *Trace) Answers() (n int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for i := range tr.entries {
		if tr.entries[i].request == nil {
			n++
		}
	}
	return n
}
