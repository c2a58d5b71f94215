package search

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// errStored reports bytes that are no stored index.
var errStored = errors.New("search: not a stored index")

// Keys returns the keys of the documents, in their order. The caller must not change the slice.
func (x *Index) Keys() []string {
	if x == nil {
		return nil
	}
	return x.keys
}

// Store encodes the index. Only [Load] of the same version of this package can read it.
func (x *Index) Store() []byte {
	if x == nil {
		x = &Index{words: newWordLists(nil, nil, nil)}
	}
	b := binary.AppendUvarint(nil, uint64(x.Len()))
	b = binary.AppendUvarint(b, uint64(len(x.words.words)))
	for _, word := range x.words.words {
		b = appendText(b, word)
	}
	for i := range x.Len() {
		b = appendText(appendText(b, x.keys[i]), x.names[i])
		for _, n := range x.lengths[i] {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, n := range x.vectors[i] {
			b = append(b, byte(n))
		}
		b = appendPlaces(b, x.words.of(i))
	}
	terms := slices.SortedFunc(maps.Keys(x.terms), func(a, b string) int { return int(x.terms[a].offset) - int(x.terms[b].offset) })
	b = binary.AppendUvarint(b, uint64(len(terms)))
	for _, term := range terms {
		p := x.terms[term]
		b = binary.AppendUvarint(binary.AppendUvarint(appendText(b, term), uint64(p.documents)), uint64(p.size))
	}
	return append(b, x.lists...)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendPlaces encodes a sorted list: its length, and the distance of each number from the previous one.
func appendPlaces(b []byte, places []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(places)))
	before := uint32(0)
	for _, at := range places {
		b = binary.AppendUvarint(b, uint64(at-before))
		before = at
	}
	return b
}

// Load decodes the bytes of [Index.Store]. For other bytes it returns an error, or an index with
// other documents that is safe to search.
func Load(data []byte) (*Index, error) {
	r := &reader{rest: string(data)}
	n := r.number(len(data) / (3 + int(fields) + vectorSize)) // each document has at least so many bytes
	words := make([]string, r.number(len(r.rest)))
	for i := range words {
		words[i] = r.text()
	}
	x := &Index{
		keys: make([]string, n), names: make([]string, n), lengths: make([][fields]uint16, n),
		vectors: make([]vector, n),
	}
	var lists []uint32
	ends := make([]uint32, n)
	for i := range n {
		x.keys[i], x.names[i] = r.text(), r.text()
		for f := range fields {
			x.lengths[i][f] = uint16(r.number(1<<16 - 1))
		}
		for at, c := range []byte(r.bytes(vectorSize)) {
			x.vectors[i][at] = int8(c)
		}
		lists = r.places(lists, len(words))
		ends[i] = uint32(len(lists))
	}
	x.words = newWordLists(words, lists, ends)
	x.naming = NewNaming(x.names)
	terms := r.number(len(r.rest) / 3)
	x.terms = make(map[string]posting, terms)
	end := 0
	for range terms {
		term := r.text()
		p := posting{offset: uint32(end), documents: uint32(r.number(n))}
		p.size = uint32(r.number(len(data)))
		end += int(p.size)
		x.terms[term] = p
	}
	if r.failed || end != len(r.rest) || uint64(end) > 1<<32-1 {
		return nil, errStored
	}
	x.lists = []byte(r.rest)
	for _, p := range x.terms {
		if !isList(x.lists[p.offset:p.offset+p.size], n) {
			return nil, errStored
		}
	}
	x.normalise()
	return x, nil
}

// isList reports whether appendList can have written the bytes, for an index of n documents.
func isList(list []byte, n int) bool {
	document := int64(-1)
	for len(list) > 0 {
		distance, size := binary.Uvarint(list)
		if size <= 0 || distance>>1 == 0 || distance>>1 > uint64(n) {
			return false
		}
		document += int64(distance >> 1)
		if document >= int64(n) {
			return false
		}
		list = list[size:]
		counts := 1 // bytes
		if distance&1 == 0 && len(list) > 0 {
			for f := range fields {
				counts += int(list[0] >> f & 1)
			}
		}
		if len(list) < counts {
			return false
		}
		list = list[counts:]
	}
	return true
}

// reader reads numbers and texts. After an error failed is set, and it reads zeros.
type reader struct {
	rest   string
	failed bool
}

// number reads a number of at most limit.
func (r *reader) number(limit int) int {
	var n uint64
	for shift := 0; shift < 64 && len(r.rest) > 0; shift += 7 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if n > uint64(limit) {
				break
			}
			return int(n)
		}
	}
	r.failed, r.rest = true, ""
	return 0
}

// places appends the numbers of a list of appendPlaces, which must be less than limit.
func (r *reader) places(list []uint32, limit int) []uint32 {
	at := 0
	for range r.number(len(r.rest)) {
		if at += r.number(limit); at >= limit {
			r.failed = true
			break
		}
		list = append(list, uint32(at))
	}
	return list
}

func (r *reader) text() string { return r.bytes(r.number(len(r.rest))) }

// bytes reads n bytes, or fewer after an error.
func (r *reader) bytes(n int) string {
	text := r.rest[:min(n, len(r.rest))]
	r.failed = r.failed || len(text) < n
	r.rest = r.rest[len(text):]
	return text
}
