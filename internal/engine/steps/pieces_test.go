package steps

import (
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/processors"
)

func TestPieces(t *testing.T) {
	rec := &state.Record{
		TurnState: state.TurnState{
			Turn: 2,
		},
		LoadState: state.LoadState{
			Deliveries: []state.Delivery{
				{Call: 1, Skill: "pdf", Digest: "d", Body: true},
				{Call: 2, Skill: "csv", Digest: "d", Body: true, Anchor: &state.Mark{Hash: state.MarkText("second"), Ordinal: 1, Turn: 2}},
				{Call: 3, Skill: "cut", Digest: "d", Body: true},
			},
		},
	}
	content, err := state.NewContent(rec, func(string) (string, error) { return strings.Repeat("word ", 400), nil })
	if err != nil {
		t.Fatal(err)
	}
	messages := []core.Message{
		{Role: core.System, Text: strings.Repeat("long ", 1000)},
		{Role: core.User, Text: "first"},
		{Role: core.Assistant, Calls: []core.ToolCall{{Name: "skill_load", Arguments: "pdf"}}},
		{Role: core.ToolResult, Tool: "skill_load", Text: "loaded: pdf\n[skill#1 +pdf@d]"},
		{Role: core.Assistant, Text: strings.Repeat("four", 100)},
		{Role: core.User, Text: "second"},
		{Role: core.ToolResult, Tool: "other", Text: "[skill#3 +cut@d]"},
		{Role: core.Assistant, Text: strings.Repeat("four", 50)},
		{Role: core.User, Text: strings.Repeat("new ", 1000)},
	}
	pieces, calls := Pieces(messages, State{Record: rec, Content: content, Delivers: map[string]bool{"skill_load": true}})
	size := prompttext.Estimate(content.Calls[0].Text)
	want := []lifetime.Piece{
		{Dead: size, Live: 4 + 100 + 4 + prompttext.Estimate("second")},
		{Dead: prompttext.Estimate(content.Calls[1].Text), Live: 4 + prompttext.Estimate("[skill#3 +cut@d]") + 4 + 50},
	}
	if !reflect.DeepEqual(pieces, want) || !reflect.DeepEqual(calls, []int{1, 2}) {
		t.Errorf("pieces are %+v of calls %v, want %+v", pieces, calls, want)
	}
	if size < 400 {
		t.Errorf("the content counts %d tokens", size)
	}
}

// Content whose load has ended is shown at its place and nowhere else.
func TestEndedContentHasNoFallback(t *testing.T) {
	rec := &state.Record{TurnState: state.TurnState{Turn: 2}, LoadState: state.LoadState{Deliveries: []state.Delivery{{Call: 1, Skill: "pdf", Digest: "d", Body: true, Ended: true}}}}
	content, err := state.NewContent(rec, func(string) (string, error) { return "BODY", nil })
	if err != nil {
		t.Fatal(err)
	}
	st := State{Record: rec, Content: content, Delivers: map[string]bool{"skill_load": true}}
	place := core.Message{Role: core.ToolResult, Tool: "skill_load", Text: "loaded: pdf\n[skill#1 +pdf@d]"}
	view, elsewhere := Render(Chain(processors.InToolResult), []core.Message{{Role: core.User, Text: "hi"}, place}, st)
	if len(view) != 2 || !strings.Contains(view[1].Text, "BODY") || !reflect.DeepEqual(elsewhere, Displaced{}) {
		t.Errorf("view is %+v with %v elsewhere", view, elsewhere)
	}
	view, elsewhere = Render(Chain(processors.InToolResult), []core.Message{{Role: core.User, Text: "hi"}}, st)
	if len(view) != 1 || !reflect.DeepEqual(elsewhere.Hidden, []state.DeliveryKey{{Call: 1, Skill: "pdf"}}) {
		t.Errorf("without its place the view is %+v with %v elsewhere", view, elsewhere)
	}

	// The same call loaded csv, which is still loaded: its text moves to the fallback message.
	rec.Deliveries = append(rec.Deliveries, state.Delivery{Call: 1, Skill: "csv", Digest: "d", Body: true})
	if st.Content, err = state.NewContent(rec, func(string) (string, error) { return "BODY", nil }); err != nil {
		t.Fatal(err)
	}
	view, elsewhere = Render(Chain(processors.InToolResult), []core.Message{{Role: core.User, Text: "hi"}}, st)
	if len(view) != 2 || !strings.Contains(view[0].Text, `name="csv"`) ||
		!reflect.DeepEqual(elsewhere, Displaced{Hidden: []state.DeliveryKey{{Call: 1, Skill: "pdf"}}, Fallback: []state.DeliveryKey{{Call: 1, Skill: "csv"}}}) {
		t.Errorf("with a skill that is loaded the view is %+v with %v elsewhere", view, elsewhere)
	}
}
