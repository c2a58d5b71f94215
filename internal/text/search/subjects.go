package search

import (
	"slices"
	"strings"
	"unicode"
)

// Subjects returns the terms of a text that say what it is about, sorted and each once. Words
// by which users ask, numbers and single letters are left out.
func Subjects(text string) []string {
	var terms []string
	eachTerm(text, true, func(term string) {
		if isTopic(term) && !ofAsking[term] {
			terms = append(terms, strings.Clone(term))
		}
	})
	slices.Sort(terms)
	return slices.Compact(terms)
}

// isTopic reports whether a term is more than a number or a single letter.
func isTopic(term string) bool { return len(term) > 1 && strings.ContainsFunc(term, unicode.IsLetter) }
