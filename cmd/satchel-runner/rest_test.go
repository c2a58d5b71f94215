package main

import (
	"os"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// TestRest checks that what commands leave is killed when the last of them has ended, and not before.
func TestRest(t *testing.T) {
	kills := 0
	r := &rest{kill: func() { kills++ }}
	for i, step := range []struct {
		do   func()
		want int
	}{{r.begin, 0}, {r.begin, 0}, {r.end, 0}, {r.begin, 0}, {r.end, 0}, {r.end, 1}, {r.begin, 1}, {r.end, 2}} {
		if step.do(); kills != step.want {
			t.Errorf("step %d: %d kills, want %d", i, kills, step.want)
		}
	}
	var none *rest
	none.begin()
	none.end()
}

// TestAloneFlag checks that the flag for the child of a container's first process does nothing to others: this
// process is not such a child, and must kill nothing.
func TestAloneFlag(t *testing.T) {
	s, _, done := parse([]string{aloneFlag}, nil, nil)
	if done || !s.alone {
		t.Fatalf("%+v, done %v", s, done)
	}
	s.least = string(executor.IsolationLandlock)
	e, err := s.open()
	if err != nil {
		t.Skipf("this machine has no sandbox: %v", err)
	}
	if box, ok := e.(inContainer); !ok || box.rest != nil && os.Getppid() != 1 {
		t.Errorf("%+v", e)
	}
	if strings.Contains(usage, aloneFlag) {
		t.Error("the usage has a flag that is for no one else")
	}
}
