package trace_test

import (
	"bytes"
	stdcontext "context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/observe/trace"
)

var _ satchel.Tracer = (*trace.Trace)(nil)

const (
	hostText = "You help.\n\n"
	overview = "<available_skills>\n- guard: Guards doors.\n- pdf: Reads PDF files.\n</available_skills>"
	body     = "\n\n<skill name=\"guard\">\nLook at the door.\n</skill>"
	doc      = "\n<skill_doc skill=\"guard\" path=\"keys.md\">\nThree keys.\n</skill_doc>"
)

func message(role core.Role, text string, calls ...core.ToolCall) core.Message {
	return core.Message{Role: role, Text: text, Calls: calls}
}

func result(id, text string) core.Message {
	return core.Message{Role: core.ToolResult, Text: text, CallID: id, Tool: "skill_load"}
}

var tools = []core.Definition{{Name: "skill_load", Description: "Loads a skill & its <docs>.", Schema: json.RawMessage(`{"type":"object"}`)}}

// first and second are the requests of a turn in which the model loads a skill.
func first() core.ModelRequest {
	return core.ModelRequest{
		ID: 1, Key: core.SessionKey{Session: "s", Agent: "chat"}, Model: "gpt-4o", Tools: tools,
		View: core.ViewTrace{Turn: 1, Prompt: "Guard the door.", Texts: []core.PlacedText{
			{Message: 0, Start: len(hostText), End: len(hostText + overview), Mode: "turn", Leaves: "never"},
		}},
		Messages: []core.Message{message(core.System, hostText+overview), message(core.User, "Guard the door.")},
	}
}

var load = core.ToolCall{ID: "c1", Name: "skill_load", Arguments: `{"name":"guard"}`}

func second() core.ModelRequest {
	q := first()
	q.ID = 2
	const stub = "loaded: guard"
	q.Messages = append(q.Messages, message(core.Assistant, "", load), result("c1", stub+body+doc))
	q.View.Texts = append(q.View.Texts,
		core.PlacedText{Skill: "guard", Load: 1, LoadedBy: 1, Message: 3, Start: len(stub), End: len(stub + body), Mode: "turn", Leaves: "turn"},
		core.PlacedText{Skill: "guard", Load: 1, LoadedBy: 1, Doc: "keys.md", Message: 3, Start: len(stub + body), End: len(stub + body + doc), Mode: "turn", Leaves: "turn"})
	return q
}

// script reports a conversation to a trace.
func script(t *trace.Trace) {
	ctx, key := stdcontext.Background(), core.SessionKey{Session: "s", Agent: "chat"}
	event := func(e core.Event) {
		e.Key, e.Turn, e.Time = key, max(e.Turn, 1), time.Now()
		t.Event(ctx, e)
	}
	event(core.Event{Kind: core.TurnBegun, Prompt: first().View.Prompt})
	event(core.Event{Kind: core.SkillsOffered, Skills: []string{"guard"}, Named: []string{"pdf"}, Left: 3})
	event(core.Event{Kind: core.SkillsSuggested, Skills: []string{"guard"}})
	t.Request(ctx, first())
	t.Answer(ctx, core.ModelAnswer{ID: 1, Key: key, Calls: []core.ToolCall{load}, Usage: core.Usage{Prompt: 90, Cached: 64, Completion: 9}, Duration: 1500 * time.Millisecond})
	event(core.Event{Kind: core.ToolAllowed, Call: load, Detail: "no list"})
	event(core.Event{Kind: core.SkillLoaded, Call: load, Skill: "guard", Docs: []string{"keys.md"}, Digest: "ab", By: "model", Load: 1})
	t.Request(ctx, second())
	t.Answer(ctx, core.ModelAnswer{ID: 2, Key: key, Text: "It is guarded.", Usage: core.Usage{Prompt: 120, Completion: 5}, Duration: time.Second})
	event(core.Event{Kind: core.SkillUsed, Skill: "guard", Detail: "named"})

	// The second turn clears the text, fails once, and runs a command.
	event(core.Event{Kind: core.TurnBegun, Prompt: "And now?", Turn: 2})
	event(core.Event{Kind: core.SkillCompleted, Skill: "guard", Detail: "turn", Turn: 2})
	event(core.Event{Kind: core.TextCleared, Skill: "guard", Docs: []string{"keys.md"}, Digest: "ab", Cause: "rent", Turn: 2})
	event(core.Event{Kind: core.PrefixBroken, Cause: "turn", Turn: 2})
	q := second()
	q.ID, q.View.Turn, q.View.Prompt, q.View.Texts = 3, 2, "And now?", q.View.Texts[:1]
	q.Messages[3] = result("c1", "loaded: guard")
	q.Messages = append(q.Messages, message(core.Assistant, "It is guarded."), message(core.User, "And now?"))
	t.Request(ctx, q)
	t.Answer(ctx, core.ModelAnswer{ID: 3, Key: key, Err: errors.New("429: too many requests")})
	run := core.ToolCall{ID: "c2", Name: "skill_run", Arguments: `{"command":"look"}`}
	q.ID = 4
	t.Request(ctx, q)
	t.Answer(ctx, core.ModelAnswer{ID: 4, Key: key, Calls: []core.ToolCall{run}})
	event(core.Event{Kind: core.ToolAsked, Call: run, Decider: "no rule", Detail: "not listed", Turn: 2})
	event(core.Event{Kind: core.ToolApproval, Call: run, Approved: true, Detail: "once", Turn: 2})
	event(core.Event{Kind: core.ToolAllowed, Call: run, Skill: "guard", Rule: "Bash(look:*)", Detail: "approved", Turn: 2})
	code := 3
	event(core.Event{
		Kind: core.CommandEnded, Call: run, Skill: "guard", ExitCode: &code, Duration: 20 * time.Millisecond, Turn: 2,
		Command: &core.CommandReport{Command: "look", TimedOut: true, Files: []core.OutputFile{{Path: "out/a.txt", Size: 7}}, Limits: map[string]int64{"seconds": 2}},
	})
	event(core.Event{Kind: core.SkillUsed, Call: run, Skill: "guard", Detail: "run", Turn: 2})
	event(core.Event{Kind: core.ToolDenied, Call: core.ToolCall{ID: "c3", Name: "rm"}, Skill: "guard", Decider: "allowed-tools of guard", Detail: "not in allowed-tools of guard", Turn: 2})
	event(core.Event{Kind: core.SkillNotFound, Call: core.ToolCall{ID: "c4", Name: "skill_load"}, Detail: "gard", Skills: []string{"guard"}, Turn: 2})

	// A fork has an agent of its own.
	fork := first()
	fork.ID, fork.Key.Agent, fork.View.Turn, fork.View.Fork = 5, "chat/fork:pdf#1", 2, "pdf"
	t.Request(ctx, fork)
	t.Answer(ctx, core.ModelAnswer{ID: 5, Key: fork.Key, Text: "Done."})
}

// record returns the lines of the script.
func record(t *testing.T, opts ...trace.Option) string {
	t.Helper()
	var b bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		tr, err := trace.New(&b, opts...)
		if err != nil {
			t.Fatal(err)
		}
		script(tr)
		synctest.Wait()
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return b.String()
}

// lines decodes a trace.
func lines(t *testing.T, text string) (all []map[string]any) {
	t.Helper()
	for l := range strings.Lines(text) {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatalf("%v: %q", err, l)
		}
		all = append(all, m)
	}
	return all
}

func TestScript(t *testing.T) {
	text := record(t)
	for i, l := range lines(t, text) {
		if l["v"] != 1.0 || l["seq"] != float64(i+1) {
			t.Errorf("line %d has version %v and seq %v", i+1, l["v"], l["seq"])
		}
	}
}

func TestDigestsAreOfTheBytesInTheLine(t *testing.T) {
	found := 0
	for l := range strings.Lines(record(t)) {
		var m struct {
			Digest  string
			Message json.RawMessage
			Tools   json.RawMessage
			Event   string
		}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		if m.Event != "message" && m.Event != "tools" {
			continue
		}
		found++
		sum := sha256.Sum256(append(m.Message, m.Tools...))
		if want := "sha256:" + hex.EncodeToString(sum[:]); m.Digest != want {
			t.Errorf("the digest of %s is %s", l, m.Digest)
		}
	}
	if found < 7 {
		t.Errorf("%d lines with digests", found)
	}
}

// A session that has ended and begins again under its name continues no request, so its first one breaks no prefix.
func TestSessionThatBeginsAgain(t *testing.T) {
	var b strings.Builder
	tr, err := trace.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	for id, text := range []string{"one", "two", "other"} {
		q := first()
		q.ID, q.ModelCall, q.View.Texts = uint64(id+1), 1+id%2, nil
		q.Messages = []core.Message{message(core.System, "You help."), message(core.User, text)}
		tr.Request(stdcontext.Background(), q)
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines(t, b.String()) {
		switch l["event"] {
		case "call":
			got = append(got, fmt.Sprintf("call %v keeps %v", l["call"], l["keep"]))
		case "break":
			got = append(got, fmt.Sprintf("break in %v", l["call"]))
		}
	}
	if want := []string{"call 1 keeps 0", "call 2 keeps 1", "break in 2", "call 1 keeps 0"}; !slices.Equal(got, want) {
		t.Errorf("the trace has %q, want %q", got, want)
	}
}

// An agent may have several calls at once. Answers come in any order, and tool calls belong to the answer
// that made them.
func TestCallsOfOneAgentAtOnce(t *testing.T) {
	var b bytes.Buffer
	tr, err := trace.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	ctx := stdcontext.Background()
	one, two := first(), first()
	two.ID = 2
	tr.Request(ctx, one)
	tr.Request(ctx, two)
	tr.Answer(ctx, core.ModelAnswer{ID: 2, Key: two.Key, Text: "two", Calls: []core.ToolCall{{ID: "b", Name: "x"}}})
	tr.Answer(ctx, core.ModelAnswer{ID: 1, Key: one.Key, Text: "one", Calls: []core.ToolCall{{ID: "a", Name: "x"}}})
	for _, id := range []string{"a", "b"} {
		tr.Event(ctx, core.Event{Kind: core.ToolDenied, Key: one.Key, Call: core.ToolCall{ID: id, Name: "x"}, Decider: "no rule"})
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, l := range lines(t, b.String()) {
		switch l["event"] {
		case "answer":
			got[l["text"].(string)] = l["call"]
		case "decision":
			got[l["id"].(string)] = l["call"]
		}
	}
	if want := map[string]any{"one": 1.0, "two": 2.0, "a": 1.0, "b": 2.0}; !reflect.DeepEqual(got, want) {
		t.Errorf("the calls are %v, want %v", got, want)
	}
}

// A load has the tokens of its texts, also of those that an earlier one has brought. Of several texts of a
// skill the newest counts.
func TestTokensOfLoads(t *testing.T) {
	var b bytes.Buffer
	tr, err := trace.New(&b)
	if err != nil {
		t.Fatal(err)
	}
	ctx, key := stdcontext.Background(), first().Key
	loaded := func(load, estimate int, docs ...string) {
		tr.Event(ctx, core.Event{Kind: core.SkillLoaded, Key: key, Skill: "guard", Docs: docs, Load: load, Tokens: estimate, By: "model", Call: core.ToolCall{Name: "skill_load"}})
	}
	request := func(id uint64, q core.ModelRequest) {
		q.ID = id
		tr.Request(ctx, q)
	}
	request(1, first())
	loaded(1, 7, "keys.md")
	request(2, second())
	loaded(2, 0)            // all is in view
	loaded(3, 0, "keys.md") // so it is for both
	request(3, second())
	loaded(4, 9) // a newer text
	changed := second()
	changed.View.Texts = append(changed.View.Texts, core.PlacedText{Skill: "guard", Load: 4, Message: 1, Start: 0, End: len("Guard")})
	request(4, changed)
	loaded(5, 0) // the newer text stays
	loaded(6, 8) // the model is not called again
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	var got []int
	for l := range strings.Lines(b.String()) {
		var c line.Loaded
		if json.Unmarshal([]byte(l), &c) == nil && c.Event == line.EventLoaded {
			got = append(got, c.Tokens)
		}
	}
	if want := []int{34, 15, 34, 1, 1, 8}; !slices.Equal(got, want) {
		t.Errorf("the loads have %v tokens, want %v", got, want)
	}
}

// The sum of the parts is what cache-report counts, and the texts are those of skills and docs.
func TestPartsAddUp(t *testing.T) {
	r, err := prompt.NewO200k()
	if err != nil {
		t.Fatal(err)
	}
	q := second()
	request := prompt.Request{Tools: []prompt.Tool{{Name: tools[0].Name, Description: tools[0].Description, Parameters: tools[0].Schema.(json.RawMessage)}}}
	for _, m := range q.Messages {
		p := prompt.Message{Role: m.Role.String(), Content: m.Text}
		for _, c := range m.Calls {
			p.Calls = append(p.Calls, prompt.Call{Name: c.Name, Arguments: c.Arguments})
		}
		request.Messages = append(request.Messages, p)
	}
	want, err := r.Render(request)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(record(t)) {
		var c line.Call
		if err := json.Unmarshal([]byte(l), &c); err != nil || c.Event != "call" || c.Call != 2 {
			continue
		}
		sum := 0
		for _, text := range c.Texts {
			sum += text.Tokens
		}
		p := c.Parts
		if p.Sum() != want.Size || sum != p.Skills+p.Docs || min(p.System, p.Overview, p.History, p.Skills, p.Docs, p.Tools) <= 0 {
			t.Errorf("parts %+v, texts %+v, want %d tokens", p, c.Texts, want.Size)
		}
		return
	}
	t.Error("there is no second call")
}

// A trace has all answers that the host requested, and their texts as it has those of others.
func TestAlternatives(t *testing.T) {
	answer := core.ModelAnswer{ID: 1, Key: first().Key, Text: "one", Alternatives: []core.Message{message(core.Assistant, "two"), message(core.Assistant, "", load)}}
	for texts, want := range map[trace.TextPolicy]string{
		trace.Whole: `"alternatives":[{"text":"two","tool_calls":[]},{"text":"","tool_calls":[{"id":"c1","name":"skill_load","arguments":"{\"name\":\"guard\"}"}]}]`,
		trace.None:  `"alternatives":[{"text":"","tool_calls":[]},{"text":"","tool_calls":[{"id":"c1","name":"skill_load","arguments":""}]}]`,
	} {
		var b strings.Builder
		tr, err := trace.New(&b, trace.Texts(texts))
		if err != nil {
			t.Fatal(err)
		}
		tr.Request(stdcontext.Background(), first())
		tr.Answer(stdcontext.Background(), answer)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%v: %s in\n%s", texts, want, b.String())
		}
	}
}
