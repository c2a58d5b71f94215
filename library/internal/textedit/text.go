// Package textedit changes texts by what a model writes: diffs and edits that are
// often nearly right. It finds the place that was meant without guessing, applies all
// of a change or nothing, and says in exact words what it did or why it did nothing.
// All of it is pure, and takes time linear in the sizes of its inputs.
package textedit

import (
	"fmt"
	"strings"
)

// text is a text in lines. Its last line has a line end even if the file has none. Then unended
// is set, and the result of an edit loses its last line end again.
type text struct {
	raw          string // with the last line end
	lacksLineEnd bool
	ending       string // the line end of most lines, for new ones
	ended        bool   // some line really has a line end
	lines        []line
	front        int // lines at the start that no change may touch

	limit          int // bytes of the result
	added, removed int // bytes that the splices so far bring and take away
}

// line is one line of a text. raw has the line end; content has neither that nor the
// carriage return before it.
type line struct {
	start, end int // of raw, in the text
	content    string
}

// newText returns s in lines. No change touches a line that begins within its first
// front bytes.
func newText(s string, front, limit int) *text {
	t := &text{raw: s, ending: "\n", limit: limit}
	crlf := strings.Count(s, "\r\n")
	all := strings.Count(s, "\n")
	if t.ended = all > 0; crlf > all-crlf {
		t.ending = "\r\n"
	}
	if s != "" && !strings.HasSuffix(s, "\n") {
		t.lacksLineEnd = true
		t.raw += t.ending
	}
	t.lines = make([]line, 0, all+1)
	for pos := 0; pos < len(t.raw); {
		end := pos + strings.IndexByte(t.raw[pos:], '\n') + 1
		l := line{start: pos, end: end, content: strings.TrimSuffix(t.raw[pos:end-1], "\r")}
		if t.lacksLineEnd && end == len(t.raw) {
			l.content = t.raw[pos : len(t.raw)-len(t.ending)]
		}
		if pos < front {
			t.front++
		}
		t.lines, pos = append(t.lines, l), end
	}
	return t
}

// exact returns a line as diffs hold it: without its line feed, but with a carriage
// return that the file really has.
func (t *text) exact(i int) string {
	l := t.lines[i]
	if t.lacksLineEnd && i == len(t.lines)-1 {
		return l.content
	}
	return t.raw[l.start : l.end-1]
}

// at returns the offset at which line i begins; that of the end for the line after
// the last.
func (t *text) at(i int) int {
	if i >= len(t.lines) {
		return len(t.raw)
	}
	return t.lines[i].start
}

// splice is one piece of a text that is replaced. Which item of a change wants it,
// counted from 0, is for error texts.
type splice struct {
	start, end int
	with       string
	item       int
}

// room returns how many bytes the result may still grow by. A final line end that the
// result loses again does not count.
func (t *text) room() int { return t.limit + len(t.ending) - t.added }

func (t *text) tooLarge() *Failure {
	return failf(TooLarge, "the text would have more than %d bytes", t.limit)
}

// count notes the size of a piece before it is made: bytes start to end of the text
// become size bytes. It fails if the pieces alone exceed the limit.
func (t *text) count(start, end, size int) error {
	if size > t.room() {
		return t.tooLarge()
	}
	t.added, t.removed = t.added+size, t.removed+end-start
	return nil
}

// overlaps reports that the splices take away more than the text has.
func (t *text) overlaps() bool { return t.removed > len(t.raw) }

// put replaces the pieces, which are sorted and do not overlap. unended: the result has
// no final line end. literal: the pieces hold their line ends as they shall be. It
// fails before it builds a result that exceeds the limit.
func (t *text) put(splices []splice, unended, literal bool) (string, error) {
	size := len(t.raw) - t.removed + t.added
	if size > t.limit+len(t.ending) {
		return "", t.tooLarge()
	}
	var b strings.Builder
	b.Grow(size)
	pos := 0
	for _, s := range splices {
		b.WriteString(t.raw[pos:s.start])
		b.WriteString(s.with)
		pos = s.end
	}
	b.WriteString(t.raw[pos:])
	out := b.String()
	last := splices[len(splices)-1]
	switch {
	case out == "":
	case !unended && !strings.HasSuffix(out, "\n"):
		out += t.ending
	case !unended:
	case t.lacksLineEnd && last.end < len(t.raw): // its last line is as it was
		out = strings.TrimSuffix(out, t.ending)
	case literal && last.with != "":
		out = strings.TrimSuffix(out, "\n")
	default:
		out = strings.TrimSuffix(strings.TrimSuffix(out, "\n"), "\r")
	}
	if len(out) > t.limit {
		return "", t.tooLarge()
	}
	return out, nil
}

// inEnding writes s with the line end of the text.
func (t *text) inEnding(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if t.ending != "\n" {
		s = strings.ReplaceAll(s, "\n", t.ending)
	}
	return s
}

// checkLine fails if line n, counted from 1, is not one that a change may touch. what names
// the change.
func (t *text) checkLine(what string, n int) error {
	if n > t.front {
		return nil
	}
	return failf(Invalid, "%s: line %d is not part of the target, which begins after line %d: lines count from the start of the file", what, n, t.front)
}

// lineOf returns the number of the line that holds an offset, from 0.
func (t *text) lineOf(offset int) int {
	low, high := 0, len(t.lines)
	for low < high {
		if mid := (low + high) / 2; t.lines[mid].end <= offset {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return min(low, max(0, len(t.lines)-1))
}

// splitLines returns the lines of s without their ends. A line end at the end begins
// no further line.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// Code says what kind of failure a change met.
type Code string

// The kinds of failures.
const (
	Invalid   Code = "invalid"    // it cannot be read, or does not fit together
	NoMatch   Code = "no_match"   // the text that it names is not there
	NotUnique Code = "not_unique" // the text that it names is there several times
	TooLarge  Code = "too_large"  // the result would exceed the limit
)

// Failure is why nothing was changed. Its text is for the model.
type Failure struct {
	Code Code
	Text string
}

func (f *Failure) Error() string { return f.Text }

func failf(code Code, format string, args ...any) *Failure {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

// Result is a changed text.
type Result struct {
	Text string
	// Warnings say where something matched that was not equal, and what changed
	// nothing.
	Warnings []string
}

// level is how exactly a place was found.
type level int

const (
	atHint level = iota
	equal
	lineEnds // without white space at line ends
	folded   // quotes, dashes, ellipsis and spaces as in ASCII
	indented // with one uniform indentation taken off or added
	inner    // without the outer context lines
)

// warning is what a warning says of a level, "" where there is nothing to say.
func (l level) warning() string {
	switch l {
	case lineEnds:
		return "after ignoring white space at line ends"
	case folded:
		return "after folding punctuation"
	case indented:
		return "at another indentation"
	case inner:
		return "without its outer context"
	}
	return ""
}

// lineRange writes lines from and to, counted from 0, as a person counts them.
func lineRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from+1)
	}
	return fmt.Sprintf("lines %d-%d", from+1, to+1)
}

// addWarning is the warning of a match at a level, none for an equal one.
func (r *Result) addWarning(what string, l level, from, to int) {
	if said := l.warning(); said != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s matched at %s %s", what, lineRange(from, to), said))
	}
}
