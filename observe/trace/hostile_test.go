package trace_test

import (
	"bytes"
	stdcontext "context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/observe/trace"
)

// hostile are texts that break encoders, tokens and pages.
var hostile = []string{
	"</script><script>alert(1)</script>", "\u202egnp.exe\u2066", "\u2028\u2029", "\x00\x01\x7f\x1b[31m", "\xff\xfe broken \xe2\x82", "😀👩‍👩‍👧", "語語語", "{\"v\":2}\n{",
	strings.Repeat("a", 100_000), strings.Repeat("\xff", 3000), "'s 're 'LL", "<|endoftext|><|im_end|>", "",
}

// asSent returns a request as cache-report reads it: what JSON has made of it.
func asSent(t testing.TB, q core.ModelRequest) prompt.Request {
	t.Helper()
	text := func(s string) (out string) {
		b, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(b, &out)
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var r prompt.Request
	for _, d := range q.Tools {
		schema, err := json.Marshal(d.Schema)
		if err != nil {
			t.Fatal(err)
		}
		r.Tools = append(r.Tools, prompt.Tool{Name: text(d.Name), Description: text(d.Description), Parameters: schema})
	}
	for _, m := range q.Messages {
		p := prompt.Message{Role: m.Role.String(), Content: text(m.Text)}
		for _, c := range m.Calls {
			p.Calls = append(p.Calls, prompt.Call{Name: text(c.Name), Arguments: text(c.Arguments)})
		}
		r.Messages = append(r.Messages, p)
	}
	return r
}

// Whatever texts there are, each line is valid, the parts add up to the tokens of cache-report, and breaks
// lose what it counts.
func TestHostileTexts(t *testing.T) {
	renderer, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	pick := func() string { return hostile[rnd.IntN(len(hostile))] }
	b := &awaited{text: "\"event\":\"not_found\"", count: 60, reached: make(chan struct{})}
	tr, err := trace.New(b)
	if err != nil {
		t.Fatal(err)
	}
	var want []int
	var messages []core.Message
	for i := range 60 {
		if rnd.IntN(4) == 0 {
			messages = nil // a break
		}
		messages = append(messages, message(core.Role(rnd.IntN(4)), pick()+pick(), core.ToolCall{ID: pick(), Name: pick(), Arguments: pick()}))
		q := core.ModelRequest{
			ID: uint64(i + 1), Key: core.SessionKey{Session: "s\u202e"}, Messages: append([]core.Message(nil), messages...),
			Tools: []core.Definition{{Name: pick(), Description: pick(), Schema: map[string]any{"type": pick()}}},
			View:  core.ViewTrace{Turn: i + 1, Prompt: pick()},
		}
		for range rnd.IntN(4) {
			at := rnd.IntN(len(messages))
			start := rnd.IntN(len(messages[at].Text)+10) - 5
			q.View.Texts = append(q.View.Texts, core.PlacedText{Skill: []string{"", "a", "b"}[rnd.IntN(3)], Doc: []string{"", "d"}[rnd.IntN(2)], Message: at, Start: start, End: start + rnd.IntN(50)})
		}
		p, err := renderer.Render(asSent(t, q))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, p.Size)
		tr.Request(stdcontext.Background(), q)
		tr.Answer(stdcontext.Background(), core.ModelAnswer{ID: q.ID, Key: q.Key, Text: pick(), Calls: []core.ToolCall{{ID: pick(), Name: pick(), Arguments: pick()}}})
		tr.Event(stdcontext.Background(), core.Event{Kind: core.SkillNotFound, Key: q.Key, Detail: pick(), Call: core.ToolCall{ID: pick(), Name: "x"}})
	}
	select {
	case <-b.reached: // Close waits for two seconds only
	case <-t.Context().Done():
		t.Fatal("not all lines were written")
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for l := range strings.Lines(b.written.String()) {
		var head line.Head
		if err := json.Unmarshal([]byte(l), &head); err != nil {
			t.Fatalf("%v in %.300q", err, l)
		}
		if head.Event != line.EventCall {
			continue
		}
		var c line.Call
		if err := json.Unmarshal([]byte(l), &c); err != nil {
			t.Fatal(err)
		}
		texts := 0
		for _, text := range c.Texts {
			texts += text.Tokens
		}
		if c.Parts.Sum() != want[calls] || texts != c.Parts.Skills+c.Parts.Docs {
			t.Errorf("call %d has the parts %+v and %d tokens of texts, want %d tokens", c.Call, c.Parts, texts, want[calls])
		}
		calls++
	}
	if calls != len(want) {
		t.Errorf("%d calls, want %d", calls, len(want))
	}
}

// awaited is a writer that closes reached once so many writes have had the text.
type awaited struct {
	written strings.Builder
	text    string
	count   int
	reached chan struct{}
}

func (w *awaited) Write(data []byte) (int, error) {
	if bytes.Contains(data, []byte(w.text)) {
		if w.count--; w.count == 0 {
			close(w.reached)
		}
	}
	return w.written.Write(data)
}
