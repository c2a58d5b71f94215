package terminal

import (
	"errors"
	"testing"
)

// New numbers are above those used on other machines. The id of another machine gets another
// error than an id that was never used.
func TestNumbersGoOn(t *testing.T) {
	table := newTable(t, Limits{})
	_, err := table.Session(ada, "s2", 3)
	if want := "s2 has ended: the machine that ran it is gone, with its output. Start it again if it is still needed."; !errors.Is(err, ErrGone) || err.Error() != want {
		t.Errorf("s2: %v", err)
	}
	s, err := table.Open(ada, 3)
	if err != nil || s.ID() != "s4" || s.Number() != 4 {
		t.Fatalf("%v, %v", s, err)
	}
	s.Abandon()
	if s = open(t, table, ada, &scriptedExecutor{script: sleepUntilKilled}); s.ID() != "s4" {
		t.Errorf("after an abandoned one: %s", s.ID())
	}
	for id, want := range map[string]error{
		"s1": ErrGone, "s3": ErrGone, "s4": nil, "s5": ErrUnknown, "s0": ErrUnknown, "s-1": ErrUnknown,
		"s01": ErrUnknown, "s+1": ErrUnknown, "1": ErrUnknown, "": ErrUnknown, "s99999999999999999999": ErrUnknown,
	} {
		if _, err := table.Session(ada, id, 4); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
	s.Forget()
	if _, err := table.Session(ada, "s4", 4); !errors.Is(err, ErrUnknown) {
		t.Errorf("forgotten here: %v", err)
	}
}
