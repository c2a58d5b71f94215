package prompt

// merger merges the bytes of a text to tokens: again and again the first pair of neighbours with the least
// rank, until no pair is a token. It keeps its memory for the next text.
type merger struct {
	*ranks
	tokens []Token
	nodes  []segment
	heap   []candidate
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
		m.sort(text)
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

// candidate is a pair of parts: its rank, and in the lower half the index of its first byte.
type candidate uint64

func newCandidate(rank uint32, at int32) candidate { return candidate(rank)<<32 | candidate(at) }

// sort keeps the pairs of a long text in a heap.
func (m *merger) sort(text string) {
	n := int32(len(text))
	m.nodes, m.heap = m.nodes[:0], m.heap[:0]
	for i := range n {
		rank := uint32(noRank)
		if i+1 < n {
			rank = m.pairs[pairOf(text[i:])]
		}
		m.nodes = append(m.nodes, segment{i - 1, i + 1, m.bytes[text[i]], rank})
		if rank != noRank {
			m.heap = append(m.heap, newCandidate(rank, i))
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.heap) > 0 {
		top := m.heap[0]
		rank, at := uint32(top>>32), int32(top&(1<<32-1))
		if m.nodes[at].rank != rank { // one of its parts was merged with another
			m.pop()
			continue
		}
		gone := m.nodes[at].next
		next := m.nodes[gone].next
		m.nodes[gone].rank, m.nodes[at].id, m.nodes[at].next = noRank, rank, next
		if next < n {
			m.nodes[next].before = at
		}
		if rank = m.rank(text, at); rank == noRank {
			m.pop()
		} else {
			m.heap[0] = newCandidate(rank, at)
			m.down(0)
		}
		m.nodes[at].rank = rank
		if before := m.nodes[at].before; before >= 0 {
			rank := m.rank(text, before)
			if m.nodes[before].rank = rank; rank != noRank {
				m.push(newCandidate(rank, before))
			}
		}
	}
	for at := int32(0); at < n; at = m.nodes[at].next {
		m.tokens = append(m.tokens, Token{m.nodes[at].id, uint16(m.nodes[at].next - at)})
	}
}

// rank returns the rank of the part at an index and its neighbour.
func (m *merger) rank(text string, at int32) uint32 {
	next := m.nodes[at].next
	if int(next) == len(text) {
		return noRank
	}
	return m.of(text, int(at), int(m.nodes[next].next))
}

func (m *merger) pop() {
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	m.down(0)
}

func (m *merger) push(c candidate) {
	m.heap = append(m.heap, c)
	at := len(m.heap) - 1
	for at > 0 {
		above := (at - 1) / 4
		if m.heap[above] <= c {
			break
		}
		m.heap[at] = m.heap[above]
		at = above
	}
	m.heap[at] = c
}

// down moves a candidate down to its place. Each has four below it.
func (m *merger) down(at int) {
	h := m.heap
	if at >= len(h) {
		return
	}
	moved := h[at]
	for {
		first := 4*at + 1
		if first >= len(h) {
			break
		}
		least := first
		for i := first + 1; i < min(first+4, len(h)); i++ {
			if h[i] < h[least] {
				least = i
			}
		}
		if h[least] >= moved {
			break
		}
		h[at] = h[least]
		at = least
	}
	h[at] = moved
}
