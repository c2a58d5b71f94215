package eval

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// junitSuites is a report as JUnit XML.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitResult `xml:"failure"`
	Error   *junitResult `xml:"error"`
	Skipped *junitResult `xml:"skipped"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
}

// WriteJUnit writes the report as JUnit XML: a suite for each skill, and in it a case for each query
// or eval. A case without a trial that ran is an error, and an eval without a verdict is skipped.
func (r *Report) WriteJUnit(w io.Writer) error {
	out := junitSuites{Name: "satchel eval " + string(r.Mode)}
	at := make(map[string]int) // suites by skill
	add := func(skill string, c junitCase) {
		i, ok := at[skill]
		if !ok {
			i = len(out.Suites)
			at[skill] = i
			out.Suites = append(out.Suites, junitSuite{Name: skill})
		}
		out.Suites[i].add(c)
	}
	for i := range r.Queries {
		q := &r.Queries[i]
		add(q.Skill, q.junit())
	}
	for i := range r.Evals {
		e := &r.Evals[i]
		add(e.Skill, e.junit())
	}
	for i := range out.Suites {
		s := &out.Suites[i]
		out.Tests, out.Failures, out.Errors = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// junit returns the case of a query.
func (q *QueryResult) junit() junitCase {
	c := junitCase{Name: q.Query, Class: q.Skill}
	switch {
	case q.Trials != nil && q.Rate == nil:
		c.Error = &junitResult{fmt.Sprintf("no trial of %d ran without an error", q.Runs)}
	case q.passes():
	default:
		c.Failure = &junitResult{q.Reason()}
	}
	return c
}

// junit returns the case of an eval.
func (e *Comparison) junit() junitCase {
	c := junitCase{Name: e.ID, Class: e.Skill}
	var failed []string
	for _, a := range e.With.Assertions {
		if a.Passed != nil && *a.Passed < a.Decided {
			failed = append(failed, fmt.Sprintf("%s: %d of %d", a.Assertion, *a.Passed, a.Decided))
		}
	}
	switch {
	case e.With.Trials == 0:
		c.Error = &junitResult{"no trial ran without an error"}
	case len(failed) > 0:
		c.Failure = &junitResult{strings.Join(failed, "; ")}
	case e.With.PassRate == nil && slices.ContainsFunc(e.With.Assertions, func(a AssertionResult) bool { return a.Errors > 0 }):
		c.Error = &junitResult{"the judge has failed"}
	case e.With.PassRate == nil:
		c.Skipped = &junitResult{"no assertion has a verdict"}
	}
	return c
}

// Reason says in one line what came of a query.
func (q *QueryResult) Reason() string {
	switch {
	case q.Hidden != "":
		return "hidden from the model: " + q.Hidden
	case q.Found != nil && !q.ShouldTrigger && !q.Suggested:
		return "not suggested"
	case q.Found != nil && !q.ShouldTrigger && len(q.Words) == 0:
		return "suggested by meaning: no word is shared"
	case q.Found != nil && !q.ShouldTrigger:
		return "suggested" + inParentheses(q.Words)
	case q.Found != nil && q.Rank == 0 && q.Suggested:
		return "not found by its words, but suggested" + q.after()
	case q.Found != nil && q.Rank == 0:
		return "not found" + q.after()
	case q.Found != nil:
		return fmt.Sprintf("rank %d", q.Rank) + q.after()
	case q.Trials == nil || q.Rate == nil:
		return "no trial ran without an error"
	}
	return fmt.Sprintf("loaded in %d of %d", q.Triggered, q.Runs-q.Errors) + q.instead()
}

// instead names the other skills that were loaded, the most frequent first.
func (q *QueryResult) instead() string {
	others := slices.Sorted(maps.Keys(q.Loaded))
	slices.SortStableFunc(others, func(a, b string) int { return q.Loaded[b] - q.Loaded[a] })
	text := ""
	for _, name := range others {
		if name != q.Skill {
			text += fmt.Sprintf(", %s in %d", name, q.Loaded[name])
		}
	}
	return text
}

// after names the skills before that of a query.
func (q *QueryResult) after() string {
	var names []string
	for _, a := range q.Above {
		names = append(names, a.Skill+inParentheses(a.Words))
	}
	if len(names) == 0 {
		return ""
	}
	return " after " + strings.Join(names, ", ")
}

// inParentheses returns the first words of a list, or "" for none.
func inParentheses(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words[:min(len(words), maxReasonWords)], ", ") + ")"
}
