// Package sentence compares English texts by their meaning. It adds up vectors of their words,
// which a file in the binary holds. README.md says where the vectors come from.
package sentence

import (
	_ "embed" // for model
	"encoding/binary"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Size is how many numbers a vector has.
const Size = 64

const (
	// maxPiece is the longest piece of the vocabulary, and maxPieces how many of a word count.
	maxPiece  = 24
	maxPieces = 20
	// pieceMark begins a piece that continues a word.
	pieceMark = "##"
	// steps is by how many steps of a scale its value doubles.
	steps = 8
	// headerBytes is the length of the number of pieces.
	headerBytes = 4
)

// model is the number of pieces, a byte of scale for each of them, Size numbers of 4 bits for each,
// and the sorted pieces in lines.
//
//go:embed model.bin
var model string

// vocabulary finds the pieces of words.
type vocabulary struct {
	scales, numbers string
	words           []string
}

// loaded returns the vocabulary. Programs that compare no texts never read it.
var loaded = sync.OnceValue(load)

func load() *vocabulary {
	n := int(binary.LittleEndian.Uint32([]byte(model[:headerBytes])))
	rest := model[headerBytes:]
	v := &vocabulary{scales: rest[:n], numbers: rest[n : n+n*Size/2], words: make([]string, 0, n)}
	for line := range strings.Lines(rest[n+n*Size/2:]) {
		v.words = append(v.words, strings.TrimSuffix(line, "\n"))
	}
	return v
}

// Vector is the direction of a text. The zero value is that of a text without a known word.
type Vector [Size]int8

// Of returns the vector of a text. known is the share of its words that the vocabulary has, from
// 0 to 1. It is low for texts that are not English.
func Of(text string) (v Vector, known float64) {
	var sum [Size]float32
	vocabulary := loaded()
	words, whole := 0, 0
	eachWord(text, func(word string) {
		words++
		pieces := vocabulary.add(&sum, word)
		if pieces == 1 {
			whole++
		}
	})
	if words == 0 {
		return v, 0
	}
	return pack(&sum), float64(whole) / float64(words)
}

// add adds the vectors of the pieces of a word, the longest ones first. It returns their number.
func (v *vocabulary) add(sum *[Size]float32, word string) int {
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

func (v *vocabulary) addPiece(sum *[Size]float32, i int) {
	scale := scaleOf[v.scales[i]]
	for n, b := range []byte(v.numbers[i*Size/2 : (i+1)*Size/2]) {
		sum[2*n] += scale * float32(int(b&15)-8)
		sum[2*n+1] += scale * float32(int(b>>4)-8)
	}
}

// scaleOf maps the byte of a scale to its value.
var scaleOf = func() (values [256]float32) {
	for i := range values {
		values[i] = float32(math.Exp2(float64(i-math.MaxUint8) / steps))
	}
	return values
}()

// pack returns the direction of a sum.
func pack(sum *[Size]float32) (v Vector) {
	most := float32(0)
	for _, n := range sum {
		most = max(most, n, -n)
	}
	if most == 0 {
		return v
	}
	for i, n := range sum {
		v[i] = int8(math.RoundToEven(float64(n / most * math.MaxInt8)))
	}
	return v
}

// Dot returns the scalar product of two vectors.
func (v *Vector) Dot(other *Vector) int {
	var a, b, c, d int32
	for i := 0; i < Size; i += 4 {
		a += int32(v[i]) * int32(other[i])
		b += int32(v[i+1]) * int32(other[i+1])
		c += int32(v[i+2]) * int32(other[i+2])
		d += int32(v[i+3]) * int32(other[i+3])
	}
	return int(a + b + c + d)
}

// Length returns the length of a vector.
func (v *Vector) Length() float64 { return math.Sqrt(float64(v.Dot(v))) }

// eachWord yields the runs of ASCII letters and digits of a text, in lower case and without accents.
func eachWord(text string, yield func(string)) {
	var word []byte
	end := func() {
		if len(word) > 0 {
			yield(string(word))
			word = word[:0]
		}
	}
	for _, r := range norm.NFKD.String(text) {
		switch r = unicode.ToLower(r); {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			word = append(word, byte(r))
		case r < utf8.RuneSelf || !unicode.Is(unicode.Mn, r):
			end()
		}
	}
	end()
}
