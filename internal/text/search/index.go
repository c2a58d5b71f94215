package search

import (
	"cmp"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Source is one document of an index. Key identifies its text: if the previous index has a
// document with the same Key, [Build] takes it from there and does not call Read. If Read fails,
// Build indexes the document that it returned. Build calls Read on several goroutines.
type Source struct {
	Key  string
	Read func() (Document, error)
}

// Index is an immutable index of documents. It is safe for concurrent use. A nil Index has no
// documents.
type Index struct {
	keys    []string
	names   []string
	lengths [][fields]uint16
	vectors []vector // of names and descriptions
	// perLength holds for each document the factor that scales its vector to the length 1, and perFirst
	// that for the first numbers of the vector.
	perLength, perFirst []float64
	words               *wordLists // of names and descriptions
	// norms holds for each document and field the divisor of the counts of words.
	norms []([fields]float32)
	terms map[string]posting
	lists []byte // of all terms, one after the other
	// naming has the names of the documents at the time of Build.
	naming *Naming
}

// posting is the place of a term's list in Index.lists, and the number of its documents.
type posting struct {
	offset, size uint32
	documents    uint32
}

// Build returns the index of the sources, in their order. It takes documents that prev has from
// there. prev may be nil.
func Build(prev *Index, sources []Source) *Index {
	x := &Index{
		keys:    make([]string, len(sources)),
		names:   make([]string, len(sources)),
		lengths: make([][fields]uint16, len(sources)),
		vectors: make([]vector, len(sources)),
	}
	known := make(map[string]int, prev.Len())
	for i, key := range prev.Keys() {
		known[key] = i
	}
	words := &wordsBuilder{places: make(map[string]uint32), lists: make([][]uint32, len(sources))}
	moved := make([]int, prev.Len()) // new position of each document of prev, from 1; 0 for none
	fresh := make(map[string][]entry)
	var unknown []int
	for i, s := range sources {
		x.keys[i] = s.Key
		if old, ok := known[s.Key]; ok && moved[old] == 0 {
			x.names[i], x.lengths[i], x.vectors[i], moved[old] = prev.names[old], prev.lengths[old], prev.vectors[old], i+1
			words.take(i, prev.words, old)
			continue
		}
		unknown = append(unknown, i)
	}
	analyseAll(sources, unknown, func(i int, a *analysis) {
		x.names[i], x.lengths[i], x.vectors[i] = a.name, a.lengths, a.vector
		words.add(i, a.words)
		for term, c := range a.terms {
			fresh[term] = append(fresh[term], entry{i, *c})
		}
	})
	x.naming = NewNaming(x.names)
	x.words = words.build()
	x.normalise()
	x.merge(prev, moved, fresh)
	return x
}

// analyseAll reads and analyses the sources at the given positions on a few goroutines. It calls
// take for each of them, one call at a time.
func analyseAll(sources []Source, which []int, take func(i int, a *analysis)) {
	var next atomic.Int64
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), maxReaders, len(which)) {
		workers.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(which) {
					return
				}
				d, _ := sources[which[n]].Read()
				a := analyse(d)
				mu.Lock()
				take(which[n], a)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
}

// Len returns the number of documents.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return len(x.keys)
}

// normalise computes the norms from the lengths of the fields, and the factors of the vectors.
func (x *Index) normalise() {
	var average [fields]float64
	for _, l := range x.lengths {
		for f := range fields {
			average[f] += float64(l[f]) / float64(len(x.lengths))
		}
	}
	x.norms = make([][fields]float32, len(x.lengths))
	for i, l := range x.lengths {
		for f := range fields {
			relative := 1.0
			if average[f] > 0 {
				relative = float64(l[f]) / average[f]
			}
			x.norms[i][f] = float32(1 - slopes[f] + slopes[f]*relative)
		}
	}
	x.perLength, x.perFirst = make([]float64, len(x.vectors)), make([]float64, len(x.vectors))
	for i := range x.vectors {
		v := &x.vectors[i]
		x.perLength[i], x.perFirst[i] = inverseRoot(v.dot(v)), inverseRoot(v.dotFirst(v))
	}
}

// entry is one document of a list.
type entry struct {
	document int
	counts   counts
}

// merge writes the list of each term: the entries of prev whose documents remain, and the fresh
// ones.
func (x *Index) merge(prev *Index, moved []int, fresh map[string][]entry) {
	x.terms = make(map[string]posting, len(fresh))
	var entries []entry
	write := func(term string) {
		if len(entries) == 0 {
			return
		}
		byDocument := func(a, b entry) int { return cmp.Compare(a.document, b.document) }
		if !slices.IsSortedFunc(entries, byDocument) {
			slices.SortFunc(entries, byDocument)
		}
		p := posting{offset: uint32(len(x.lists)), documents: uint32(len(entries))}
		x.lists = appendList(x.lists, entries)
		p.size = uint32(len(x.lists)) - p.offset
		x.terms[term] = p
	}
	if prev != nil {
		for term, p := range prev.terms {
			entries = entries[:0]
			prev.each(p, func(document int, c *counts) {
				if at := moved[document]; at > 0 {
					entries = append(entries, entry{at - 1, *c})
				}
			})
			entries = append(entries, fresh[term]...)
			delete(fresh, term)
			write(term)
		}
	}
	for term, list := range fresh {
		entries = append(entries[:0], list...)
		write(term)
	}
	x.lists = slices.Clip(x.lists)
}

// appendList encodes a list. A document is its distance from the previous one and a bit that is
// set if only the body has the term. If it is set, the count follows. Otherwise a byte with a bit
// for each field follows, and then the counts of these fields.
func appendList(b []byte, entries []entry) []byte {
	last := -1
	for _, e := range entries {
		distance := uint64(e.document-last) << 1
		last = e.document
		if e.counts == (counts{inBody: e.counts[inBody]}) {
			b = append(binary.AppendUvarint(b, distance|1), e.counts[inBody])
			continue
		}
		b = binary.AppendUvarint(b, distance)
		mask := len(b)
		b = append(b, 0)
		for f, n := range e.counts {
			if n > 0 {
				b[mask] |= 1 << f
				b = append(b, n)
			}
		}
	}
	return b
}

// each decodes a list. The counts are valid until visit returns.
func (x *Index) each(p posting, visit func(document int, c *counts)) {
	list := x.lists[p.offset : p.offset+p.size]
	document := -1
	var c counts
	for len(list) > 0 {
		distance, n := binary.Uvarint(list)
		document += int(distance >> 1)
		list = list[n:]
		c = counts{}
		if distance&1 == 1 {
			c[inBody] = list[0]
			list = list[1:]
		} else {
			mask := list[0]
			list = list[1:]
			for f := range fields {
				if mask&(1<<f) != 0 {
					c[f] = list[0]
					list = list[1:]
				}
			}
		}
		visit(document, &c)
	}
}

// idf returns the inverse document frequency of a term that so many documents have.
func (x *Index) idf(documents uint32) float64 {
	n, df := float64(x.Len()), float64(documents)
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}
