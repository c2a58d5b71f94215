// Package textedit applies the diffs and edits of models to texts. Such changes are often nearly
// right. The package finds the place that the model meant without guessing. It applies a whole
// change or nothing, and says exactly what it did, or why it did nothing. It does no I/O, and takes
// time linear in the sizes of its inputs.
package textedit

import (
	"fmt"
	"strings"
)

// text is a text in lines. Its last line has a line end even if the file has none. Then
// lacksLineEnd is set, and put removes the last line end of the result.
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

// newText splits s into lines. No change may touch a line that begins within the first front
// bytes.
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

// at returns the offset at which line i begins. For the line after the last it returns the length
// of the text.
func (t *text) at(i int) int {
	if i >= len(t.lines) {
		return len(t.raw)
	}
	return t.lines[i].start
}

// splice replaces one piece of a text. Error texts use the index of the edit or hunk that it comes
// from.
type splice struct {
	start, end int
	with       string
	item       int
}

// room returns how many bytes the result may still grow. A final line end that put removes does
// not count.
func (t *text) room() int { return t.limit + len(t.ending) - t.added }

func (t *text) tooLarge() *Failure {
	return failf(TooLarge, "the text would have more than %d bytes", t.limit)
}

// count adds the size of a piece before it is built: bytes start to end of the text become size
// bytes. It fails if the pieces alone exceed the limit.
func (t *text) count(start, end, size int) error {
	if size > t.room() {
		return t.tooLarge()
	}
	t.added, t.removed = t.added+size, t.removed+end-start
	return nil
}

// overlaps reports whether the splices remove more bytes than the text has.
func (t *text) overlaps() bool { return t.removed > len(t.raw) }

// put returns the text with the splices, which are sorted and do not overlap. If unended is true,
// the result has no final line end. If literal is true, the line ends in the splices are not
// converted. put fails before it builds a result that exceeds the limit.
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

// inEnding returns s with the line ends of the text.
func (t *text) inEnding(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if t.ending != "\n" {
		s = strings.ReplaceAll(s, "\n", t.ending)
	}
	return s
}

// checkLine returns an error if a change may not touch line n, counted from 1. what names the
// change.
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

// splitLines returns the lines of s without their line ends. No empty line follows a final line
// end.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// Code is the kind of a [Failure].
type Code string

// The kinds of failures.
const (
	Invalid   Code = "invalid"    // it cannot be read, or does not fit together
	NoMatch   Code = "no_match"   // the text that it names is not there
	NotUnique Code = "not_unique" // the text that it names is there several times
	TooLarge  Code = "too_large"  // the result would exceed the limit
)

// Failure says why nothing was changed. Its text is for the model.
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
	// Warnings say which places matched without being equal, and which edits changed nothing.
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

// warning returns how a warning describes a match at the level, "" for an equal one.
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

// lineRange returns the text for lines from to to, which count from 0. The text counts from 1.
func lineRange(from, to int) string {
	if from == to {
		return fmt.Sprintf("line %d", from+1)
	}
	return fmt.Sprintf("lines %d-%d", from+1, to+1)
}

// addWarning adds the warning about a match at a level, if it needs one.
func (r *Result) addWarning(what string, l level, from, to int) {
	if said := l.warning(); said != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s matched at %s %s", what, lineRange(from, to), said))
	}
}
