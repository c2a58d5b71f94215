package chat

import (
	"strings"
	"testing"
)

// TestAnswerCannotSteerTheTerminal: a person's terminal gets no control
// sequences from the model, nor what turns the order of a line round; a program gets the text as it is.
func TestAnswerCannotSteerTheTerminal(t *testing.T) {
	const text = "a\x1b]0;title\x07\tb\u009b2J\nc \u202etxt.exe\u2066 \u05d0\u200e"
	for watched, want := range map[bool]string{true: "a\uFFFD]0;title\uFFFD\tb\uFFFD2J\nc \uFFFDtxt.exe\uFFFD \u05d0\u200e\n", false: text + "\n"} {
		var out strings.Builder
		r := &reporter{out: &out, err: &out, watched: watched}
		r.Answer(text)
		if out.String() != want {
			t.Errorf("watched %v: %q, want %q", watched, out.String(), want)
		}
	}
}
