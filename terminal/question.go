package terminal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Kind says what a process seems to wait for.
type Kind string

// The kinds of questions.
const (
	Prompt    Kind = "prompt"    // a line of text, or a key
	Selection Kind = "selection" // one of several things that it lists
	Password  Kind = "password"  // something that it does not show
)

// Question is what a process seems to ask for. It is a guess by the last line
// of its output: nothing tells for certain that a process reads.
type Question struct {
	Kind Kind
	// Hint says in a few words what to send.
	Hint string
}

// Bounds of what is looked at, in bytes.
const (
	maxTail = 4 << 10
	maxLine = 300
)

var (
	escapes  = regexp.MustCompile("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\a\x1b]*(?:\a|\x1b\\\\)|[@-Z\\\\^_=>])")
	password = regexp.MustCompile(`(?i)\b(?:password|passphrase|passcode|passwd)\b|密码|口令`)
	confirm  = regexp.MustCompile(`(?i)[\[(]y(?:es)?/no?\b[^\])]*[\])]\W*$`)
	key      = regexp.MustCompile(`(?i)\b(?:press|hit)\b.*\b(?:any key|enter|return|space)\b|^--More--|^\(END\)$`)
	choose   = regexp.MustCompile(`(?i)\b(?:select|choose|choice|pick|option|enter (?:a|the) number)\b|选择`)
	choice   = regexp.MustCompile(`^[\s>*❯]*[\[(]?(\d{1,3})(?:[\])]|[.:](?:\s|$))`)
	// asking is how a line ends that asks: a question, a field, the prompt of a
	// shell, an interpreter or a debugger.
	asking = regexp.MustCompile(`[?:>$？：]$|(?:^|[^#])#$|^\(\w[\w -]*\)$`)
)

// questionIn guesses by the text that was written since the last input, and by
// what came before it.
func questionIn(before, since string) *Question {
	since = escapes.ReplaceAllString(since, "")
	lines := strings.Split(since, "\n")
	line := lastShown(lines[len(lines)-1])
	open := line != ""
	if !open && len(lines) > 1 {
		line = lastShown(lines[len(lines)-2])
	}
	if line == "" || len(line) > maxLine {
		return nil
	}
	asks := open && asking.MatchString(line)
	switch first, last := choicesIn(before + since); {
	case password.MatchString(line) && (asks || asking.MatchString(line)):
		return &Question{Password, "a password; it is not shown"}
	case confirm.MatchString(line):
		return &Question{Prompt, "yes or no"}
	case key.MatchString(line):
		return &Question{Prompt, "a key"}
	case last != "" && (asks || choose.MatchString(line)):
		return &Question{Selection, fmt.Sprintf("a number from %s to %s", first, last)}
	case asks && choose.MatchString(line):
		return &Question{Selection, "a choice"}
	case asks:
		return &Question{Prompt, "a line of text"}
	}
	return nil
}

// lastShown is what a line shows at its end, after those parts that were
// written over.
func lastShown(line string) string {
	line = strings.TrimRight(line, "\r")
	return strings.TrimSpace(line[strings.LastIndexByte(line, '\r')+1:])
}

// choicesIn returns the numbers of the first and the last choice of a list that
// a text ends with, "" where there are not two. Three lines may follow the list.
func choicesIn(text string) (first, last string) {
	lines := strings.Split(escapes.ReplaceAllString(text, ""), "\n")
	after := 0
	for _, line := range slices.Backward(lines) {
		found := choice.FindStringSubmatch(line)
		switch {
		case found == nil && last != "", found == nil && after == 3:
			if first == last {
				return "", ""
			}
			return first, last
		case found == nil:
			after++
			continue
		case last == "":
			last = found[1]
		}
		first = found[1]
	}
	if first == last {
		return "", ""
	}
	return first, last
}

// question returns what the process asks for. o.mu is held.
func (o *output) question() *Question {
	if o.endOffset() <= o.answered {
		return nil
	}
	from := max(0, len(o.text)-maxTail)
	since := max(from, int(o.answered-o.start))
	return questionIn(string(o.text[from:since]), string(o.text[since:])+o.clean.pending())
}
