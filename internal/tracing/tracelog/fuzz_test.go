package tracelog

import (
	"errors"
	"strings"
	"testing"
)

// FuzzRead checks that any file is read without a panic, and that what is read is whole: each call
// has a name of its own and all its messages.
func FuzzRead(f *testing.F) {
	text := contents(f, whole)
	first, second := twoParts()
	for _, seed := range []string{"", text, text[:len(text)/2], first + second, second + first + first, "{\"v\":2,\"event\":\"x\"}", strings.ReplaceAll(text, `"call":`, `"call":1`)} {
		f.Add(seed, "")
		f.Add(seed, first)
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		trace, err := readTexts(one, two)
		if err != nil {
			if !errors.Is(err, ErrNoLines) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		checkTrace(t, trace)
	})
}

func checkTrace(t *testing.T, trace *Trace) {
	t.Helper()
	names := make(map[string]bool)
	for turn := range trace.Turns() {
		if turn.Agent.Parent != nil {
			t.Errorf("turn %d is of the fork %s", turn.Number, turn.Agent.Label)
		}
		for _, c := range turn.Calls {
			if names[c.Name()] {
				t.Errorf("two calls have the name %s", c.Name())
			}
			names[c.Name()] = true
			checkMessages(t, c)
		}
	}
	calls := 0
	for _, s := range trace.Sessions {
		for _, a := range s.Agents {
			calls += len(a.Calls)
		}
	}
	if calls != len(names) {
		t.Errorf("agents have %d calls, turns have %d", calls, len(names))
	}
}

// checkMessages checks that the first Keep messages of a call are those of the one before.
func checkMessages(t *testing.T, c *Call) {
	t.Helper()
	all := c.Messages()
	if len(all) != c.Len() {
		t.Errorf("%s has %d messages, want %d", c.Name(), len(all), c.Len())
	}
	var before []*Message
	if c.Previous() != nil {
		before = c.Previous().Messages()
	}
	if c.Keep > len(before) {
		t.Fatalf("%s has %d messages of %d before", c.Name(), c.Keep, len(before))
	}
	for i, m := range all {
		if m == nil {
			t.Errorf("%s has no message %d", c.Name(), i)
		}
		if i < c.Keep && m != before[i] {
			t.Errorf("message %d of %s is not that of the call before", i, c.Name())
		}
	}
}
