package prompt

import (
	"math/bits"
	"slices"
)

// merger merges the bytes of a text to tokens: again and again the first pair of neighbours with the least
// rank, until no pair is a token. It keeps its memory for the next text.
type merger struct {
	*ranks
	tokens []Token
	nodes  []segment
	queue  queue
	batch  []int32
}

// merge returns the tokens of a text. They are valid until the next call.
func (m *merger) merge(text string) []Token {
	m.tokens = m.tokens[:0]
	if id := m.of(text, 0, len(text)); id != noRank {
		return append(m.tokens, Token{id, uint16(len(text))})
	}
	if len(text) <= maxScanned {
		m.scan(text)
	} else {
		m.long(text)
	}
	return m.tokens
}

// scan looks for the least pair among all of a short text.
func (m *merger) scan(text string) {
	var starts [maxScanned + 1]uint8
	var ids [maxScanned + 1]uint32
	var ranks [maxScanned + 1]uint32 // of a part and its neighbour
	n := len(text)                   // parts
	for i := range n {
		starts[i], ids[i], ranks[i] = uint8(i), m.bytes[text[i]], noRank
		if i+1 < n {
			ranks[i] = m.pairs[pairOf(text[i:])]
		}
	}
	starts[n] = uint8(n)
	rank := func(i int) uint32 {
		if i+2 > n {
			return noRank
		}
		return m.of(text, int(starts[i]), int(starts[i+2]))
	}
	for {
		least, at := uint32(noRank), 0
		for i, r := range ranks[:n] {
			if r < least {
				least, at = r, i
			}
		}
		if least == noRank {
			break
		}
		ids[at] = least
		copy(starts[at+1:n], starts[at+2:n+1])
		copy(ids[at+1:n-1], ids[at+2:n])
		copy(ranks[at+1:n-1], ranks[at+2:n])
		n--
		if ranks[at] = rank(at); at > 0 {
			ranks[at-1] = rank(at - 1)
		}
	}
	for i := range n {
		m.tokens = append(m.tokens, Token{ids[i], uint16(starts[i+1] - starts[i])})
	}
}

// segment is a part of a long text, at the index of its first byte. rank is that of the part and its neighbour.
type segment struct {
	before, next int32
	id, rank     uint32
}

// long merges the pairs of a long text, those of the same rank together.
func (m *merger) long(text string) {
	n := int32(len(text))
	m.nodes = m.nodes[:0]
	m.queue.reset()
	for i := range n {
		rank := uint32(noRank)
		if i+1 < n {
			rank = m.pairs[pairOf(text[i:])]
		}
		m.nodes = append(m.nodes, segment{i - 1, i + 1, m.bytes[text[i]], rank})
		m.queue.add(rank, i)
	}
	for rank := m.queue.least(); rank != noRank; rank = m.queue.least() {
		m.batch = m.queue.take(rank, m.batch[:0])
		for i, at := range m.batch {
			if m.nodes[at].rank != rank { // one of its parts was merged with another
				continue
			}
			if m.join(text, at) < rank { // a new pair comes before the others
				for _, at := range m.batch[i+1:] {
					m.queue.add(rank, at)
				}
				break
			}
		}
	}
	for at := int32(0); at < n; at = m.nodes[at].next {
		m.tokens = append(m.tokens, Token{m.nodes[at].id, uint16(m.nodes[at].next - at)})
	}
}

// join merges the part at an index and its neighbour, and returns the least rank of the pairs that this
// has made.
func (m *merger) join(text string, at int32) uint32 {
	gone := m.nodes[at].next
	next := m.nodes[gone].next
	m.nodes[gone].rank, m.nodes[at].id, m.nodes[at].next = noRank, m.nodes[at].rank, next
	if int(next) < len(text) {
		m.nodes[next].before = at
	}
	rank := m.rank(text, at)
	m.nodes[at].rank = rank
	m.queue.add(rank, at)
	if before := m.nodes[at].before; before >= 0 {
		other := m.rank(text, before)
		m.nodes[before].rank = other
		m.queue.add(other, before)
		rank = min(rank, other)
	}
	return rank
}

// rank returns the rank of the part at an index and its neighbour.
func (m *merger) rank(text string, at int32) uint32 {
	next := m.nodes[at].next
	if int(next) == len(text) {
		return noRank
	}
	return m.of(text, int(at), int(m.nodes[next].next))
}

// queue holds pairs by their rank. A pair is the index of its first byte.
type queue struct {
	lists []list
	used  []uint64 // a bit for each list that is not empty
	low   int      // no element of used before this one has a bit
	pairs []queued
}

// list is a list of pairs, by their indexes in a queue plus 1. 0 is none.
type list struct{ first, last int32 }

type queued struct{ at, next int32 }

func (q *queue) reset() {
	if q.lists == nil {
		q.lists, q.used = make([]list, vocabularySize), make([]uint64, vocabularySize/64+1)
	}
	q.pairs, q.low = q.pairs[:0], len(q.used)
}

// add adds a pair, unless its rank is noRank.
func (q *queue) add(rank uint32, at int32) {
	if rank == noRank {
		return
	}
	q.pairs = append(q.pairs, queued{at: at})
	added, l := int32(len(q.pairs)), &q.lists[rank]
	if l.first == 0 {
		l.first = added
		q.used[rank/64] |= 1 << (rank % 64)
		q.low = min(q.low, int(rank/64))
	} else {
		q.pairs[l.last-1].next = added
	}
	l.last = added
}

// least returns the least rank of all pairs, or noRank.
func (q *queue) least() uint32 {
	for ; q.low < len(q.used); q.low++ {
		if bit := bits.TrailingZeros64(q.used[q.low]); bit < 64 {
			return uint32(q.low*64 + bit)
		}
	}
	return noRank
}

// take removes the pairs of a rank, and appends them to batch in the order of the text.
func (q *queue) take(rank uint32, batch []int32) []int32 {
	for i := q.lists[rank].first; i != 0; i = q.pairs[i-1].next {
		batch = append(batch, q.pairs[i-1].at)
	}
	q.lists[rank] = list{}
	q.used[rank/64] &^= 1 << (rank % 64)
	if !slices.IsSorted(batch) {
		slices.Sort(batch)
	}
	return batch
}
