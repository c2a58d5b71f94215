package packed

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Short records are deflated here. The writer of compress/flate clears hundreds of
// kilobytes for each of them and makes a code for it, which takes longer than a server
// takes to store what comes out. Here the code is always the same. What comes out is
// deflated data like any other: it begins with the code.

// shortLength is the length of data and dictionary together that is short: each
// distance in it can be told.
const shortLength = 32 << 10

// The symbols of deflated data: bytes, the end, classes of lengths; and classes of
// distances.
const (
	endSymbol     = 256
	lengthSymbols = 257
	symbols       = 286
	distances     = 30
	minMatch      = 4
	maxMatch      = 258
)

// code is the bits of a symbol, the first one lowest, and how many they are.
type code struct {
	bits uint64
	n    uint
}

var (
	symbolCodes   = codes(symbolLengths())
	distanceCodes = codes(distanceLengths())
	header        = headerOf(append(symbolLengths(), distanceLengths()...))
)

// symbolLengths are the lengths of the codes of symbols; 0 is for those that have none.
// Most of what a record does not repeat are digests.
func symbolLengths() []uint {
	lengths := make([]uint, symbols)
	for s := range lengths {
		switch {
		case s >= '0' && s <= '7':
			lengths[s] = 4
		case s == '8' || s == '9' || s >= 'a' && s <= 'f':
			lengths[s] = 5
		case s >= ' ' && s <= '~' || s == '\n' || s == endSymbol:
			lengths[s] = 9
		case s > lengthSymbols && s <= lengthSymbols+10:
			lengths[s] = 7
		case s >= lengthSymbols && s <= lengthSymbols+18:
			lengths[s] = 10
		case s >= lengthSymbols:
			lengths[s] = 11
		}
	}
	return lengths
}

func distanceLengths() []uint {
	lengths := make([]uint, distances)
	for d := range lengths {
		switch {
		case d >= 14 && d < 18:
			lengths[d] = 3
		case d >= 18 && d < 22:
			lengths[d] = 4
		case d >= 4 && d < 14:
			lengths[d] = 6
		default:
			lengths[d] = 7
		}
	}
	return lengths
}

// codes are the codes of these lengths, in the order that the format wants.
func codes(lengths []uint) []code {
	all := make([]code, len(lengths))
	next := uint64(0)
	for n := uint(1); n <= 15; n++ {
		next <<= 1
		for s, length := range lengths {
			if length == n {
				all[s] = code{bits.Reverse64(next) >> (64 - n), n}
				next++
			}
		}
	}
	return all
}

// Symbols of a header that say more than one length: the one before 3 to 6 times more,
// and none 3 to 10 times or 11 to 138 times.
const (
	again = 16
	none  = 17
	nones = 18
)

// headerOf is the beginning of a last block, in which codes have these lengths.
func headerOf(lengths []uint) *bitWriter {
	of := make([]uint, 19) // the code of the lengths themselves
	of[again] = 1
	for _, length := range []int{4, 5, 6, 7, 9, nones} {
		of[length] = 4
	}
	for _, length := range []int{3, 10, 11, none} {
		of[length] = 5
	}
	w := &bitWriter{}
	w.write(1|2<<1|(symbols-257)<<3|(distances-1)<<8|(19-4)<<13, 17)
	for _, length := range []int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15} {
		w.write(uint64(of[length]), 3)
	}
	all := codes(of)
	for i := 0; i < len(lengths); {
		same := 1
		for i+same < len(lengths) && lengths[i+same] == lengths[i] {
			same++
		}
		i += same
		switch {
		case lengths[i-1] == 0 && same > 10:
			w.code(all[nones])
			w.write(uint64(same-11), 7)
			continue
		case lengths[i-1] == 0:
			w.code(all[none])
			w.write(uint64(same-3), 3)
			continue
		}
		w.code(all[lengths[i-1]])
		for same--; same >= 3; same -= min(same, 6) {
			w.code(all[again])
			w.write(uint64(min(same, 6)-3), 2)
		}
		i -= same
	}
	return w
}

// bitWriter takes bits, the lowest first.
type bitWriter struct {
	out  []byte
	bits uint64
	n    uint
}

func (w *bitWriter) write(value uint64, n uint) {
	w.bits |= value << w.n
	if w.n += n; w.n >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.n -= 32
	}
}

func (w *bitWriter) code(c code) { w.write(c.bits, c.n) }

// match writes a repetition.
func (w *bitWriter) match(length, distance int) {
	class, more, extra := classOf(length-3, 2)
	if length == maxMatch {
		class, more, extra = symbols-lengthSymbols-1, 0, 0
	}
	w.code(symbolCodes[lengthSymbols+class])
	w.write(more, extra)
	class, more, extra = classOf(distance-1, 1)
	w.code(distanceCodes[class])
	w.write(more, extra)
}

// classOf is the class of a length or a distance above the least one, and the extra
// bits that tell it from others of the class. There are 1<<by classes for each number of
// them.
func classOf(above int, by uint) (class int, more uint64, extra uint) {
	if above < 2<<by {
		return above, 0, 0
	}
	extra = uint(bits.Len(uint(above))) - by - 1
	return int(extra)<<by + above>>extra, uint64(above & (1<<extra - 1)), extra
}

func (w *bitWriter) end() []byte {
	w.code(symbolCodes[endSymbol])
	for left := int(w.n); left > 0; left -= 8 {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
	return w.out
}

// places are where four bytes were seen: the last place by their hash, and by a place the
// one before it. 0 is none.
type places struct {
	last   [1 << 12]uint16
	before [shortLength]uint16
}

// deep is how many places are looked at.
const deep = 4

func (p *places) note(text []byte, i int) (last int) {
	place := &p.last[binary.LittleEndian.Uint32(text[i:])*2654435761>>20]
	last = int(*place)
	p.before[i] = *place
	*place = uint16(i)
	return last
}

// longest is the longest repetition at i of what was seen at a place or before it.
func (p *places) longest(text []byte, i, at int) (length, from int) {
	four := binary.LittleEndian.Uint32(text[i:])
	most := min(maxMatch, len(text)-i)
	for range deep {
		if at == 0 {
			break
		}
		if binary.LittleEndian.Uint32(text[at:]) == four {
			n := minMatch
			for n < most && text[at+n] == text[i+n] {
				n++
			}
			if n > length {
				length, from = n, at
			}
		}
		at = int(p.before[at])
	}
	return length, from
}

// shortWriter is what packs one record at a time, and is used again.
type shortWriter struct {
	text []byte          // dictionary and data
	last [1 << 12]uint16 // of the dictionary
	places
}

var shortWriters = sync.Pool{New: func() any {
	s := &shortWriter{text: []byte(Records)}
	for i := range len(Records) - minMatch {
		s.note(s.text, i)
	}
	s.last = s.places.last
	return s
}}

// packShort deflates a short record, or returns nil where it has a byte that has no code.
func packShort(data []byte) []byte {
	s := shortWriters.Get().(*shortWriter)
	defer shortWriters.Put(s)
	s.places.last = s.last
	s.text = append(s.text[:len(Records)], data...)
	text, i := s.text, len(Records)
	w := bitWriter{append(make([]byte, 0, len(header.out)+len(data)/2), header.out...), header.bits, header.n}
	for i < len(text) {
		length, at := 0, 0
		if i+minMatch <= len(text) {
			length, at = s.longest(text, i, s.note(text, i))
		}
		if length == 0 {
			c := symbolCodes[text[i]]
			if c.n == 0 {
				return nil
			}
			w.code(c)
			i++
			continue
		}
		w.match(length, i-at)
		i += length // what is within is not noted: it was seen before
	}
	return w.end()
}
