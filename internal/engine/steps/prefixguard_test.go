package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/processors"
)

// request is a view of a system message, a question, a load with content and an
// answer.
func request() []core.Message {
	added := "\n\n" + strings.Repeat("text", 100)
	return []core.Message{
		{Role: core.System, Text: "You help.\n\noverview", Added: "\n\noverview"},
		{Role: core.User, Text: "hi", Origin: 1},
		{Role: core.Assistant, Calls: []core.ToolCall{{ID: "1", Name: "skill_load", Arguments: "pdf"}}, Origin: 2},
		{Role: core.ToolResult, Text: "stub" + added, Added: added, Origin: 3},
		{Role: core.Assistant, Text: "done", Origin: 4},
	}
}

func TestPrefixGuard(t *testing.T) {
	rec := &state.Record{TurnState: state.TurnState{Turn: 1}, LoadState: state.LoadState{Deliveries: []state.Delivery{{Call: 1, Skill: "pdf"}}}, NoteState: state.NoteState{Overview: "o"}}
	unloaded := &state.Record{TurnState: state.TurnState{Turn: 1}, NoteState: state.NoteState{Overview: "o"}}
	turned := &state.Record{TurnState: state.TurnState{Turn: 2}, NoteState: state.NoteState{Overview: "o"}}
	cut := func(m *core.Message) { m.Text, m.Added = m.Text[:len(m.Text)-len(m.Added)], "" }
	fallback := core.Message{Role: core.System, Text: FallbackHeading, Added: FallbackHeading, Origin: core.Inserted}
	for _, tt := range []struct {
		name    string
		change  func([]core.Message) []core.Message
		rec     *state.Record
		cause   processors.Cause
		message int
		tokens  int
	}{
		{"the same", func(v []core.Message) []core.Message { return v }, rec, "", 0, 0},
		{"grown", func(v []core.Message) []core.Message { return append(v, core.Message{Role: core.User, Text: "more"}) }, turned, "", 0, 0},
		{"a turn began", func(v []core.Message) []core.Message { cut(&v[3]); return append(v, core.Message{Role: core.User}) }, turned, causeTurn, 3, 1},
		{"unloaded", func(v []core.Message) []core.Message { cut(&v[3]); return v }, unloaded, causeUnload, 3, 1},
		{"nothing explains it", func(v []core.Message) []core.Message { cut(&v[3]); return v }, rec, causeUnknown, 3, 1},
		{"system text of the host", func(v []core.Message) []core.Message { v[0].Text = "You HELP.\n\noverview"; return v }, rec, causeHost, 0, 109},
		{"a new overview", func(v []core.Message) []core.Message {
			v[0].Text, v[0].Added = "You help.\n\nolder", "\n\nolder"
			return v
		}, &state.Record{TurnState: state.TurnState{Turn: 2}, NoteState: state.NoteState{Overview: "p"}}, causeOverview, 0, 107},
		{"content in the system message", func(v []core.Message) []core.Message {
			v[0].Text, v[0].Added = v[0].Text+" pdf", v[0].Added+" pdf"
			return v
		}, unloaded, causeSystem, 0, 107},
		{"arguments rewritten", func(v []core.Message) []core.Message {
			v[2].Calls = []core.ToolCall{{ID: "1", Name: "skill_load", Arguments: "pdf "}}
			return v
		}, rec, causeHost, 2, 103},
		{"another role", func(v []core.Message) []core.Message { v[1].Role = core.System; return v }, rec, causeHost, 1, 106},
		{"cut at the end", func(v []core.Message) []core.Message { return v[:4] }, rec, causeHost, 4, 0},
		{"cut in the middle", func(v []core.Message) []core.Message { return append(v[:1], v[2:]...) }, rec, causeHost, 1, 106},
		{"the system message removed", func(v []core.Message) []core.Message {
			v[0] = core.Message{Role: core.System, Text: "overview", Added: "overview", Origin: core.Inserted}
			return v
		}, rec, causeHost, 0, 109},
		{"the system message removed and nothing in its place", func(v []core.Message) []core.Message { return v[1:] }, rec, causeHost, 0, 107},
		{"a message of the host before a fallback", func(v []core.Message) []core.Message {
			return append(v[:1:1], append([]core.Message{fallback, {Role: core.User, Text: "before"}}, v[1:]...)...)
		}, rec, causeHost, 1, 107},
		{"moved to the front", func(v []core.Message) []core.Message { return append(v[4:], v[:4]...) }, rec, causeHost, 0, 111},
		{"fallback", func(v []core.Message) []core.Message {
			return append(v[:1:1], append([]core.Message{fallback}, v[1:]...)...)
		}, rec, causeFallback, 1, 107},
		{"ids do not count", func(v []core.Message) []core.Message {
			v[2].Calls = []core.ToolCall{{ID: "2", Name: "skill_load", Arguments: "pdf"}}
			return v
		}, rec, "", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var g PrefixGuard
			if b, broken := g.Check(request(), rec); broken {
				t.Fatalf("the first request: %v", b)
			}
			b, broken := g.Check(tt.change(request()), tt.rec)
			if broken != (tt.cause != "") || b.Cause != tt.cause || b.Message != tt.message || b.Tokens != tt.tokens {
				t.Errorf("%+v, %v", b, broken)
			}
			if b, broken := g.Check(tt.change(request()), tt.rec); broken {
				t.Errorf("the same request again: %v", b)
			}
		})
	}
}

// A fallback that goes is its own cause, not the host's.
func TestPrefixGuardSeesAFallbackGo(t *testing.T) {
	rec := &state.Record{}
	text := FallbackHeading + "x"
	view := append([]core.Message{{Role: core.System, Text: text, Added: text, Origin: core.Inserted}}, request()...)
	var g PrefixGuard
	g.Check(view, rec)
	if b, _ := g.Check(view[1:], rec); b.Cause != causeFallback {
		t.Errorf("Check: got %+v, want Cause %v", b, causeFallback)
	}
}

// A host without a system message has an overview that is a message of Satchel's:
// what changes in it is explained by the record.
func TestPrefixGuardOfAnOverviewMessage(t *testing.T) {
	overview := func(text string) []core.Message {
		return append([]core.Message{{Role: core.System, Text: text, Added: text, Origin: core.Inserted}}, request()[1:]...)
	}
	loaded := &state.Record{LoadState: state.LoadState{Deliveries: []state.Delivery{{Call: 1, Skill: "pdf"}}}, NoteState: state.NoteState{Overview: "o"}}
	for _, tt := range []struct {
		now  []core.Message
		rec  *state.Record
		want processors.Cause
	}{
		{overview("new"), &state.Record{NoteState: state.NoteState{Overview: "n"}}, causeOverview},
		{overview("old, pdf"), loaded, causeSystem},
		{overview("new"), &state.Record{NoteState: state.NoteState{Overview: "o"}}, causeUnknown},
		{request(), &state.Record{NoteState: state.NoteState{Overview: "o"}}, causeHost}, // the request has the host's system message now
		{overview("old")[:1], &state.Record{NoteState: state.NoteState{Overview: "o"}}, causeHost},
	} {
		var g PrefixGuard
		g.Check(overview("old"), &state.Record{NoteState: state.NoteState{Overview: "o"}})
		if b, _ := g.Check(tt.now, tt.rec); b.Cause != tt.want {
			t.Errorf("%q: %+v, want %s", tt.now[0].Text, b, tt.want)
		}
	}
}

// Without records the guard works as well as it can.
func TestPrefixGuardWithoutRecords(t *testing.T) {
	changed := request()
	changed[3].Text, changed[3].Added = "stub", ""
	for name, recs := range map[string][2]*state.Record{"none": {}, "none then": {nil, {}}, "none now": {{}, nil}} {
		var g PrefixGuard
		g.Check(request(), recs[0])
		if b, broken := g.Check(changed, recs[1]); !broken || b.Cause != causeUnknown || b.Message != 3 {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// The result of a call that was answered here is the framework's message in its turn and
// Satchel's in later ones. The model reads the same.
func TestPrefixGuardWhereAResultHasAnotherWriter(t *testing.T) {
	result := core.Message{Role: core.ToolResult, Text: "error: there is no tool", Origin: 4}
	inserted := result
	inserted.Added, inserted.Origin = result.Text, core.Inserted
	var g PrefixGuard
	rec := &state.Record{}
	for n, last := range []core.Message{result, inserted, inserted, result} {
		if b, broken := g.Check(append(request(), last), rec); broken {
			t.Errorf("request %d: %+v", n, b)
		}
	}
	gone := append(request(), core.Message{Role: core.User, Text: "go on"})
	if b, _ := g.Check(gone, rec); b.Cause != causeHost || b.Message != len(gone)-1 {
		t.Errorf("the host's message went: %+v", b)
	}
}

type recorder struct{ failures []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestFailTest(t *testing.T) {
	for _, tt := range []struct {
		cause   processors.Cause
		allowed []processors.Cause
		fails   int
	}{
		{causeTurn, nil, 0},
		{causeUnload, nil, 0},
		{causeHost, nil, 1},
		{causeUnknown, nil, 1},
		{causeTurn, []processors.Cause{causeHost}, 1},
		{causeHost, []processors.Cause{causeHost}, 0},
	} {
		var r recorder
		processors.FailTest(&r, tt.allowed...)(processors.PrefixBreak{Cause: tt.cause, Message: 3, Role: core.ToolResult, Tokens: 120})
		if len(r.failures) != tt.fails {
			t.Errorf("%s with %v allowed: %q", tt.cause, tt.allowed, r.failures)
		}
		if want := "prefix breaks at message 3 (tool), cause host: about 120 tokens are sent again"; tt.cause == causeHost && tt.fails == 1 && r.failures[0] != want {
			t.Errorf("failure %q, want %q", r.failures[0], want)
		}
	}
}

// TestPrefixGuardKeepsNoMemoryOfTheView: an adapter makes the next request in
// the memory of the last one.
func TestPrefixGuardKeepsNoMemoryOfTheView(t *testing.T) {
	calls := []core.ToolCall{{Name: "look", Arguments: "{}"}}
	view := []core.Message{{Role: core.User, Text: "hi"}, {Role: core.Assistant, Calls: calls}}
	var g PrefixGuard
	g.Check(view, nil)
	clear(calls)
	again := []core.Message{{Role: core.User, Text: "hi"}, {Role: core.Assistant, Calls: []core.ToolCall{{Name: "look", Arguments: "{}"}}}}
	if b, broken := g.Check(again, nil); broken {
		t.Errorf("the same request is a break: %+v", b)
	}
}

func TestRenderInSpace(t *testing.T) {
	messages := []core.Message{{Role: core.User, Text: "hi"}, {Role: core.User, Text: "there"}}
	for _, room := range []int{0, 1, 2, 5} {
		space := make([]core.Message, 0, room)
		view, _ := Render(nil, messages, State{Content: &state.Content{}, Space: space})
		if len(view) != 2 || view[1].Text != "there" {
			t.Fatalf("room for %d: %+v", room, view)
		}
		if in := room > 0 && &view[0] == &space[:1][0]; in != (room >= 2) {
			t.Errorf("room for %d: made there %v", room, in)
		}
	}
}
