// Package search finds skills for a task that a user or a model describes in words. It has no
// side effects: the same index and query give the same result.
//
// Ranking is BM25F (Zaragoza et al., TREC 2004). It adds the counts of a word in five fields of a
// skill before they saturate. Each field has a weight and a normalisation of its length. A golden
// test fixes the constants.
package search

// field is a part of a document with a weight of its own.
type field int

const (
	inName field = iota
	inDescription
	inTags
	inHeadings
	inBody
	fields
)

// weights and slopes are the constants of each field: how much a word in it counts, and how
// much less in a long text.
var (
	weights = [fields]float64{2, 1, 0.5, 0.3, 0.2}
	slopes  = [fields]float64{0.3, 0.75, 0.5, 0.75, 0.6}
)

// Document holds the searchable texts of one skill.
type Document struct {
	Name        string
	Description string
	Tags        []string
	// Body is the Markdown after the front matter. All its headings count, and the first 8 KiB
	// of its prose outside code blocks.
	Body string
}

// counts holds how often a term occurs in each field of a document, at most 255.
type counts [fields]uint8

// analysis is a document as terms with counts.
type analysis struct {
	name    string
	terms   map[string]*counts
	lengths [fields]uint16
	vector  vector   // of the name and the description
	words   []string // of the name and the description, each once
}

func analyse(d Document) *analysis {
	a := &analysis{name: d.Name, terms: make(map[string]*counts)}
	headings, prose := markdown(d.Body)
	a.add(inName, splitName(d.Name), true)
	a.add(inDescription, d.Description, true)
	for _, tag := range d.Tags {
		a.add(inTags, tag, true)
	}
	a.add(inHeadings, headings, false)
	a.add(inBody, prose, false)
	described := splitName(d.Name) + ": " + d.Description
	a.vector = vectorOf(described)
	a.words = comparedWords(described, maxDescribedWords)
	return a
}

// add counts the terms of a text and adds its length in words to the field. A pair counts as half
// a word.
func (a *analysis) add(f field, text string, pairs bool) {
	halves := 2 * int(a.lengths[f])
	eachTerm(text, pairs, func(term string) {
		c := a.terms[term]
		if c == nil {
			c = new(counts)
			a.terms[term] = c
		}
		if c[f] < 255 {
			c[f]++
		}
		halves += 2
		if isPair(term) {
			halves--
		}
	})
	a.lengths[f] = uint16(min((halves+1)/2, 1<<16-1))
}
