package textedit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// nearest returns the failure for lines that are not in the text. It shows the most similar lines.
// what is "hunk 2" or "edit 1: oldText"; has is "the hunk" or "oldText".
func (t *text) nearest(what, has string, want []string) *Failure {
	best := t.likeliest(want)
	if best < 0 {
		return failf(NoMatch, "%s does not match: none of its lines is in the text", what)
	}
	same, differs := 0, -1
	for i, w := range want {
		switch {
		case best+i < len(t.lines) && keyOf(t.lines[best+i].content, lineEnds) == keyOf(w, lineEnds):
			same++
		case differs < 0:
			differs = i
		}
	}
	if differs < 0 {
		differs = 0
	}
	here := "not there"
	if best+differs < len(t.lines) {
		here = quoteLine(t.lines[best+differs].content)
	}
	last := min(best+len(want), len(t.lines)) - 1
	near := "Nearest are " + lineRange(best, last)
	if best == last {
		near = "Nearest is " + lineRange(best, last)
	}
	return failf(NoMatch, "%s does not match. %s, %d of %d lines equal; line %d is %s and %s has %s",
		what, near, same, len(want), best+differs+1, here, has, quoteLine(want[differs]))
}

// likeliest returns the index of the line at which most lines of want would match, or -1 if the
// text has none of them.
func (t *text) likeliest(want []string) int {
	x := t.index(lineEnds)
	votes := map[int]int{}
	last := max(t.front, len(t.lines)-len(want))
	rarest, count := -1, 0
	for i, w := range want {
		id, ok := x.ids[keyOf(w, lineEnds)]
		if !ok || isBlank(w) {
			continue
		}
		if rarest < 0 || len(x.at[id]) < len(x.at[x.ids[keyOf(want[rarest], lineEnds)]]) {
			rarest = i
		}
		if count += min(len(x.at[id]), voters+1); len(x.at[id]) > voters || count > maxVotes {
			continue
		}
		for _, p := range x.at[id] {
			votes[min(max(t.front, p-i), last)]++
		}
	}
	if len(votes) == 0 && rarest >= 0 {
		for _, p := range x.at[x.ids[keyOf(want[rarest], lineEnds)]] {
			votes[min(max(t.front, p-rarest), last)]++
		}
	}
	best := -1
	for p, n := range votes {
		if best < 0 || n > votes[best] || n == votes[best] && p < best {
			best = p
		}
	}
	return best
}

// quoteLine returns a line in the form for an error text.
func quoteLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) > quotedRunes {
		s = string([]rune(s)[:quotedRunes]) + "…"
	}
	return `"` + s + `"`
}

// notUnique returns the failure for a text that occurs several times. It lists the lines.
func notUnique(what string, lines []int, advice string) *Failure {
	return failf(NotUnique, "%s is there %d times, at lines %s: %s", what, len(lines), placesOf(lines), advice)
}

func placesOf(lines []int) string {
	var parts []string
	for _, l := range lines[:min(len(lines), namedPlaces)] {
		parts = append(parts, strconv.Itoa(l+1))
	}
	last := parts[len(parts)-1]
	if more := len(lines) - namedPlaces; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(parts, ", "), more)
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + last
}
