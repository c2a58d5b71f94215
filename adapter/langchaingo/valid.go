package langchaingo

import (
	"encoding/json"
	"hash/maphash"
	"sync/atomic"
)

// known holds the hashes of texts that were found to be JSON. A history comes again in every
// call, and parsing the arguments of all its calls each time costs more than the rest of a
// request. The hashes have 64 bits and a seed that no model knows. No text is kept, and the
// memory does not grow: if a place is full, the oldest text is forgotten.
//
// Two goroutines that write at one time may lose one of the hashes. That text is then parsed
// again.
var (
	known [4096]place
	seed  = maphash.MakeSeed()
)

// place holds the hashes that belong there, the newest first; 0 is none.
type place [4]atomic.Uint64

func (p *place) has(hash uint64) bool {
	for i := range p {
		if p[i].Load() == hash {
			return true
		}
	}
	return false
}

func (p *place) add(hash uint64) {
	for i := len(p) - 1; i > 0; i-- {
		p[i].Store(p[i-1].Load())
	}
	p[0].Store(hash)
}

// valid reports whether text is JSON.
func valid(text string) bool {
	hash := maphash.String(seed, text)
	p := &known[hash%uint64(len(known))]
	if hash != 0 && p.has(hash) {
		return true
	}
	if !json.Valid([]byte(text)) {
		return false
	}
	p.add(hash)
	return true
}
