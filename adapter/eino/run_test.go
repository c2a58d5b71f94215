package eino

import (
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

func TestAddress(t *testing.T) {
	type state struct{ n int }
	one, other := &state{}, &state{}
	var none *state
	for _, tc := range []struct {
		name  string
		state any
		has   bool
	}{
		{"pointer", one, true},
		{"nil pointer", none, false},
		{"nothing", nil, false},
		{"value", state{}, false},
		{"map", map[string]int{}, false},
		{"pointer to an empty struct", &struct{}{}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := address(tc.state) != nil; got != tc.has {
				t.Errorf("address is known: %t, want %t", got, tc.has)
			}
		})
	}
	if address(one) == address(other) || address(one) != address(one) {
		t.Error("addresses do not tell states apart")
	}
}

var packageState struct{ n int }

// A state that is never collected is as good as any.
func TestStateThatOutlivesItsRuns(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("test", fstest.MapFS{}))
	if err != nil {
		t.Fatal(err)
	}
	r := newRuns(rt, "agent")
	first, _ := r.anonymousKey(address(&packageState))
	if again, _ := r.anonymousKey(address(&packageState)); again != first {
		t.Errorf("the state has the keys %v and %v", first, again)
	}
}

// Above the limit, the run that was idle longest is removed, and only that run gets a new
// session afterwards.
func TestRunsAreBounded(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("test", fstest.MapFS{}))
	if err != nil {
		t.Fatal(err)
	}
	r := newRuns(rt, "agent")
	type state struct{ n int }
	states := make([]*state, maxRuns+1)
	for i := range states {
		states[i] = &state{i}
	}
	key := func(i int) core.SessionKey {
		k, _ := r.anonymousKey(address(states[i]))
		return k
	}
	first, second := key(0), key(1)
	if first == second || first.Agent != "agent" {
		t.Fatalf("keys are %v and %v, want two of the agent", first, second)
	}
	for i := range maxRuns {
		key(i)
	}
	if key(0) != first { // this makes the second run the one that was idle longest
		t.Error("a known run got another session")
	}
	_, evicted := r.anonymousKey(address(states[maxRuns]))
	if evicted != second {
		t.Errorf("session %+v made room, want %q", evicted, second.Session)
	}
	if key(0) != first {
		t.Error("a run that was not evicted got another session")
	}
	if key(1) == second {
		t.Error("an evicted run has its ended session still")
	}
	if n := r.live.Len(); n != maxRuns {
		t.Errorf("%d runs are remembered, want %d", n, maxRuns)
	}
	runtime.KeepAlive(states)
}
