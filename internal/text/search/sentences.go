package search

import (
	_ "embed" // for sentenceModel
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// vectorSize is how many numbers a vector has. The firstNumbers of them say the most.
const (
	vectorSize   = 128
	firstNumbers = 64
)

const (
	// pieceMark begins a piece that continues a word, and pairMark stands between two words.
	pieceMark = "##"
	pairMark  = ' '
	// scaleSteps is by how many steps of a scale its value doubles.
	scaleSteps = 8
	// headerBytes is the length of the number of pieces and pairs.
	headerBytes = 4
)

// sentenceModel holds the vectors of pieces of English words, and of pairs of words. sentences/README.md says
// where they come from, and what the format is.
//
//go:embed sentences/model.bin
var sentenceModel string

// vocabulary finds the pieces of words, and pairs of words.
type vocabulary struct {
	tasks           *taskNet
	scales, numbers string
	words           []string // pieces and pairs, sorted
}

// loadedVocabulary returns the vocabulary. Programs that compare no texts never read it.
var loadedVocabulary = sync.OnceValue(loadVocabulary)

func loadVocabulary() *vocabulary {
	n := int(binary.LittleEndian.Uint32([]byte(sentenceModel[:headerBytes])))
	tasks, rest := sentenceModel[headerBytes:headerBytes+taskBytes], sentenceModel[headerBytes+taskBytes:]
	v := &vocabulary{tasks: readTaskNet(tasks), scales: rest[:n], numbers: rest[n : n+n*vectorSize/2], words: make([]string, 0, n)}
	for line := range strings.Lines(rest[n+n*vectorSize/2:]) {
		v.words = append(v.words, strings.TrimSuffix(line, "\n"))
	}
	return v
}

// vector is the direction of a text: texts of similar meaning have similar ones. The zero value is that
// of a text without a known word.
type vector [vectorSize]int8

// vectorOf returns the vector of a text.
func vectorOf(text string) vector {
	var sum [vectorSize]float32
	v := loadedVocabulary()
	p := wordPairs{vocabulary: v}
	eachWord(text, func(word string) {
		v.add(&sum, word)
		p.add(word)
	})
	p.addTo(&sum)
	return pack(&sum, math.MaxInt8)
}

// The parts of a message that have vectors of their own: all its words, the first one, and the two after that.
// The beginning tells commands from questions.
const (
	allWords = iota
	firstWord
	nextWords
	messageParts
)

// messageVectors are the vectors of a message.
type messageVectors struct {
	parts [messageParts]vector
	// known is the share of the words that the vocabulary has, from 0 to 1. It is low for texts that are not
	// English.
	known float64
}

// vectorsOfMessage returns the vectors of a message. In that of all words each word counts once, and repeated
// words are in no pair: pasted lines repeat words.
func vectorsOfMessage(text string) (m messageVectors) {
	var sums [messageParts][vectorSize]float32
	v := loadedVocabulary()
	seen := make(map[string]bool)
	p := wordPairs{vocabulary: v}
	place, words, whole := 0, 0, 0
	eachWord(text, func(word string) {
		switch place {
		case 0:
			v.add(&sums[firstWord], word)
		case 1, 2:
			v.add(&sums[nextWords], word)
		}
		place++
		if word != "" && seen[word] {
			return
		}
		seen[word] = true
		p.add(word)
		words++
		if v.add(&sums[allWords], word) == 1 {
			whole++
		}
	})
	if words == 0 {
		return m
	}
	p.addTo(&sums[allWords])
	for part := range sums {
		m.parts[part] = pack(&sums[part], math.MaxInt8)
	}
	m.known = float64(whole) / float64(words)
	return m
}

// add adds the vectors of the pieces of a word, the longest ones first. It returns their number.
func (v *vocabulary) add(sum *[vectorSize]float32, word string) int {
	pieces := 0
	var buffer [len(pieceMark) + maxPiece]byte
	prefix := 0
	for len(word) > 0 && pieces < maxPieces {
		piece := append(append(buffer[:0], pieceMark[:prefix]...), word[:min(len(word), maxPiece)]...)
		for ; len(piece) > prefix; piece = piece[:len(piece)-1] {
			if i := v.find(piece); i >= 0 {
				v.addPiece(sum, i)
				pieces++
				break
			}
		}
		word = word[max(1, len(piece)-prefix):]
		prefix = len(pieceMark)
	}
	return pieces
}

// find returns the place of a piece, or -1.
func (v *vocabulary) find(piece []byte) int {
	low, high := 0, len(v.words)
	for low < high {
		if middle := (low + high) / 2; v.words[middle] < string(piece) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < len(v.words) && v.words[low] == string(piece) {
		return low
	}
	return -1
}

func (v *vocabulary) addPiece(sum *[vectorSize]float32, i int) {
	scale := scaleOf[v.scales[i]]
	for n, b := range []byte(v.numbers[i*vectorSize/2 : (i+1)*vectorSize/2]) {
		sum[2*n] += scale * float32(int(b&15)-8)
		sum[2*n+1] += scale * float32(int(b>>4)-8)
	}
}

// scaleOf maps the byte of a scale to its value.
var scaleOf = func() (values [256]float32) {
	for i := range values {
		values[i] = float32(math.Exp2(float64(i-math.MaxUint8) / scaleSteps))
	}
	return values
}()

// pack returns the direction of a sum, with numbers up to greatest.
func pack(sum *[vectorSize]float32, greatest float32) (v vector) {
	most := float32(0)
	for _, n := range sum {
		most = max(most, n, -n)
	}
	if most == 0 {
		return v
	}
	for i, n := range sum {
		v[i] = int8(math.RoundToEven(float64(n / most * greatest)))
	}
	return v
}

// dot returns the scalar product of two vectors.
func (v *vector) dot(other *vector) int { return dot(v[:], other[:]) }

// dotFirst returns the scalar product of the first numbers of two vectors.
func (v *vector) dotFirst(other *vector) int { return dot(v[:firstNumbers], other[:firstNumbers]) }

// dot returns the scalar product of two lists of the same length, which is a multiple of 8.
func dot(v, w []int8) int {
	var a, b, c, d int32
	for len(v) >= 8 && len(w) >= 8 {
		a += int32(v[0])*int32(w[0]) + int32(v[4])*int32(w[4])
		b += int32(v[1])*int32(w[1]) + int32(v[5])*int32(w[5])
		c += int32(v[2])*int32(w[2]) + int32(v[6])*int32(w[6])
		d += int32(v[3])*int32(w[3]) + int32(v[7])*int32(w[7])
		v, w = v[8:], w[8:]
	}
	return int(a + b + c + d)
}

// length returns the length of a vector.
func (v *vector) length() float64 { return math.Sqrt(float64(v.dot(v))) }

// inverseRoot returns 1 / √n, or 0 for 0.
func inverseRoot(n int) float64 {
	if n == 0 {
		return 0
	}
	return 1 / math.Sqrt(float64(n))
}

// eachWord yields the runs of ASCII letters and digits of a text, in lower case and without accents. For
// a run of other letters it yields "".
func eachWord(text string, yield func(string)) {
	var word []byte
	isOther := false // the run is of other letters
	end := func() {
		if isOther || len(word) > 0 {
			yield(string(word))
		}
		word, isOther = word[:0], false
	}
	for _, r := range norm.NFKD.String(text) {
		switch r = unicode.ToLower(r); {
		case unicode.Is(unicode.Mn, r):
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if isOther {
				end()
			}
			word = append(word, byte(r))
		case unicode.IsLetter(r):
			if !isOther {
				end()
			}
			isOther = true
		default:
			end()
		}
	}
	end()
}
