package search

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// wordLists holds the distinct words of the names and descriptions of documents. It is immutable.
type wordLists struct {
	words []string
	lists []uint32  // the places of words, document after document, each list sorted
	ends  []uint32  // where the list of each document ends
	logs  []float64 // of the numbers of words of the documents, at least 2
	// directions returns the vectors of the words.
	directions func() *directions
}

// directions are vectors and the factors that scale them to the length 1.
type directions struct {
	vectors   []vector
	perLength []float32
}

func newWordLists(words []string, lists, ends []uint32) *wordLists {
	l := &wordLists{words: words, lists: lists, ends: ends, logs: make([]float64, len(ends))}
	for document := range ends {
		l.logs[document] = math.Log(float64(max(2, len(l.of(document)))))
	}
	l.directions = sync.OnceValue(func() *directions {
		d := &directions{make([]vector, len(l.words)), make([]float32, len(l.words))}
		for i, word := range l.words {
			d.vectors[i], _ = vectorOfWord(word, math.MaxInt8)
			d.perLength[i] = float32(inverseRoot(d.vectors[i].dot(&d.vectors[i])))
		}
		return d
	})
	return l
}

// of returns the places of the words of a document.
func (l *wordLists) of(document int) []uint32 {
	begin := uint32(0)
	if document > 0 {
		begin = l.ends[document-1]
	}
	return l.lists[begin:l.ends[document]]
}

// wordsBuilder collects the words of documents.
type wordsBuilder struct {
	places map[string]uint32
	words  []string
	lists  [][]uint32 // by document
	known  []uint32   // places of the words of the previous index, from 1
}

func (b *wordsBuilder) place(word string) uint32 {
	at, ok := b.places[word]
	if !ok {
		at = uint32(len(b.words))
		b.places[word], b.words = at, append(b.words, word)
	}
	return at
}

// add sets the words of a document.
func (b *wordsBuilder) add(document int, words []string) {
	list := make([]uint32, len(words))
	for i, word := range words {
		list[i] = b.place(word)
	}
	b.lists[document] = list
}

// take sets the words of a document to those of a document of the previous index.
func (b *wordsBuilder) take(document int, prev *wordLists, old int) {
	if b.known == nil {
		b.known = make([]uint32, len(prev.words))
	}
	list := slices.Clone(prev.of(old))
	for i, at := range list {
		if b.known[at] == 0 {
			b.known[at] = b.place(prev.words[at]) + 1
		}
		list[i] = b.known[at] - 1
	}
	b.lists[document] = list
}

func (b *wordsBuilder) build() *wordLists {
	var lists []uint32
	ends := make([]uint32, len(b.lists))
	for document, list := range b.lists {
		slices.Sort(list)
		lists = append(lists, list...)
		ends[document] = uint32(len(lists))
	}
	return newWordLists(b.words, slices.Clip(lists), ends)
}

// comparedWords returns the distinct words of a text that are compared one by one, at most limit.
func comparedWords(text string, limit int) (words []string) {
	eachWord(text, func(word string) {
		if len(words) < limit && len(word) > 1 && len(word) <= maxTerm && !stopWords[word] && !slices.Contains(words, word) {
			words = append(words, strings.Clone(word))
		}
	})
	return words
}

const (
	// wordsPerDocument estimates how many words of a document the documents compared before do not have.
	wordsPerDocument = 20
	// lanes is how many words of a message one multiplication compares with a word of a document.
	lanes = 3
	// laneBits is how many bits the scalar product of two vectors needs, if the numbers of one of them are
	// at most laneNumber.
	laneBits   = 21
	laneNumber = 63
)

// lane holds the vectors of words of a message, the first one in the lowest bits of each number.
type lane [vectorSize]int64

// dots returns the scalar products of the words of a lane with a vector.
func (l *lane) dots(v *vector) (dots [lanes]int64) {
	var a, b int64
	words, others := l[:], v[:]
	for len(words) >= 8 && len(others) >= 8 {
		a += words[0]*int64(others[0]) + words[1]*int64(others[1]) + words[2]*int64(others[2]) + words[3]*int64(others[3])
		b += words[4]*int64(others[4]) + words[5]*int64(others[5]) + words[6]*int64(others[6]) + words[7]*int64(others[7])
		words, others = words[8:], others[8:]
	}
	sum := a + b
	for n := range dots {
		dots[n] = sum << (64 - laneBits) >> (64 - laneBits)
		sum = (sum - dots[n]) >> laneBits
	}
	return dots
}

// similar compares the words of a message with those of documents one by one.
type similar struct {
	lists   *wordLists
	lanes   []lane
	weights []float32 // of the words of the message
	scales  []float32 // 1 / length of their vectors
	at      []int32   // where the cosines of a word of documents end
	cosines []float32 // of words of documents to those of the message, times scales
	best    []float32
	isTerse bool // all words of the message are compared
}

func newSimilar(lists *wordLists, text string) *similar {
	s := &similar{lists: lists}
	words := 0
	eachWord(text, func(string) { words++ })
	for _, word := range comparedWords(text, maxComparedWords) {
		v, length := vectorOfWord(word, laneNumber)
		if length == 0 {
			continue
		}
		n := len(s.weights)
		if n%lanes == 0 {
			s.lanes = append(s.lanes, lane{})
		}
		for i, x := range v {
			s.lanes[n/lanes][i] += int64(x) << (laneBits * (n % lanes))
		}
		s.weights = append(s.weights, length)
		s.scales = append(s.scales, float32(inverseRoot(v.dot(&v))))
	}
	s.isTerse = len(s.weights) >= words
	s.cosines = make([]float32, 0, len(s.lanes)*lanes*mostSimilar*wordsPerDocument)
	s.at, s.best = make([]int32, len(lists.words)), make([]float32, len(s.lanes)*lanes)
	return s
}

// of returns how well the words of a document cover those of the message. Each word of the message counts by
// its most similar one, and by the length of its vector: words that say more have longer ones.
func (s *similar) of(document int) float64 {
	best := s.best
	clear(best)
	d := s.lists.directions()
	for _, word := range s.lists.of(document) {
		if s.at[word] == 0 {
			for i := range s.lanes {
				for _, dot := range s.lanes[i].dots(&d.vectors[word]) {
					s.cosines = append(s.cosines, float32(dot)*d.perLength[word])
				}
			}
			s.at[word] = int32(len(s.cosines))
		}
		end := int(s.at[word])
		for i, cosine := range s.cosines[end-len(best) : end] {
			if cosine > best[i] {
				best[i] = cosine
			}
		}
	}
	sum := 0.0
	for i, weight := range s.weights {
		sum += float64(weight * min(max(0, best[i]*s.scales[i]-leastSimilar), similarRange))
	}
	return sum
}

// vectorOfWord returns the vector of a word, with numbers up to greatest, and the length of the sum of the
// vectors of its pieces.
func vectorOfWord(word string, greatest float32) (vector, float32) {
	var sum [vectorSize]float32
	loadedVocabulary().add(&sum, word)
	squares := float32(0)
	for _, n := range sum {
		squares += n * n
	}
	return pack(&sum, greatest), float32(math.Sqrt(float64(squares)))
}
