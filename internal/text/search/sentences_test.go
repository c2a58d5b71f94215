package search

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func cosine(a, b string) float64 {
	x := vectorOf(a)
	y := vectorOf(b)
	return float64(x.dot(&y)) / (x.length() * y.length())
}

// Texts of one meaning are nearer to each other than to others, whatever their words.
func TestVectorOf(t *testing.T) {
	pairs := [][2]string{
		{"merge these two PDFs", "a toolkit for combining documents"},
		{"my application is slow", "performance profiling and optimization"},
		{"compose a happy song", "generate music with lyrics"},
		{"customers cannot pay", "payment processing and checkout"},
		{"look for a flight to Rome", "travel planning"},
	}
	for i, pair := range pairs {
		own := cosine(pair[0], pair[1])
		for j, other := range pairs {
			if near := cosine(pair[0], other[1]); i != j && near >= own {
				t.Errorf("%q: %.2f to %q, %.2f to its own", pair[0], near, other[1], own)
			}
		}
	}
}

// TestBeginning checks which words the parts of a message hold.
func TestBeginning(t *testing.T) {
	m := vectorsOfMessage("Merge the the two files")
	for part, words := range []string{allWords: "merge the two files", firstWord: "merge", nextWords: "the the"} {
		if m.parts[part] != vectorOf(words) {
			t.Errorf("part %d is not the vector of %q", part, words)
		}
	}
	if m := vectorsOfMessage("Merge"); m.parts[firstWord] != m.parts[allWords] || m.parts[nextWords] != (vector{}) {
		t.Error("the vectors of one word")
	}
}

func TestKnownWords(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "…!": 0, "今天天气怎么样": 0, "write a letter": 1, "Écris, Résumé": 0.5, "zzqxv the": 0.5, "用pdf技能": 1.0 / 3, "naïve": 1, strings.Repeat("a1b2c3", 1000): 0,
	} {
		if m := vectorsOfMessage(text); m.known != want {
			t.Errorf("%.20q: %v of the words are known, want %v", text, m.known, want)
		}
	}
	if v := vectorOf("今天天气怎么样"); v != (vector{}) {
		t.Errorf("the vector of a text without words is %v", v)
	}
}

// The vector of a text does not depend on case, accents or punctuation.
func TestVectorOfSameText(t *testing.T) {
	want := vectorOf("create a resume in Word")
	for _, text := range []string{"Create a RÉSUMÉ in Word!", "create-a-resume_in.word", "create, a 履歴書 resume in (word)"} {
		if got := vectorOf(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// The file has what its format says.
func TestSentenceModel(t *testing.T) {
	v := loadedVocabulary()
	if n := len(v.words); n < 50_000 || len(v.scales) != n || len(v.numbers) != n*vectorSize/2 || !slices.IsSorted(v.words) {
		t.Fatalf("%d pieces and pairs, %d scales, %d bytes of numbers, sorted %t", n, len(v.scales), len(v.numbers), slices.IsSorted(v.words))
	}
	isPlain := func(word string) bool {
		return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	}
	for i, word := range v.words {
		if i > 0 && v.words[i-1] == word {
			t.Errorf("%q stands twice", word)
		}
		first, second, isPair := strings.Cut(word, string(pairMark))
		if piece := strings.TrimPrefix(word, pieceMark); isPair && (!isPlain(first) || !isPlain(second)) || !isPair && (!isPlain(piece) || len(piece) > maxPiece) {
			t.Errorf("piece or pair %q", word)
		}
	}
	if scaleOf[255] != 1 || scaleOf[255-scaleSteps] != 0.5 {
		t.Errorf("scales %v and %v, want 1 and 0.5", scaleOf[255], scaleOf[255-scaleSteps])
	}
}

func FuzzVectorOf(f *testing.F) {
	f.Add("Merge these two PDFs, 请帮我\xff")
	f.Fuzz(func(t *testing.T, text string) {
		m := vectorsOfMessage(text)
		v := m.parts[allWords]
		if length := v.length(); m.known < 0 || m.known > 1 || math.IsNaN(length) {
			t.Errorf("%v of the words are known, length %v", m.known, length)
		}
		if task := loadedVocabulary().tasks.score(&m); math.IsNaN(task) {
			t.Error("how much it is a task is no number")
		}
		if v != (vector{}) && !slices.ContainsFunc(v[:], func(n int8) bool { return n == math.MaxInt8 || n == -math.MaxInt8 }) {
			t.Errorf("%v does not use all of its range", v)
		}
	})
}

func BenchmarkVectorOf(b *testing.B) {
	loadedVocabulary()
	for b.Loop() {
		vectorOf("what should the person on call do when the database is down? write it down")
	}
}

func BenchmarkLoadVocabulary(b *testing.B) {
	for b.Loop() {
		loadVocabulary()
	}
}

func BenchmarkDot(b *testing.B) {
	x := vectorOf("merge two PDFs")
	y := vectorOf("combine documents")
	for b.Loop() {
		x.dot(&y)
	}
}
