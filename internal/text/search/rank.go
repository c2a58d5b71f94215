package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Query is what is searched for.
type Query struct {
	// Phrasings say the same in several ways; at least one, of more than 8 the first,
	// of each at most 500 runes. Their scores are added up.
	Phrasings []string
	// Allow reports whether a document may be found; nil allows all. What it does not
	// allow still counts in how rare a word is.
	Allow func(document int) bool
	// Boost multiplies the score of a document; nil is 1 for all.
	Boost func(document int) float64
	// Naming has the caller's names of the documents; nil: as they were indexed.
	Naming *Naming
	// Messages says that the phrasings are what users write, not wordings of one need. Words
	// of asking then count less, and one word is enough where few documents hold it.
	Messages bool
	// Weak is how many of the hits that are not strong are wanted, the best of them;
	// 0 is all. Most hits of a long text are weak, and need not be put in order then.
	Weak int
}

// Naming is what the documents of an index are called. It is immutable.
type Naming struct {
	names []string
	of    map[string][]int // documents by a name in lower case
}

// NewNaming returns the naming of documents that have these names, in the order of the
// index, and others beside them. A document without a name is "".
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
	Document int // its place in the index
	Score    float64
	// Strong hits answer the query; the others share words with it.
	Strong bool
	// Explicit hits were named: the query holds their name.
	Explicit bool
}

// Search returns the documents that share a word with the query, the best first:
// those that are named, then by score, then bytewise by name. The result is nil if
// the query has no words that say anything.
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

// Terms returns how many words of a phrasing are searched for.
func Terms(phrasing string) int { return len(distinct(cut(phrasing, maxPhrasing))) }

// searching is one search under way.
type searching struct {
	index    *Index
	query    Query
	total    []total // by document
	touched  []int
	phrases  int
	phrasing []partial // by document, of the phrasing at hand
	found    []int     // the documents of phrasing
}

// total is what all phrasings say of a document.
type total struct {
	score    float64
	strong   int // phrasings for which it is strong
	explicit bool
	seen     bool
}

// partial is what one phrasing says of a document.
type partial struct {
	score float64
	terms int
	// subjects counts the terms of a message that are not of asking, and subject is their
	// score. isTelling reports one that few documents hold, or that is in the name.
	subjects  int
	subject   float64
	isTelling bool
	isOfSkill bool // the name holds the word "skill"
}

func (s *searching) phrase(text string) {
	x := s.index
	terms := distinct(text)
	for _, document := range s.query.Naming.mentioned(text) {
		s.touch(document)
		s.total[document].explicit = true
	}
	if len(terms) == 0 {
		return
	}
	s.phrases++
	if s.phrasing == nil {
		s.phrasing = make([]partial, x.Len())
	}
	s.found = s.found[:0]
	best, bestSubject := 0.0, 0.0 // that any document could have
	subjects := slices.DeleteFunc(slices.Clone(terms), func(term string) bool { return ofAsking[term] })
	for _, term := range terms {
		p, known := x.terms[term]
		if !known {
			continue
		}
		idf := 2 * x.idf(p.documents)
		best += idf
		isSubject := s.query.Messages && !ofAsking[term]
		if isSubject {
			bestSubject += idf
		}
		isRare := uint64(p.documents)*uint64(p.documents) <= uint64(x.Len())
		x.each(p, func(document int, c *counts) {
			part := &s.phrasing[document]
			if part.terms == 0 {
				s.found = append(s.found, document)
			}
			part.terms++
			weight := x.weight(document, c)
			score := idf * weight / (1 + weight)
			part.score += score
			if isSubject {
				part.subjects++
				part.subject += score
				inFront := c[inDescription] > 0 || c[inTags] > 0
				if c[inName] > 0 || isRare && inFront && (part.subjects > 1 || !isPair(term)) {
					part.isTelling = true
				}
			}
			part.isOfSkill = part.isOfSkill || c[inName] > 0 && term == "skill"
		})
	}
	needed := min(3, asked(terms))
	most := 1.2 * math.Log(1+float64(x.Len()))
	least := min(most, 0.4*best)
	neededSubjects, leastSubject := min(2, (asked(subjects)+1)/2), min(most, 0.3*bestSubject)
	for _, document := range s.found { // what fits far less than another is not meant
		leastSubject = max(leastSubject, 0.6*s.phrasing[document].subject)
	}
	for _, document := range s.found {
		part := s.phrasing[document]
		s.phrasing[document] = partial{}
		s.touch(document)
		t := &s.total[document]
		t.score += part.score
		isStrong := part.terms >= needed && part.score >= least
		if s.query.Messages {
			isStrong = isStrong && part.subjects > 0 ||
				part.isTelling && part.subjects >= neededSubjects && part.subject >= leastSubject ||
				part.isOfSkill && part.terms > 1
		}
		if isStrong {
			t.strong++
		}
	}
}

func (s *searching) touch(document int) {
	if !s.total[document].seen {
		s.total[document].seen = true
		s.touched = append(s.touched, document)
	}
}

// weight adds up what a term counts in the fields of a document.
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
	least := math.Inf(-1) // that a weak hit needs
	keep := func(most int) {
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
				keep(s.query.Weak)
			}
		}
	}
	keep(s.query.Weak)
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

// mentioned returns the documents that a phrasing names. It is the name, or holds it
// behind a "$" or "/" or beside the word "skill". A name with a hyphen may be any word.
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

// besideSkill returns the documents whose names stand directly before or behind the word
// "skill" or "skills", also several with "and" between them. The words of a name may stand
// apart, as in "the pdf forms skill".
func (n *Naming) besideSkill(text string) (all []int) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) && !strings.ContainsRune("-_.:", r) })
	for i := range words {
		words[i] = strings.Trim(words[i], "-_.:")
	}
	for i, word := range words {
		if word != "skill" && word != "skills" {
			continue
		}
		for at := i; ; {
			for at > 0 && joins[words[at-1]] {
				at--
			}
			size, found := 0, []int(nil)
			for size = min(maxNameWords, at); size > 0 && found == nil; size-- {
				found = n.of[strings.Join(words[at-size:at], "-")]
			}
			if found == nil {
				break
			}
			all, at = append(all, found...), at-size-1
		}
		for at := i + 1; ; {
			for at < len(words) && joins[words[at]] {
				at++
			}
			size, found := 0, []int(nil)
			for size = min(maxNameWords, len(words)-at); size > 0 && found == nil; size-- {
				found = n.of[strings.Join(words[at:at+size], "-")]
			}
			if found == nil {
				break
			}
			all, at = append(all, found...), at+size+1
		}
	}
	return all
}

// joins are words that stand between names of skills.
var joins = map[string]bool{"and": true, "or": true, "named": true, "called": true}

// asked is how many words these terms make. Of the pairs of a text without spaces about
// every other one lies between two words.
func asked(terms []string) int {
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
