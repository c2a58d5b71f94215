package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Query is a search.
type Query struct {
	// Phrasings are several wordings of one need. Their scores are added up. Only the first 8
	// count, and of each 500 runes.
	Phrasings []string
	// Allow reports whether the result may have a document; nil allows all. Documents that are
	// not allowed still count for how rare a word is.
	Allow func(document int) bool
	// Boost returns a factor for the score of a document; nil means 1 for all.
	Boost func(document int) float64
	// Naming has the caller's names of the documents; nil means the indexed names.
	Naming *Naming
	// Messages reports that the phrasings are messages of users. Words of asking then count
	// less, and one word is enough if few documents hold it.
	Messages bool
	// Weak is how many hits that are not strong the result may have, the best ones; 0 means
	// all. Most hits of a long text are weak, and a limit saves sorting them.
	Weak int
}

// Naming holds the names of the documents of an index. It is immutable.
type Naming struct {
	names []string
	of    map[string][]int // documents by a name in lower case
}

// NewNaming returns a Naming. names holds the name of each document in the order of the index,
// "" for none. others holds lists of further names in the same order.
func NewNaming(names []string, others ...[]string) *Naming {
	n := &Naming{names: names, of: make(map[string][]int, len(names))}
	for _, list := range append([][]string{names}, others...) {
		for i, name := range list {
			name = strings.ToLower(name)
			if known := n.of[name]; name != "" && !slices.Contains(known, i) {
				n.of[name] = append(known, i)
			}
		}
	}
	return n
}

// Hit is a document that was found.
type Hit struct {
	Document int // its position in the index
	Score    float64
	// Strong reports that the document fits the query. Other hits only share words with it.
	Strong bool
	// Explicit reports that the query holds the document's name.
	Explicit bool
}

// Search returns the documents that share a word with the query: first those that the query
// names, then by score, then by name. The result is nil if the query has only stop words.
func (x *Index) Search(q Query) []Hit {
	if x.Len() == 0 {
		return nil
	}
	if q.Naming == nil {
		q.Naming = x.naming
	}
	s := searching{index: x, query: q, total: make([]total, x.Len())}
	for _, text := range q.Phrasings[:min(len(q.Phrasings), maxPhrasings)] {
		s.phrase(cut(text, maxPhrasing))
	}
	return s.hits()
}

// Terms returns how many different terms a phrasing has.
func Terms(phrasing string) int { return len(distinct(cut(phrasing, maxPhrasing))) }

// searching is the state of one search.
type searching struct {
	index    *Index
	query    Query
	total    []total   // by document
	touched  []int     // the documents with a total
	phrases  int       // phrasings with terms
	phrasing []partial // by document, for the current phrasing
	found    []int     // the documents that the current phrasing has found
	meanings []meaning // by document, for the current message
}

// total is the result of all phrasings for a document.
type total struct {
	score    float64
	strong   int // phrasings for which it is strong
	explicit bool
	seen     bool
}

// partial is the result of one phrasing for a document.
type partial struct {
	score float64
	terms int
}

// phrase adds what one phrasing says of the documents to their totals.
func (s *searching) phrase(text string) {
	named := s.query.Naming.mentioned(text)
	for _, document := range named {
		s.touch(document)
		s.total[document].explicit = true
	}
	terms := distinct(text)
	if len(terms) == 0 {
		return
	}
	s.phrases++
	if s.query.Messages {
		s.message(text, terms, len(named) > 0)
		return
	}
	if s.phrasing == nil {
		s.phrasing = make([]partial, s.index.Len())
	}
	s.found = s.found[:0]
	best := 0.0 // the score that no document can exceed
	for _, term := range terms {
		if p, known := s.index.terms[term]; known {
			idf := 2 * s.index.idf(p.documents)
			best += idf
			s.addTerm(p, idf)
		}
	}
	leastTerms, leastScore := min(3, wordCount(terms)), min(1.2*s.logSize(), 0.4*best)
	for _, document := range s.found {
		part := s.phrasing[document]
		s.phrasing[document] = partial{}
		s.touch(document)
		t := &s.total[document]
		t.score += part.score
		if part.terms >= leastTerms && part.score >= leastScore {
			t.strong++
		}
	}
}

// addTerm adds one term to the partial results of the documents that hold it.
func (s *searching) addTerm(p posting, idf float64) {
	s.index.each(p, func(document int, c *counts) {
		part := &s.phrasing[document]
		if part.terms == 0 {
			s.found = append(s.found, document)
		}
		part.terms++
		weight := s.index.weight(document, c)
		part.score += idf * weight / (1 + weight)
	})
}

// touch adds a document to those with a total.
func (s *searching) touch(document int) {
	if !s.total[document].seen {
		s.total[document].seen = true
		s.touched = append(s.touched, document)
	}
}

// weight returns the weighted count of a term in the fields of a document.
func (x *Index) weight(document int, c *counts) float64 {
	sum := 0.0
	for f, n := range c {
		if n > 0 {
			sum += weights[f] * float64(n) / float64(x.norms[document][f])
		}
	}
	return sum
}

func (s *searching) hits() []Hit {
	var strong, weak []Hit
	least := math.Inf(-1) // the score that a weak hit needs
	keepBest := func(most int) {
		if most > 0 && len(weak) > most {
			s.sort(weak)
			weak, least = weak[:most], weak[most-1].Score
		}
	}
	for _, document := range s.touched {
		if s.query.Allow != nil && !s.query.Allow(document) {
			continue
		}
		t := s.total[document]
		h := Hit{Document: document, Score: t.score, Explicit: t.explicit}
		h.Strong = t.explicit || t.strong > 0 && 2*t.strong >= s.phrases
		if s.query.Boost != nil {
			h.Score *= s.query.Boost(document)
		}
		switch {
		case h.Strong:
			strong = append(strong, h)
		case h.Score >= least:
			if weak = append(weak, h); len(weak) >= 4*s.query.Weak {
				keepBest(s.query.Weak)
			}
		}
	}
	keepBest(s.query.Weak)
	hits := append(strong, weak...)
	s.sort(hits)
	return hits
}

// sort puts hits in the order of [Index.Search].
func (s *searching) sort(hits []Hit) {
	names := s.query.Naming.names
	slices.SortFunc(hits, func(a, b Hit) int {
		switch {
		case a.Explicit != b.Explicit:
			if a.Explicit {
				return -1
			}
			return 1
		case a.Score != b.Score: // never NaN
			return cmp.Compare(b.Score, a.Score)
		}
		return cmp.Or(cmp.Compare(names[a.Document], names[b.Document]), cmp.Compare(a.Document, b.Document))
	})
}

// mentioned returns the documents that a phrasing names. A word is a name if it has a hyphen,
// follows "$" or "/", is next to the word "skill", or is the whole phrasing.
func (n *Naming) mentioned(text string) []int {
	var all []int
	text = strings.TrimSpace(text)
	between := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`()[]{}<>,;!?", r) }
	for word := range strings.FieldsFuncSeq(text, between) {
		word = strings.TrimRight(word, ".:")
		name := strings.TrimLeft(word, "$/")
		if name != "" && (name != word || strings.Contains(word, "-") || word == text) {
			all = append(all, n.of[strings.ToLower(name)]...)
		}
	}
	return append(all, n.besideSkill(text)...)
}

// besideSkill returns the documents whose names are directly before or after the word "skill" or
// "skills", and further ones joined by "and". Spaces may separate the words of a name, as in "the
// pdf forms skill".
func (n *Naming) besideSkill(text string) (all []int) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) && !strings.ContainsRune("-_.:", r) })
	for i := range words {
		words[i] = strings.Trim(words[i], "-_.:")
	}
	for i, word := range words {
		if word == "skill" || word == "skills" {
			all = append(all, n.namesBefore(words[:i])...)
			all = append(all, n.namesAfter(words[i+1:])...)
		}
	}
	return all
}

// namesBefore returns the documents whose names end the words, the last name first.
func (n *Naming) namesBefore(words []string) (all []int) {
	for {
		for len(words) > 0 && joins[words[len(words)-1]] {
			words = words[:len(words)-1]
		}
		var found []int
		rest := words
		for size := min(maxNameWords, len(words)); size > 0 && found == nil; size-- {
			rest = words[:len(words)-size]
			found = n.of[strings.Join(words[len(words)-size:], "-")]
		}
		if found == nil {
			return all
		}
		all, words = append(all, found...), rest
	}
}

// namesAfter returns the documents whose names begin the words, the first name first.
func (n *Naming) namesAfter(words []string) (all []int) {
	for {
		for len(words) > 0 && joins[words[0]] {
			words = words[1:]
		}
		var found []int
		rest := words
		for size := min(maxNameWords, len(words)); size > 0 && found == nil; size-- {
			rest = words[size:]
			found = n.of[strings.Join(words[:size], "-")]
		}
		if found == nil {
			return all
		}
		all, words = append(all, found...), rest
	}
}

// joins are words that may stand between the names of skills and the word "skill".
var joins = map[string]bool{"and": true, "or": true, "named": true, "called": true}

// wordCount estimates how many words the terms come from. In a script without spaces about
// every second pair of characters spans two words.
func wordCount(terms []string) int {
	pairs := 0
	for _, term := range terms {
		if isPair(term) {
			pairs++
		}
	}
	return len(terms) - pairs/2
}

func distinct(text string) []string {
	var terms []string
	eachTerm(text, true, func(term string) {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	})
	return terms
}

// cut shortens a text to so many runes.
func cut(text string, runes int) string {
	for i := range text {
		if runes--; runes < 0 {
			return text[:i]
		}
	}
	return text
}
