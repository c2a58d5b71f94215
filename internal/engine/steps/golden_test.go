package steps

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/goldentest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// scene is the input of one golden file. Its sections are
//
//	state     the fields of settings and of session.Record as JSON; marks
//	          name their user message by its text
//	pin D     the text that is pinned under the digest D
//	overview  the session's overview
//	in ROLE   one message of the request; after the role "id=" and "tool=" of a
//	          tool result, the calls of an assistant message as NAME#ID, or
//	          "rewritten"
//	out …     the messages of the view: written by -update
type scene struct {
	settings settings
	record   *state.Record
	pins     map[string]string
	overview string
	messages []core.Message
}

type settings struct {
	Mode    loadmode.Mode `json:"mode"`
	Place   string        `json:"place"`
	Summary string        `json:"summary"`
}

func readScene(t testing.TB, sections []goldentest.Section) scene {
	t.Helper()
	s := scene{record: &state.Record{TurnState: state.TurnState{Turn: 1}}, pins: map[string]string{}}
	for _, part := range sections {
		kind, rest, _ := strings.Cut(part.Head, " ")
		switch kind {
		case "state":
			for _, into := range []any{&s.settings, s.record} {
				if err := json.Unmarshal([]byte(part.Text), into); err != nil {
					t.Fatalf("state: %v", err)
				}
			}
		case "pin":
			s.pins[rest] = part.Text
		case "overview":
			s.overview = part.Text
		case "in":
			s.messages = append(s.messages, readMessage(t, rest, part.Text, len(s.messages)))
		}
	}
	for i := range s.record.Deliveries {
		if a := s.record.Deliveries[i].Anchor; a != nil {
			a.Hash = state.MarkText(a.Hash)
		}
	}
	for i := range s.record.Notes {
		s.record.Notes[i].Anchor.Hash = state.MarkText(s.record.Notes[i].Anchor.Hash)
	}
	return s
}

func readMessage(t testing.TB, head, text string, origin int) core.Message {
	t.Helper()
	words := strings.Fields(head)
	m := core.Message{Text: text, Origin: origin}
	for m.Role.String() != words[0] {
		if m.Role++; m.Role > core.ToolResult {
			t.Fatalf("no role %q", words[0])
		}
	}
	for _, w := range words[1:] {
		if id, ok := strings.CutPrefix(w, "id="); ok {
			m.CallID = id
		} else if tool, ok := strings.CutPrefix(w, "tool="); ok {
			m.Tool = tool
		} else if w == "rewritten" {
			m.Rewritten = true
		} else {
			name, id, _ := strings.Cut(w, "#")
			m.Calls = append(m.Calls, core.ToolCall{Name: name, ID: id})
		}
	}
	return m
}

func (s scene) chain() []Processor {
	if s.settings.Place == "system" {
		return Chain(processors.InSystem)
	}
	return Chain(processors.InToolResult)
}

func (s scene) state(t testing.TB) State {
	t.Helper()
	content, err := state.NewContent(s.record, func(digest string) (string, error) {
		text, ok := s.pins[digest]
		if !ok {
			return "", fmt.Errorf("no pin %s", digest)
		}
		return text, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]processors.SummaryRule{"auto": processors.SummaryAuto, "attach": processors.SummaryAttach, "skip": processors.SummarySkip}
	rule, summary := rules[s.settings.Summary]
	return State{
		Record: s.record, Content: content, Overview: s.overview, Mode: s.settings.Mode, Summary: summary, Rule: rule,
		Delivers: map[string]bool{"skill_load": true, "skill_select_docs": true},
	}
}

// written are the sections of a view.
func written(view []core.Message, hidden []state.DeliveryKey) (out []goldentest.Section) {
	for _, m := range view {
		head := "out " + m.Role.String()
		switch {
		case m.Origin == core.Inserted:
			head += ", inserted"
		case m.Added != "":
			head += ", extended"
		}
		out = append(out, goldentest.Section{Head: head, Text: m.Text})
	}
	if len(hidden) > 0 {
		out = append(out, goldentest.Section{Head: "out hidden", Text: fmt.Sprint(hidden)})
	}
	return out
}

// TestView renders each scene of testdata/view and compares the view with the
// one in the file, which -update writes.
func TestView(t *testing.T) {
	files, err := filepath.Glob("testdata/view/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			about, sections := goldentest.Read(t, file)
			s := readScene(t, sections)
			view, elsewhere := Render(s.chain(), s.messages, s.state(t))
			got := written(view, elsewhere.Hidden)
			var in, want []goldentest.Section
			for _, part := range sections {
				if strings.HasPrefix(part.Head, "out ") {
					want = append(want, part)
				} else {
					in = append(in, part)
				}
			}
			checkView(t, s, view, elsewhere)
			if *goldentest.Update {
				goldentest.Write(t, file, about, append(in, got...))
				return
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", goldentest.Text(got), goldentest.Text(want))
			}
		})
	}
}

// checkView reports where a view breaks what holds for all of them.
func checkView(t *testing.T, s scene, view []core.Message, elsewhere Displaced) {
	t.Helper()
	_, sections := goldentest.Read(t, "testdata/view/"+strings.TrimPrefix(t.Name(), "TestView/")+".txtar")
	if before := readScene(t, sections); !reflect.DeepEqual(before.messages, s.messages) || !reflect.DeepEqual(before.record, s.record) {
		t.Error("rendering has changed its input")
	}
	if again, h := Render(s.chain(), s.messages, s.state(t)); !reflect.DeepEqual(again, view) || !reflect.DeepEqual(h, elsewhere) {
		t.Error("the same request gives another view")
	}
	if twice, h := Render(s.chain(), view, s.state(t)); !reflect.DeepEqual(twice, view) || !reflect.DeepEqual(h, elsewhere) {
		t.Errorf("a view of the view is another one:\n%s", goldentest.Text(written(twice, h.Hidden)))
	}
	origin := 0
	for i, m := range view {
		if m.Text[len(m.Text)-len(m.Added):] != m.Added {
			t.Errorf("message %d does not end with what was added to it", i)
		}
		if m.Origin == core.Inserted {
			if m.Added != m.Text || m.Role != core.System {
				t.Errorf("inserted message %d is of role %s or not all added", i, m.Role)
			}
			continue
		}
		if m.Origin != origin || m.Text[:len(m.Text)-len(m.Added)] != s.messages[origin].Text {
			t.Errorf("message %d is not the host's message %d", i, origin)
		}
		origin++
	}
	if origin != len(s.messages) {
		t.Errorf("%d of %d messages", origin, len(s.messages))
	}
}
