package langchaingo

import (
	"encoding/json"
	"hash/maphash"
	"sync/atomic"
)

// validHashes holds the hashes of texts that were found to be JSON. Every model call repeats
// the history, and parsing the arguments of all its calls each time costs more than the rest of
// a request. The hashes have 64 bits and a seed that no model knows. The table stores no text
// and does not grow: in a full set the newest hash replaces the oldest.
//
// Two goroutines that write at the same time may lose one of the hashes. That text is then
// parsed again.
var (
	validHashes [maxHashSets]hashSet
	seed        = maphash.MakeSeed()
)

// hashSet holds the hashes with the same remainder, the newest first; 0 means none.
type hashSet [hashesPerSet]atomic.Uint64

func (p *hashSet) has(hash uint64) bool {
	for i := range p {
		if p[i].Load() == hash {
			return true
		}
	}
	return false
}

func (p *hashSet) add(hash uint64) {
	for i := len(p) - 1; i > 0; i-- {
		p[i].Store(p[i-1].Load())
	}
	p[0].Store(hash)
}

// valid reports whether text is JSON.
func valid(text string) bool {
	hash := maphash.String(seed, text)
	p := &validHashes[hash%uint64(len(validHashes))]
	if hash != 0 && p.has(hash) {
		return true
	}
	if !json.Valid([]byte(text)) {
		return false
	}
	p.add(hash)
	return true
}
