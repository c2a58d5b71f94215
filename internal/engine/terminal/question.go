package terminal

import (
	"regexp"
	"strings"
)

// Kind says what a process seems to wait for.
type Kind string

// The kinds of questions. Only a Guess tells the last two.
const (
	Prompt    Kind = "prompt"    // a line of text, or a key
	Selection Kind = "selection" // one of several things that it lists
	Password  Kind = "password"  // something that it does not show
)

// Question is what a process seems to ask for. It is a guess: nothing tells for
// certain that a process reads.
type Question struct {
	Kind Kind
	// Hint says in a few words what to send.
	Hint string
}

// Guess looks for a question in the text that a process has written since its last input. text
// is at most its last 4 KiB, without control sequences. Guess is called when the process has
// written nothing for a moment, and returns nil if it finds no question. It must be quick and
// safe for concurrent use.
type Guess func(text string) *Question

var (
	escapes = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\a\x1b]*(?:\a|\x1b\\\\)|[@-Z\\\\^_=>])")
	// asking matches the end of a line that waits for its continuation: the mark of
	// a question, of a field, or of the prompt of a shell, interpreter or debugger.
	// Words do not count, and neither do the ends of progress reports.
	asking = regexp.MustCompile(`[?:>$\])？：]$|(?:^|[^#])#$`)
)

// unfinishedPrompt is the neutral sign of a question: the last line has no end,
// and stops where a prompt does.
func unfinishedPrompt(text string) *Question {
	line := lastShown(text[strings.LastIndexByte(text, '\n')+1:])
	if len(line) > maxLine || !asking.MatchString(line) {
		return nil
	}
	return &Question{Prompt, "a line of text"}
}

// lastShown is what a line shows at its end, after those parts that were
// written over.
func lastShown(line string) string {
	line = strings.TrimRight(line, "\r")
	return strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:])
}

// question returns what the process asks for: what the host's guess says, else
// the neutral sign. o.mu is held.
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
