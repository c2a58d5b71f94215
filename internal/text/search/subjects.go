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
		if len(term) > 1 && !ofAsking[term] && strings.ContainsFunc(term, unicode.IsLetter) {
			terms = append(terms, strings.Clone(term))
		}
	})
	slices.Sort(terms)
	return slices.Compact(terms)
}
