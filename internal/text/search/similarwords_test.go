package search

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A lane gives the scalar products that the vectors give one by one, also the greatest ones.
func TestLane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(greatest int) (v vector) {
		for i := range v {
			v[i] = int8(r.IntN(2*greatest+1) - greatest)
		}
		return v
	}
	all := func(n int8) (v vector) {
		for i := range v {
			v[i] = n
		}
		return v
	}
	for range 100 {
		words := []vector{random(laneNumber), all(-laneNumber), all(laneNumber)}
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		var l lane
		for n := range words {
			for i, x := range words[n] {
				l[i] += int64(x) << (laneBits * n)
			}
		}
		for _, v := range []vector{random(127), all(127), all(-127), {}} {
			got := l.dots(&v)
			for n := range words {
				if want := int64(words[n].dot(&v)); got[n] != want {
					t.Fatalf("word %d: %d, want %d", n, got[n], want)
				}
			}
		}
	}
}

// A document covers a message better if it has its words, or similar ones.
func TestSimilarWords(t *testing.T) {
	x := built(
		Document{Name: "a", Description: "paint an image"}, Document{Name: "b", Description: "draw a picture"},
		Document{Name: "c", Description: "database migrations"}, Document{Name: "d", Description: "the of and"},
	)
	s := newSimilar(x.words, "please draw a picture")
	var got []float64
	for document := range x.Len() {
		got = append(got, s.of(document))
	}
	if !(got[1] > got[0] && got[0] > got[2] && got[3] == 0) {
		t.Errorf("similar are %v", got)
	}
	again := newSimilar(x.words, "please draw a picture")
	for document := range slices.Backward(got) {
		if want := again.of(document); got[document] != want {
			t.Errorf("document %d: %v, in another order %v", document, got[document], want)
		}
	}
	if s.isTerse || !newSimilar(x.words, "draw picture").isTerse || newSimilar(x.words, "用 draw").isTerse {
		t.Error("a message is terse if all its words are compared")
	}
	if s := newSimilar(x.words, "the of 用"); s.of(0) != 0 {
		t.Errorf("no word is similar by %v", s.of(0))
	}
}

func TestComparedWords(t *testing.T) {
	if got := comparedWords("Use the PDF: split-pdf, café, x "+strings.Repeat("y", maxTerm+1), 3); !slices.Equal(got, []string{"pdf", "split", "cafe"}) {
		t.Errorf("compared are %q", got)
	}
	if got := comparedWords("one two three", 2); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("compared are %q", got)
	}
}

func TestGreatest(t *testing.T) {
	values := []float64{1, 5, 3, 5, 2, 4}
	for n, want := range map[int][]int{1: {1}, 3: {1, 3, 5}, 10: {1, 3, 5, 2, 4, 0}} {
		if got := greatest(values, n); !slices.Equal(got, want) {
			t.Errorf("the %d greatest are at %v, want %v", n, got, want)
		}
	}
}

// The words of documents survive a change of the others.
func TestWordsOfPreviousIndex(t *testing.T) {
	x := built(shelf...)
	sources := []Source{source(shelf[3]), source(Document{Name: "new", Description: "something else"}), source(shelf[0])}
	next, fresh := Build(x, sources), Build(nil, sources)
	words := func(x *Index, document int) (words []string) {
		for _, at := range x.words.of(document) {
			words = append(words, x.words.words[at])
		}
		slices.Sort(words)
		return words
	}
	for document := range sources {
		if got, want := words(next, document), words(fresh, document); !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("document %d: %q, want %q", document, got, want)
		}
	}
	if got, want := len(next.words.words), len(fresh.words.words); got != want {
		t.Errorf("%d words are kept, want %d", got, want)
	}
}

func BenchmarkSimilar(b *testing.B) {
	x := built(shelf...)
	for b.Loop() {
		s := newSimilar(x.words, "what should the person on call do when the database is down? write it down")
		for document := range x.Len() {
			s.of(document)
		}
	}
}
