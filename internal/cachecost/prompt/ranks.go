package prompt

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// vocabularySize is above the numbers of all tokens, and noRank above all ranks.
const (
	vocabularySize = 199_998
	noRank         = 1<<32 - 1
)

// del is the delete character, which the codec loses, and delToken its token.
const (
	del      = "\x7f"
	delToken = 221
)

// ranks finds tokens by their texts. The number of a token is its rank: of two pairs, the one with the lesser
// rank is merged first. Texts of up to seven bytes, which are most of those that are looked up, need no map.
type ranks struct {
	bytes [1 << 8]uint32
	pairs []uint32 // by both bytes
	// keys and ids are a hash table of texts of 3 to 7 bytes. A key has the length in its highest byte, so
	// that 0 is an empty slot.
	keys []uint64
	ids  []uint32
	// has has a bit for each key, and for few others: most texts that are looked up are no tokens.
	has  []uint64
	long map[string]uint32
}

// slotBits is the size of the hash table, of which less than a half is used, and hasBits that of has.
const (
	slotBits = 18
	hasBits  = 20
)

func openCodec() (tokenizer.Codec, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("open vocabulary: %w", err)
	}
	return codec, nil
}

// readRanks reads the vocabulary, once.
var readRanks = sync.OnceValues(func() (*ranks, error) {
	codec, err := openCodec()
	if err != nil {
		return nil, err
	}
	r := &ranks{pairs: make([]uint32, 1<<16), keys: make([]uint64, 1<<slotBits), ids: make([]uint32, 1<<slotBits), has: make([]uint64, 1<<(hasBits-6)), long: make(map[string]uint32, vocabularySize/2)}
	for i := range r.bytes {
		r.bytes[i] = noRank
	}
	for i := range r.pairs {
		r.pairs[i] = noRank
	}
	for id := range uint(vocabularySize) {
		text, err := codec.Decode([]uint{id})
		if id == delToken {
			text, err = del, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read vocabulary: %w", err)
		}
		r.add(text, uint32(id))
	}
	return r, nil
})

func (r *ranks) add(text string, id uint32) {
	switch n := len(text); {
	case n == 1:
		r.bytes[text[0]] = id
	case n == 2:
		r.pairs[pairOf(text)] = id
	case n <= maxPacked:
		key := pack(text, 0, n)
		hash := spread(key)
		at := hash >> (64 - slotBits)
		for r.keys[at] != 0 {
			at = (at + 1) % (1 << slotBits)
		}
		r.keys[at], r.ids[at] = key, id
		r.has[hash>>(64-hasBits)/64] |= 1 << (hash >> (64 - hasBits) % 64)
	default:
		r.long[text] = id
	}
}

// maxPacked is the length of texts that fit into a key.
const maxPacked = 7

// of returns the rank of text[start:end], or noRank if that is no token. The range is not empty.
func (r *ranks) of(text string, start, end int) uint32 {
	switch n := end - start; {
	case n == 1:
		return r.bytes[text[start]]
	case n == 2:
		return r.pairs[pairOf(text[start:])]
	case n <= maxPacked:
		key := pack(text, start, n)
		hash := spread(key)
		if r.has[hash>>(64-hasBits)/64]&(1<<(hash>>(64-hasBits)%64)) == 0 {
			return noRank
		}
		for at := hash >> (64 - slotBits); r.keys[at] != 0; at = (at + 1) % (1 << slotBits) {
			if r.keys[at] == key {
				return r.ids[at]
			}
		}
		return noRank
	}
	if id, ok := r.long[text[start:end]]; ok {
		return id
	}
	return noRank
}

func pairOf(text string) int { return int(text[0])<<8 | int(text[1]) }

// pack returns n bytes of a text as a key.
func pack(text string, start, n int) uint64 {
	var key uint64
	if start+8 <= len(text) {
		key = binary.LittleEndian.Uint64([]byte(text[start : start+8]))
		key &= 1<<(8*n) - 1
	} else {
		for i := range n {
			key |= uint64(text[start+i]) << (8 * i)
		}
	}
	return key | uint64(n)<<56
}

// spread returns a hash of a key, whose highest bits differ most.
func spread(key uint64) uint64 {
	key ^= key >> 29
	return key * 0x9e3779b97f4a7c15
}
