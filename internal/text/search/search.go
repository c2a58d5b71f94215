// Package search finds skills by what a user or a model says of a task. It is pure:
// texts go in, an index comes out, and the same index and query give the same answer.
//
// Ranking is BM25F: five fields of a skill, each with a weight and a normalisation of
// its length, are added up before they saturate (Zaragoza et al., TREC 2004). The
// constants are fixed and held by a golden test; CATALOG search relies on them.
package search

// field is one of the texts of a document that are weighed apart.
type field int

const (
	inName field = iota
	inDescription
	inTags
	inHeadings
	inBody
	fields
)

// weights and slopes are the constants of each field: how much a word in it counts,
// and how much of that a long text loses.
var (
	weights = [fields]float64{2, 1, 0.5, 0.3, 0.2}
	slopes  = [fields]float64{0.3, 0.75, 0.5, 0.75, 0.6}
)

// Document is what is searched of one skill.
type Document struct {
	Name        string
	Description string
	Tags        []string
	// Body is the Markdown below the front matter. Of its prose outside code blocks
	// the first 8 KiB count, and of its headings all.
	Body string
}

// counts is how often a term stands in each field of a document, at most 255 times.
type counts [fields]uint8

// analysis is a document as the index takes it in.
type analysis struct {
	name    string
	terms   map[string]*counts
	lengths [fields]uint16
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
	return a
}

// add counts the terms of a text. Its length is in words: a pair is half
// of one.
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
