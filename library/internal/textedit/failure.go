// Package textedit changes texts by what a model writes: diffs and edits that are
// often nearly right. It finds the place that was meant without guessing, applies all
// of a change or nothing, and says in exact words what it did or why it did nothing.
// All of it is pure, and takes time linear in the sizes of its inputs.
package textedit

import "fmt"

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

// said is what a warning says of a level, "" where there is nothing to say.
func (l level) said() string {
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

// matched is the warning of a match at a level, none for an equal one.
func (r *Result) matched(what string, l level, from, to int) {
	if said := l.said(); said != "" {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s matched at %s %s", what, lineRange(from, to), said))
	}
}
