package search

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Words returns, for each of the documents, the words of a phrasing that it holds, in lower case,
// with what each adds to its score. Phrasings of a query that are Messages weigh words otherwise.
func (x *Index) Words(phrasing string, documents []int) []map[string]float64 {
	out := make([]map[string]float64, len(documents))
	places := make(map[int][]int, len(documents)) // of a document in documents
	for i, document := range documents {
		out[i] = make(map[string]float64)
		places[document] = append(places[document], i)
	}
	if x.Len() == 0 {
		return out
	}
	phrasing = cut(phrasing, maxPhrasing)
	words := writtenWords(phrasing)
	for _, term := range distinct(phrasing) {
		p, known := x.terms[term]
		if !known {
			continue
		}
		idf := 2 * x.idf(p.documents)
		x.each(p, func(document int, c *counts) {
			for _, i := range places[document] {
				weight := x.weight(document, c)
				out[i][words[term]] += idf * weight / (1 + weight)
			}
		})
	}
	return out
}

// writtenWords maps each term of a text to the first word that it comes from. A pair of characters
// is its own word.
func writtenWords(text string) map[string]string {
	words := make(map[string]string)
	text = norm.NFKC.String(strings.ToValidUTF8(text, " "))
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		hasPairs := strings.ContainsFunc(word, isDense)
		eachTerm(word, true, func(term string) {
			switch {
			case words[term] != "":
			case hasPairs:
				words[term] = term
			default:
				words[term] = strings.ToLower(word)
			}
		})
	}
	return words
}
