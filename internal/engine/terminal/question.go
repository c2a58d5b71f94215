package terminal

import (
	"regexp"
	"strings"
)

// Kind is what a process seems to wait for.
type Kind string

// The kinds of questions. Only a Guess reports Selection and Password.
const (
	Prompt    Kind = "prompt"    // a line of text, or a key
	Selection Kind = "selection" // one of several things that it lists
	Password  Kind = "password"  // something that it does not show
)

// Question is what a process seems to ask for. It is a guess, because the system does not report
// whether a process reads.
type Question struct {
	Kind Kind
	// Hint says in a few words what to send.
	Hint string
}

// Guess looks for a question in the text that a process has written since its last input. text is
// at most the last 4 KiB, without control sequences. Guess is called when the process has written
// nothing for a moment, and returns nil if it finds no question. It must be quick and safe for
// concurrent use.
type Guess func(text string) *Question

var (
	escapes = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\a\x1b]*(?:\a|\x1b\\\\)|[@-Z\\\\^_=>])")
	// promptEnd matches the end of a line that waits for input: a question mark, a colon, or the
	// prompt of a shell, interpreter or debugger. It matches neither words nor the ends of
	// progress reports.
	promptEnd = regexp.MustCompile(`[?:>$\])？：]$|(?:^|[^#])#$`)
)

// unfinishedPrompt returns a question if the last line is unfinished and ends like a prompt.
func unfinishedPrompt(text string) *Question {
	line := visibleEnd(text[strings.LastIndexByte(text, '\n')+1:])
	if len(line) > maxLine || !promptEnd.MatchString(line) {
		return nil
	}
	return &Question{Prompt, "a line of text"}
}

// visibleEnd returns the visible end of a line, without parts that were overwritten after "\r".
func visibleEnd(line string) string {
	line = strings.TrimRight(line, "\r")
	return strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:])
}

// question returns what the process asks for: the result of the host's guess, or else of
// unfinishedPrompt. The caller holds o.mu.
func (o *output) question() *Question {
	if o.endOffset() <= o.answeredUpTo {
		return nil
	}
	since := max(0, len(o.text)-maxTail, int(o.answeredUpTo-o.start))
	text := escapes.ReplaceAllString(string(o.text[since:])+o.clean.pending(), "")
	if o.guess != nil {
		if q := o.guess(text); q != nil {
			return q
		}
	}
	return unfinishedPrompt(text)
}
