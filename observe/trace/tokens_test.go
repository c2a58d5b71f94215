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
	_, err := counter.message(&core.Message{Role: core.User, Text: strings.Repeat("one two ", maxUnchecked)}, nil)
	if !errors.Is(err, errEnd) {
		t.Errorf("counting ends with %v, want %v", err, errEnd)
	}
	if m, err := counter.message(&core.Message{Role: core.User, Text: "short"}, nil); err != nil || m.size == 0 {
		t.Errorf("a short text has %d tokens, %v", m.size, err)
	}
}
