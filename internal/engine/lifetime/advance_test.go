package lifetime

import (
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
)

// loaded is a record of turn 3 with two skills, an unexecuted call and a note.
func loaded() *state.Record {
	r := &state.Record{
		TurnState: state.TurnState{
			Turn:    3,
			Token:   "t3",
			Calls:   2,
			User:    state.Mark{Hash: "u3", Ordinal: 2, Turn: 3},
			Pending: []state.Pending{{Call: 2, From: core.ToolCall{Name: "skill_load"}}},
		},
		NoteState: state.NoteState{
			Overview: "o",
			Listing:  "l",
			Notes:    []state.Note{{Text: "note"}},
		},
	}
	for i, name := range []string{"pdf", "docx"} {
		r.Activate(name, "d-"+name).Docs = []string{"a.md"}
		r.Deliver(state.Delivery{Call: i + 1, Turn: 3, Skill: name, Digest: "d-" + name, Body: true,
			Docs: []state.Doc{{Name: "a.md", Digest: "a"}}})
	}
	return r
}

func TestAdvance(t *testing.T) {
	for _, tt := range []struct {
		mode  loadmode.Mode
		stays bool
	}{{loadmode.Turn, false}, {loadmode.Once, false}, {loadmode.Adaptive, false}, {loadmode.Session, true}} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			r, before := loaded(), loaded()
			Advance(r, tt.mode, "t4", state.Mark{Hash: "u4", Ordinal: 3, Turn: 99})
			if r.Turn != 4 || r.Token != "t4" {
				t.Errorf("turn %d with token %q", r.Turn, r.Token)
			}
			if want := (state.Mark{Hash: "u4", Ordinal: 3, Turn: 4}); r.User != want {
				t.Errorf("user %+v, want %+v: the turn of a mark is the one that it began", r.User, want)
			}
			if r.Pending != nil {
				t.Error("a call that was never executed outlives its turn")
			}
			var active []state.Active
			var deliveries []state.Delivery
			if tt.stays {
				active, deliveries = before.Active, before.Deliveries
			}
			if !reflect.DeepEqual(r.Active, active) || !reflect.DeepEqual(r.Deliveries, deliveries) {
				t.Errorf("loaded %+v with %+v", r.Active, r.Deliveries)
			}
			if r.Calls != 2 || r.Uses != before.Uses || r.Overview != "o" || r.Listing != "l" || len(r.Notes) != 1 {
				t.Errorf("what belongs to the session has changed: %+v", r)
			}
		})
	}
}

// A load that has ended leaves nothing behind: no tombstone that grows, and
// nothing that could be taken for loaded.
func TestEndedLoadsLeaveNoTrace(t *testing.T) {
	r := &state.Record{}
	for range 100 {
		Advance(r, loadmode.Turn, "", state.Mark{})
		r.Activate("pdf", "d")
		r.Deliver(state.Delivery{Call: 1, Skill: "pdf", Body: true})
	}
	if len(r.Active) != 1 || len(r.Deliveries) != 1 {
		t.Errorf("after 100 turns: %d loaded, %d deliveries", len(r.Active), len(r.Deliveries))
	}
	if Advance(r, loadmode.Turn, "", state.Mark{}); r.Find("pdf") != nil {
		t.Error("pdf is still loaded")
	}
}

func TestShows(t *testing.T) {
	for _, tt := range []struct {
		mode                  loadmode.Mode
		open, answered, spent bool
	}{
		{loadmode.Turn, true, true, true},
		{loadmode.Session, true, true, true},
		{loadmode.Adaptive, true, true, true},
		{loadmode.Once, true, false, false},
	} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			if d := (&state.Delivery{}); Shows(tt.mode, d, false) != tt.open || Shows(tt.mode, d, true) != tt.answered {
				t.Error("at its message")
			}
			if !Shows(tt.mode, &state.Delivery{IsTask: true}, true) {
				t.Error("a task leaves")
			}
			if !ShowsInFallback(tt.mode, &state.Delivery{}) || ShowsInFallback(tt.mode, &state.Delivery{Spent: true}) != tt.spent {
				t.Error("elsewhere")
			}
		})
	}
}

func TestSpend(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Turn, loadmode.Session, loadmode.Adaptive} {
		t.Run(mode.String(), func(t *testing.T) {
			r := loaded()
			if Spend(r, mode) || !reflect.DeepEqual(r, loaded()) {
				t.Error("changes the record")
			}
		})
	}
	t.Run("once", func(t *testing.T) {
		r := loaded()
		if !Spend(r, loadmode.Once) || !r.Deliveries[0].Spent || !r.Deliveries[1].Spent {
			t.Fatalf("not spent: %+v", r.Deliveries)
		}
		if Spend(r, loadmode.Once) {
			t.Error("a second answer changes it again")
		}
		r.Deliver(state.Delivery{Call: 3, Skill: "csv", Body: true})
		if !Spend(r, loadmode.Once) || !r.Deliveries[2].Spent {
			t.Error("a later delivery is not spent")
		}
		if Spend(&state.Record{}, loadmode.Once) {
			t.Error("changes a record without deliveries")
		}
	})
	t.Run("a skill that was shown once may still run", func(t *testing.T) {
		r := loaded()
		Spend(r, loadmode.Once)
		if r.Find("pdf") == nil || r.Find("docx") == nil {
			t.Error("not loaded before the turn has ended")
		}
	})
}
