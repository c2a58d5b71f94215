package state_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// clock is a fake clock. Each waiting call uses it once, and continues when the test ticks.
type clock struct {
	asked chan struct{}
	ticks chan time.Time
}

func newClock() *clock { return &clock{make(chan struct{}, 16), make(chan time.Time)} }

func (c *clock) after(time.Duration) <-chan time.Time {
	c.asked <- struct{}{}
	return c.ticks
}

func call(id, name, arguments string) core.ToolCall {
	return core.ToolCall{ID: id, Name: name, Arguments: arguments}
}

// made marks calls of load as changes and calls of run as ordered.
func made(calls ...core.ToolCall) []state.ModelCall {
	var all []state.ModelCall
	for _, c := range calls {
		all = append(all, state.ModelCall{Call: c, Changes: c.Name == "load", Ordered: c.Name == "run"})
	}
	return all
}

// A call is matched to its place by its content, even if a framework has changed it. Each place
// is used once while unused ones are left.
func TestOpen(t *testing.T) {
	for _, tt := range []struct {
		name  string
		made  []core.ToolCall
		opens []core.ToolCall
		want  []int // indexes in made, -1 for none
	}{
		{"as made", []core.ToolCall{call("1", "load", "a"), call("2", "search", "b")}, []core.ToolCall{call("2", "search", "b"), call("1", "load", "a")}, []int{1, 0}},
		{"twins", []core.ToolCall{call("", "search", "a"), call("", "search", "a")}, []core.ToolCall{call("", "search", "a"), call("", "search", "a"), call("", "search", "a")}, []int{0, 1, 1}},
		{"twin loads again", []core.ToolCall{call("", "load", "a"), call("", "load", "a")}, []core.ToolCall{call("", "load", "a"), call("", "load", "a"), call("", "load", "a")}, []int{0, 1, 0}},
		{"id lost", []core.ToolCall{call("1", "search", "a"), call("2", "search", "b")}, []core.ToolCall{call("", "search", "b")}, []int{1}},
		{"arguments changed", []core.ToolCall{call("1", "search", "a"), call("2", "search", "b")}, []core.ToolCall{call("2", "search", "x"), call("2", "search", "x")}, []int{1, 1}},
		{"other capitals", []core.ToolCall{call("1", "Search", "a")}, []core.ToolCall{call("1", "search", "a")}, []int{0}},
		{"changed again", []core.ToolCall{call("1", "search", "a")}, []core.ToolCall{call("1", "search", "a"), call("1", "search", "y")}, []int{0, 0}},
		{"never made", []core.ToolCall{call("1", "search", "a")}, []core.ToolCall{call("2", "search", "a"), call("1", "other", "a")}, []int{-1, -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := made(tt.made...)
			for i := range m {
				m[i].Number = i + 1
			}
			r := state.NewResponse(m, nil)
			for i, c := range tt.opens {
				if got := r.Open(c).Number() - 1; got != tt.want[i] {
					t.Errorf("call %d is at place %d, want %d", i, got, tt.want[i])
				}
			}
		})
	}
	if p := (*state.Response)(nil).Open(call("1", "load", "")); p != nil {
		t.Error("no response has a place")
	}
}

// A call waits for earlier changes, and an ordered call also for earlier ordered calls.
func TestWait(t *testing.T) {
	clock := newClock()
	r := state.NewResponse(made(call("1", "load", ""), call("2", "search", ""), call("3", "run", ""), call("4", "run", "")), clock.after)
	load, search, first, second := r.Open(call("1", "load", "")), r.Open(call("2", "search", "")), r.Open(call("3", "run", "")), r.Open(call("4", "run", ""))
	if load.MustWait() || !search.MustWait() || !second.MustWait() {
		t.Error("calls wait for the wrong ones")
	}
	done := make(chan string, 3)
	wait := func(name string, wait func(context.Context) (bool, error)) {
		go func() {
			missed, err := wait(t.Context())
			if missed || err != nil {
				t.Errorf("%s: missed %v, %v", name, missed, err)
			}
			done <- name
		}()
		<-clock.asked
	}
	wait("search", search.WaitForChanges)
	wait("second", second.Wait)
	clock.ticks <- time.Time{} // the load is still open, so the waiters go on waiting for its end
	<-clock.asked
	select {
	case name := <-done:
		t.Fatalf("%s did not wait for the load", name)
	default:
	}
	load.Begin()
	load.End()
	if got := <-done; got != "search" {
		t.Fatalf("%s went on before the first run ended", got)
	}
	<-clock.asked
	first.End()
	<-done
}

// No wait lasts for ever: not for a call that is never opened, not for one that another
// response has replaced, and not under a context that ends.
func TestMissed(t *testing.T) {
	clock := newClock()
	calls := []core.ToolCall{call("1", "load", ""), call("2", "search", "")}
	r := state.NewResponse(made(calls...), clock.after)
	search, missed := r.Open(calls[1]), make(chan bool)
	wait := func() {
		m, err := search.WaitForChanges(t.Context())
		if err != nil {
			t.Error(err)
		}
		missed <- m
	}
	go wait()
	<-clock.asked
	clock.ticks <- time.Time{}
	if !<-missed {
		t.Error("a load that nobody opened is not missed")
	}
	r.Open(calls[0])
	go wait()
	<-clock.asked
	r.Drop()
	if !<-missed {
		t.Error("a load that was dropped is not missed")
	}
	r = state.NewResponse(made(calls...), clock.after)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Open(calls[1]).WaitForChanges(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// What later calls did has not happened at an earlier place.
func TestSees(t *testing.T) {
	calls := made(call("1", "search", ""), call("2", "load", ""), call("3", "search", ""))
	calls[1].Number = 7
	after := &state.Record{Version: 2, LoadState: state.LoadState{Active: []state.Active{{Skill: "old", Call: 3}, {Skill: "new", Call: 7}}}}
	r := state.NewResponse(calls, nil)
	names := func(rec *state.Record) (names []string) {
		for _, a := range rec.Active {
			names = append(names, a.Skill)
		}
		return names
	}
	first, load, last := r.Open(calls[0].Call), r.Open(calls[1].Call), r.Open(calls[2].Call)
	if got := names(first.RecordFor(after)); !slices.Equal(got, []string{"old"}) {
		t.Errorf("the first call sees %v", got)
	}
	if got := names(last.RecordFor(after)); !slices.Equal(got, []string{"old", "new"}) {
		t.Errorf("the last call sees %v", got)
	}
	load.SetBase(&state.Record{Version: 1, LoadState: state.LoadState{Active: []state.Active{{Skill: "evicted", Call: 1}}}})
	if got := names(first.RecordFor(after)); !slices.Equal(got, []string{"evicted"}) {
		t.Errorf("the first call sees %v of what the load evicted", got)
	}
}

// A record holds the numbers and places of a response, so that another process
// finds them again.
func TestRecall(t *testing.T) {
	calls := made(call("1", "search", ""), call("2", "load", "a"), call("3", "search", ""), call("4", "load", "b"))
	rec := &state.Record{TurnState: state.TurnState{Calls: 4}}
	if !state.RecordCalls(rec, calls, false) || rec.Calls != 6 || calls[1].Number != 5 || calls[3].Number != 6 {
		t.Fatalf("entered as %+v in %+v", calls, rec)
	}
	again := slices.Clone(calls)
	again[1].Number, again[3].Number = 0, 0
	if state.RecordCalls(rec, again, false) || again[1].Number != 5 || again[3].Number != 6 {
		t.Errorf("entered once more as %+v", again)
	}
	rec.Pending[0].Done = true
	r := state.RecallResponse(rec, newClock().after)
	if r.Observed() || !state.NewResponse(calls, nil).Observed() {
		t.Error("a response that was recalled was observed")
	}
	var ids []string
	for _, c := range r.Calls() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"1", "2", "3", "4"}) {
		t.Errorf("recalled %v", ids)
	}
	if missed, err := r.Open(call("3", "search", "")).WaitForChanges(t.Context()); missed || err != nil {
		t.Errorf("a load that was answered is missed: %v, %v", missed, err)
	}
	if state.RecallResponse(&state.Record{}, nil) != nil {
		t.Error("a response is recalled from an empty record")
	}
}

// Only a response whose single call cannot be taken for another may wait until
// the call is executed.
func TestCanWait(t *testing.T) {
	load := call("1", "load", "a")
	for _, tt := range []struct {
		name string
		rec  state.Record
		made []state.ModelCall
		want bool
	}{
		{"one load", state.Record{}, made(load), true},
		{"after another", state.Record{TurnState: state.TurnState{Pending: []state.Pending{{Call: 1, From: call("0", "load", "a"), Done: true}}}}, made(load), true},
		{"two calls", state.Record{}, made(load, call("2", "search", "")), false},
		{"no load", state.Record{}, made(call("2", "search", "")), false},
		{"no id", state.Record{}, made(call("", "load", "a")), false},
		{"the same was answered", state.Record{TurnState: state.TurnState{Pending: []state.Pending{{Call: 1, From: load, Done: true}}}}, made(load), false},
	} {
		if got := state.CanRecordLater(&tt.rec, tt.made); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A call that changes nothing more lets those go on that wait for its changes, though
// it has not ended; those that wait for its end wait on.
func TestSettle(t *testing.T) {
	again, run, search := call("1", "run", "a"), call("2", "run", "b"), call("3", "search", "c")
	r := state.NewResponse([]state.ModelCall{{Call: again, Changes: true, Ordered: true}, {Call: run, Ordered: true}, {Call: search}}, newClock().after)
	first, second, third := r.Open(again), r.Open(run), r.Open(search)
	first.Begin()
	first.Settle()
	first.Settle() // a second Settle changes nothing
	for _, p := range []*state.Place{second, third} {
		if missed, err := p.WaitForChanges(t.Context()); missed || err != nil {
			t.Errorf("after Settle a call waits for changes: missed %v, %v", missed, err)
		}
	}
	if missed, err := third.Wait(t.Context()); missed || err != nil {
		t.Errorf("a call without an order waits: missed %v, %v", missed, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := second.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("after Settle a call does not wait for the end: %v", err)
	}
	first.End()
	if missed, err := second.Wait(t.Context()); missed || err != nil {
		t.Errorf("after the end a call waits: missed %v, %v", missed, err)
	}
	var none *state.Place
	none.Settle()
}
