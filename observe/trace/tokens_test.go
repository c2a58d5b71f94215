package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// When the time to count is over, the error says so.
func TestCountingEnds(t *testing.T) {
	counter := newTokenizer(func() bool { return true })
	_, err := counter.message(&core.Message{Role: core.User, Text: strings.Repeat("one two ", maxUnchecked)}, nil, false)
	if !errors.Is(err, errEnd) {
		t.Errorf("counting ends with %v, want %v", err, errEnd)
	}
	if m, err := counter.message(&core.Message{Role: core.User, Text: "short"}, nil, false); err != nil || m.size == 0 {
		t.Errorf("a short text has %d tokens, %v", m.size, err)
	}
}

// A message that was counted without its tokens' lengths gets them when parts of it are counted.
func TestLengthsWhenDivided(t *testing.T) {
	counter := newTokenizer(func() bool { return false })
	m := &core.Message{Role: core.User, Text: "one two three"}
	for _, isDivided := range []bool{false, true, false} {
		got, err := counter.message(m, nil, isDivided)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range got.lengths {
			sum += int(n)
		}
		if isDivided && sum != len(m.Text) {
			t.Errorf("the tokens have %d bytes, want %d", sum, len(m.Text))
		}
	}
}
