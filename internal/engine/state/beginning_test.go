package state_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// BeginAgain restores the state at the beginning of the turn after any change and any save.
func TestBeginAgain(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		records, key := state.NewRecords(session.NewMemory()), core.SessionKey{Session: "s"}
		rec := &state.Record{Key: key, TurnState: state.TurnState{Turn: 1}}
		for range r.IntN(8) {
			rec = changed(r, rec)
		}
		for i := range rec.Deliveries {
			rec.Deliveries[i].Ended = r.IntN(3) > 0
		}
		if rec.Turn, rec.Before = 1+int(seed%2), nil; rec.Turn == 1 && rec.Calls > 0 {
			rec.NoteBeginning()
		}
		rec = decoded(t, rec)
		began := rec
		for range 1 + r.IntN(8) {
			saved, err := records.Update(t.Context(), key, func(now *state.Record) (*state.Record, error) {
				next := changed(r, rec)
				next.Version = now.Version
				return next, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			rec = decoded(t, saved)
		}
		pinned := map[string]bool{}
		for _, digest := range rec.Pins() {
			pinned[digest] = true
		}
		for _, digest := range began.Pins() {
			if !pinned[digest] {
				t.Errorf("seed %d: a text of the beginning is not pinned", seed)
			}
		}
		again := rec.Clone()
		if !again.BeginAgain() {
			t.Fatalf("seed %d: nothing to take back", seed)
		}
		again.Version = began.Version
		if !reflect.DeepEqual(decoded(t, again), began) {
			t.Fatalf("seed %d: it began with\n%+v\nand begins again with\n%+v", seed, began, again)
		}
		if again.BeginAgain(); !reflect.DeepEqual(decoded(t, again), began) {
			t.Errorf("seed %d: it begins again twice", seed)
		}
	}
}

// changed is rec after a call.
func changed(r *rand.Rand, rec *state.Record) *state.Record {
	next := rec.Clone()
	skill := fmt.Sprint("s", r.IntN(4))
	next.Calls++
	switch r.IntN(6) {
	case 0:
		next.Unload(skill)
	case 1:
		if next.Find(skill) != nil {
			next.Select(next.Calls, skill, []string{"d.md"}, false, []state.Doc{{Name: "d.md", Digest: session.Digest(fmt.Sprint("d", r.IntN(2)))}}, inView)
		}
	case 2:
		next.Break()
	case 3:
		for i := range next.Deliveries {
			next.Deliveries[i].Spent = true
		}
	default:
		next.KeepList(skill, next.Calls, [][]string{nil, {"Read"}, {"Bash"}}[r.IntN(3)], false)
		next.Load(state.Load{
			Call: next.Calls, Skill: skill, Digest: session.Digest(fmt.Sprint(skill, r.IntN(2))),
			Docs: []state.Doc{{Name: "e.md", Digest: session.Digest("e")}}[:r.IntN(2)],
		}, inView)
	}
	next.KeepBeginning(rec)
	return next
}

func inView(d *state.Delivery) bool { return !d.Old && !d.Spent }

// decoded is rec as a store returns it.
func decoded(t *testing.T, rec *state.Record) *state.Record {
	t.Helper()
	data, err := state.Encode(rec)
	if err != nil {
		t.Fatal(err)
	}
	rec, err = state.Decode(rec.Key, rec.Version, data)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// The calls of commands that were begun stay, without their numbers, and those of the
// session's other changes do not.
func TestBeginAgainKeepsCommands(t *testing.T) {
	load := state.Pending{Call: 1, From: core.ToolCall{ID: "a"}, Done: true}
	run := state.Pending{Call: 2, From: core.ToolCall{ID: "b"}, Runs: true, Begun: true, Text: session.Digest("x")}
	rec := &state.Record{TurnState: state.TurnState{Turn: 1, Calls: 2, Terminals: 3, Pending: []state.Pending{load, run}}}
	rec.KeepBeginning(&state.Record{TurnState: state.TurnState{Turn: 1}})
	if !rec.BeginAgain() {
		t.Fatal("nothing to take back")
	}
	run.Call = 0
	if want := (&state.Record{TurnState: state.TurnState{Turn: 1, Terminals: 3, OnceCalls: []state.Pending{run}}}); !reflect.DeepEqual(rec, want) {
		t.Errorf("%+v, want %+v", rec, want)
	}
	if pins := rec.Pins(); len(pins) != 1 {
		t.Errorf("pins %q", pins)
	}
	for range 100 {
		rec.Pending = []state.Pending{run}
		rec.KeepOnceCalls()
	}
	if len(rec.OnceCalls) != 64 {
		t.Errorf("%d commands are remembered", len(rec.OnceCalls))
	}
}
