package state

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestKeepUnknown(t *testing.T) {
	rec := &Record{TurnState: TurnState{Turn: 1}}
	at := func(turn int, id, name, text string) UnknownCall {
		return UnknownCall{Turn: turn, Response: 1, Text: text}.WithCall(core.ToolCall{ID: id, Name: name, Arguments: "{}"})
	}
	if !rec.KeepUnknown(at(1, "a", "Read", "")) || rec.KeepUnknown(at(1, "a", "Read", "")) || len(rec.Unknown) != 1 {
		t.Errorf("a call that is answered twice is kept as %+v", rec.Unknown)
	}
	if rec.KeepUnknown(at(1, "a", "Read", "d1")); len(rec.Unknown) != 1 || rec.Unknown[0].Text != "d1" {
		t.Errorf("the later answer is not kept: %+v", rec.Unknown)
	}
	before := rec.Clone()
	for i := range 100 {
		rec.KeepUnknown(at(2, fmt.Sprint(i), strings.Repeat("long\x00", 2000), ""))
	}
	if len(before.Unknown) != 1 {
		t.Error("the clone has changed")
	}
	data, err := Encode(rec)
	if err != nil || len(rec.Unknown) != 32 || len(data) > 8<<10 {
		t.Errorf("%d calls take %d bytes, %v", len(rec.Unknown), len(data), err)
	}
	again, err := Decode(rec.Key, rec.Version, data)
	if err != nil || again.FindUnknown(at(2, "99", strings.Repeat("long\x00", 2000), "")) == nil {
		t.Errorf("the call is not found again, %v", err)
	}
	if rec.Turn = 2; !rec.KeepUnknown(at(1, "z", "Grep", "")) {
		t.Error("not kept")
	}
	rec.KeepBeginning(rec.Clone())
	if rec.BeginAgain(); len(rec.Unknown) != 1 || rec.Unknown[0].Tool != "Grep" {
		t.Errorf("a turn that begins again keeps %+v", rec.Unknown)
	}
}

// The call that is most alike is found: of equal ids and arguments the one of the turn.
func TestFindUnknown(t *testing.T) {
	rec := &Record{}
	of := func(turn, response, position int, id, text string) UnknownCall {
		return UnknownCall{Turn: turn, Response: response, Position: position, Text: text}.WithCall(core.ToolCall{ID: id, Name: "ghost"})
	}
	for _, c := range []UnknownCall{of(1, 1, 0, "call_0", "a"), of(1, 2, 0, "call_0", "b"), of(2, 1, 0, "call_0", "c"), of(2, 1, 1, "call_1", "d")} {
		rec.KeepUnknown(c)
	}
	for _, tt := range []struct {
		c    UnknownCall
		want string
	}{
		{of(1, 1, 0, "call_0", ""), "a"}, {of(1, 2, 0, "call_0", ""), "b"}, {of(2, 1, 0, "call_0", ""), "c"}, {of(2, 1, 1, "call_1", ""), "d"},
		{of(7, 1, 1, "call_1", ""), "d"}, {of(2, 1, 0, "other", ""), "c"},
	} {
		if got := rec.FindUnknown(tt.c); got == nil || got.Text != tt.want {
			t.Errorf("%+v: got %+v, want %s", tt.c, got, tt.want)
		}
	}
	for _, c := range []UnknownCall{of(3, 1, 0, "other", ""), of(1, 3, 0, "other", ""), of(1, 1, 5, "other", "")} {
		if got := rec.FindUnknown(c); got != nil {
			t.Errorf("%+v: the answer of another call is found: %+v", c, got)
		}
	}
	if got := rec.FindUnknown(UnknownCall{}.WithCall(core.ToolCall{Name: "Ghost"})); got != nil {
		t.Errorf("another name is found: %+v", got)
	}
}

// A record of before has none.
func TestRecordWithoutUnknownCalls(t *testing.T) {
	var rec Record
	if err := json.Unmarshal([]byte(`{"version":3,"turn":2}`), &rec); err != nil || rec.FindUnknown(UnknownCall{}) != nil {
		t.Errorf("got %+v, %v", rec.Unknown, err)
	}
	if text, err := json.Marshal(&rec); err != nil || strings.Contains(string(text), "unknown") {
		t.Errorf("got %s, %v", text, err)
	}
}
