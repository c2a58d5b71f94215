package prompt

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/tiktoken-go/tokenizer"
)

// vocabularySize is above the numbers of all tokens, and none is no token.
const (
	vocabularySize = 199_998
	none           = 1<<32 - 1
)

// del is the delete character, which the codec loses, and delToken its token.
const (
	del      = "\x7f"
	delToken = 221
)

// ranks holds the tokens of the vocabulary. The number of a token is its rank: of two pairs of neighbours, byte-pair
// encoding merges first the one whose token has the lesser rank. The tokens of single bytes are the first 256.
type ranks struct {
	tokens []tokenRank
	// merged is a hash table of pairs of tokens, with the tokens that they are merged to. byteMerged holds those
	// of pairs of bytes. isMerged has a bit for each pair of the table, which is smaller and so nearer to the processor.
	merged     []uint32
	isMerged   []uint64
	byteMerged [1 << 16]uint32
	// nodes are the beginnings of tokens, a trie. The first 256 are single bytes, and pairs holds those of two
	// bytes. The children of a node, which have one byte more, follow each other.
	nodes  []prefix
	pairs  []uint32 // by both bytes; 0 is none
	labels []byte   // the last byte of each node
	// others holds, for a node, one with the same parent and the same bit.
	others map[uint32]uint32
}

// A token and its size, or a token and a part of a hash, share 32 bits.
const (
	idBits = 18
	idMask = 1<<idBits - 1
)

// tokenRank is a token.
type tokenRank struct {
	// partners has a bit for each token behind this one that is merged with it, by the token's lowest bits.
	partners uint64
	// left and right are the pair that is merged to the token. Those of a byte are itself.
	left, right uint32
	// shorter is the longest shorter token with which this one begins, or none.
	shorter uint32
	size    uint16 // in bytes
}

// prefix is the beginning of a token.
type prefix struct {
	// byLabel has a bit for each child, by the lowest bits of its label. Children are in the order of these bits.
	byLabel uint64
	child   uint32 // the first one
	longest uint32 // the longest token with which the text of the node begins, and its size
}

func openCodec() (tokenizer.Codec, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("open vocabulary: %w", err)
	}
	return codec, nil
}

// readRanks reads the vocabulary, once.
var readRanks = sync.OnceValues(newVocabulary)

// ReadAhead reads beside the caller what texts of more than some hundred thousand bytes need, unless it is read.
func ReadAhead() { readAhead() }

var readAhead = sync.OnceFunc(func() {
	go func() { _, _ = readRanks() }() // who needs the ranks gets the error
})

// newVocabulary reads the vocabulary of the codec.
func newVocabulary() (*ranks, error) {
	codec, err := openCodec()
	if err != nil {
		return nil, err
	}
	texts := make([]string, vocabularySize)
	for id := range texts {
		if texts[id], err = codec.Decode([]uint{uint(id)}); id == delToken {
			texts[id], err = del, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read vocabulary: %w", err)
		}
	}
	return newRanks(texts), nil
}

// newRanks returns the ranks of tokens with texts, among which is each single byte.
func newRanks(texts []string) *ranks {
	r := &ranks{tokens: make([]tokenRank, len(texts)), merged: make([]uint32, 1<<pairBits), isMerged: make([]uint64, 1<<(mergedBits-6))}
	for i := range r.byteMerged {
		r.byteMerged[i] = none
	}
	r.addNodes(texts)
	for id, text := range texts {
		r.divide(uint32(id), text)
	}
	return r
}

// addNodes makes a node of each beginning of a token.
func (r *ranks) addNodes(texts []string) {
	// First the nodes stand in the order in which they are found. Each has a higher number than its parent.
	known := make(children, 1<<nodeBits)
	parents, labels, longest := make([]uint32, 1<<8, 3*len(texts)), make([]byte, 1<<8, 3*len(texts)), make([]uint32, 1<<8, 3*len(texts))
	for i := range labels {
		labels[i], longest[i] = byte(i), none
	}
	ends := make([]uint32, len(texts))
	for id, text := range texts {
		at := uint32(text[0])
		for i := 1; i < len(text); i++ {
			next := known.get(at, text[i])
			if next == 0 {
				next = uint32(len(labels))
				parents, labels, longest = append(parents, at), append(labels, text[i]), append(longest, none)
				known.put(at, text[i], next)
			}
			at = next
		}
		longest[at], ends[id] = uint32(id), at
		r.tokens[id].size, r.tokens[id].shorter = uint16(len(text)), none
	}
	for at := 1 << 8; at < len(longest); at++ {
		if longest[at] == none {
			longest[at] = longest[parents[at]]
		}
	}
	for id, at := range ends {
		if at >= 1<<8 {
			r.tokens[id].shorter = longest[parents[at]]
		}
	}
	// Then the children of a node get together.
	first, next := make([]uint32, len(labels)), make([]uint32, len(labels)) // lists of them
	for at := len(labels) - 1; at >= 1<<8; at-- {
		next[at], first[parents[at]] = first[parents[at]], uint32(at)
	}
	r.nodes, r.labels, r.pairs, r.others = make([]prefix, 0, len(labels)), make([]byte, 0, len(labels)), make([]uint32, 1<<16), map[uint32]uint32{}
	order := make([]uint32, 0, len(labels)) // former numbers
	add := func(at uint32) uint32 {
		order, r.labels = append(order, at), append(r.labels, labels[at])
		return uint32(len(order) - 1)
	}
	for b := range uint32(1 << 8) {
		add(b)
	}
	var byBit [64]uint32
	var more []uint32
	for at := uint32(0); int(at) < len(order); at++ {
		n := prefix{child: uint32(len(order)), longest: longest[order[at]]}
		if n.longest != none {
			n.longest |= uint32(r.tokens[n.longest].size) << idBits
		}
		more = more[:0]
		for child := first[order[at]]; child != 0; child = next[child] {
			if bit := labels[child] % 64; n.byLabel&(1<<bit) == 0 {
				n.byLabel |= 1 << bit
				byBit[bit] = child
			} else {
				more = append(more, child)
			}
		}
		for rest := n.byLabel; rest != 0; rest &= rest - 1 {
			add(byBit[bits.TrailingZeros64(rest)])
		}
		for _, child := range more {
			has := n.childAt(labels[child])
			for r.others[has] != 0 {
				has = r.others[has]
			}
			r.others[has] = add(child)
		}
		if at < 1<<8 {
			for child := n.child; int(child) < len(order); child++ {
				r.pairs[at<<8|uint32(r.labels[child])] = child
			}
		}
		r.nodes = append(r.nodes, n)
	}
}

// token returns the longest token with which the text of n begins.
func (n *prefix) token() (id uint32, size int) { return n.longest & idMask, int(n.longest >> idBits) }

// childAt returns the first child with the bit of a label, which the node has.
func (n *prefix) childAt(label byte) uint32 {
	return n.child + uint32(bits.OnesCount64(n.byLabel&(1<<(label%64)-1)))
}

// divide finds the pair that is merged to a token. Those of all lesser tokens are known.
func (r *ranks) divide(id uint32, text string) {
	t := &r.tokens[id]
	t.left, t.right = id, id
	for left := t.shorter; left != none; left = r.tokens[left].shorter {
		rest := text[r.tokens[left].size:]
		right, size := r.match(rest)
		if left < id && size == len(rest) && right < id && r.fit(left, right, false) {
			t.left, t.right = left, right
			r.tokens[left].partners |= 1 << (right % 64)
			r.addPair(left, right, id)
			return
		}
	}
}

// match returns the longest token with which a text begins. The text is not empty.
func (r *ranks) match(text string) (id uint32, size int) {
	if len(text) == 1 {
		return r.nodes[text[0]].token()
	}
	at := r.pairs[int(text[0])<<8|int(text[1])]
	if at == 0 {
		return r.nodes[text[0]].token()
	}
	n := &r.nodes[at]
	for i := 2; i < len(text); i++ {
		if n.byLabel&(1<<(text[i]%64)) == 0 {
			break
		}
		child := n.childAt(text[i])
		for r.labels[child] != text[i] {
			if child = r.others[child]; child == 0 {
				return n.token()
			}
		}
		n = &r.nodes[child]
	}
	return n.token()
}

// fit reports whether two tokens are neighbours in the encoding of their joined texts. It undoes their merges, the
// latest first, and looks for a pair across the border that would have been merged before. isLongest says that no
// longer token than left begins there, so the two are not such a pair.
func (r *ranks) fit(left, right uint32, isLongest bool) bool {
	limit := uint32(none)
	for {
		l, n := &r.tokens[left], &r.tokens[right]
		if !isLongest && l.partners&(1<<(right%64)) != 0 && r.pairOf(left, right) < limit {
			return false
		}
		isLongest = false
		isLeftByte, isRightByte := l.right == left, n.left == right
		switch {
		case isLeftByte && isRightByte:
			return true
		case isRightByte || left > right && !isLeftByte:
			limit, left = left, l.right
		default: // of two pairs of the same rank the first is merged first
			limit, right = right+1, n.left
		}
	}
}

// pairOf returns the token that two tokens are merged to, or none.
func (r *ranks) pairOf(left, right uint32) uint32 {
	if left < 1<<8 && right < 1<<8 {
		return r.byteMerged[left<<8|right]
	}
	hash := pairHash(left, right)
	if bit := hash >> (64 - mergedBits); r.isMerged[bit/64]&(1<<(bit%64)) == 0 {
		return none
	}
	at, mark := pairSlot(hash)
	for {
		slot := r.merged[at]
		if slot == 0 {
			return none
		}
		if slot>>idBits == mark {
			id := slot & idMask
			if t := &r.tokens[id]; t.left == left && t.right == right {
				return id
			}
		}
		at = (at + 1) % (1 << pairBits)
	}
}

// addPair adds the token that two tokens are merged to.
func (r *ranks) addPair(left, right, id uint32) {
	if left < 1<<8 && right < 1<<8 {
		r.byteMerged[left<<8|right] = id
		return
	}
	hash := pairHash(left, right)
	bit := hash >> (64 - mergedBits)
	r.isMerged[bit/64] |= 1 << (bit % 64)
	at, mark := pairSlot(hash)
	for r.merged[at] != 0 {
		at = (at + 1) % (1 << pairBits)
	}
	r.merged[at] = mark<<idBits | id
}

func pairHash(left, right uint32) uint64 {
	return (uint64(left)<<idBits | uint64(right)) * 0x9e3779b97f4a7c15
}

// pairSlot returns where the search for a pair with a hash begins, and the mark of the pair.
func pairSlot(hash uint64) (at, mark uint32) {
	return uint32(hash >> (64 - pairBits)), uint32(hash) >> idBits
}

// Sizes of hash tables, as powers of two. Less than a half is used.
const (
	nodeBits   = 20
	pairBits   = 19
	mergedBits = 21 // of which a tenth is set
)

// children is a hash table of nodes by their parents and labels.
type children []uint64 // key and node, or 0

func (c children) put(parent uint32, label byte, node uint32) {
	key, at := childKey(parent, label)
	for c[at] != 0 {
		at = (at + 1) % (1 << nodeBits)
	}
	c[at] = key<<32 | uint64(node)
}

// get returns a child, or 0.
func (c children) get(parent uint32, label byte) uint32 {
	key, at := childKey(parent, label)
	for ; c[at] != 0 && c[at]>>32 != key; at = (at + 1) % (1 << nodeBits) {
	}
	return uint32(c[at])
}

func childKey(parent uint32, label byte) (key, at uint64) {
	key = uint64(parent)<<8 | uint64(label)
	return key, key * 0x9e3779b97f4a7c15 >> (64 - nodeBits)
}
