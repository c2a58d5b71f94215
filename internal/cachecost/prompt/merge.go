package prompt

// merger encodes texts as byte-pair encoding does: the first pair of neighbours with the least rank is merged, until
// no pair is a token. It finds the same tokens from left to right: at each place the longest that fits behind the one
// before, and a shorter one where no other fits behind it. It keeps its memory for the next text.
type merger struct {
	*ranks
	// ended has a bit for each end of a token behind which no token fits.
	ended  []uint64
	recent recent
	// last is the last long text, and its tokens.
	last       string
	lastTokens []Token
}

// forget forgets texts that are large, so that they can be freed.
func (m *merger) forget() { m.last, m.lastTokens = "", nil }

// encode appends the tokens of a text, which is not empty, to out.
func (m *merger) encode(out []Token, text string) []Token {
	switch n := len(text); {
	case n >= minRepeated:
		if text != m.last {
			m.last, m.lastTokens = text, m.merge(m.lastTokens[:0], text)
		}
		return append(out, m.lastTokens...)
	case n < minRecent || n > maxRecent:
		return m.merge(out, text)
	}
	key, p := m.recent.place(text)
	if p.text == key && int(p.size) == len(text) {
		return append(out, Token{p.token, uint16(p.size)})
	}
	first := len(out)
	out = m.merge(out, text)
	if len(out) == first+1 {
		*p = recentPiece{key, out[first].ID, uint32(len(text))}
	}
	return out
}

// merge appends the tokens of a text, which is not empty, to out.
func (m *merger) merge(out []Token, text string) []Token {
	next, size := m.match(text)
	if size == len(text) {
		return append(out, Token{next, uint16(len(text))})
	}
	words := len(text)/64 + 1
	if cap(m.ended) < words {
		m.ended = make([]uint64, words)
	}
	m.ended = m.ended[:words]
	clear(m.ended)
	first, at := len(out), 0
	isLongest, wasLongest := true, false // next and the token before it are the longest at their places
	for {
		end := at + size
		if m.ended[end/64]&(1<<(end%64)) == 0 && (len(out) == first || m.fit(out[len(out)-1].ID, next, wasLongest)) {
			out = append(out, Token{next, uint16(size)})
			if at = end; at == len(text) {
				return out
			}
			next, size = m.match(text[at:])
			isLongest, wasLongest = true, isLongest
			continue
		}
		if next = m.tokens[next].shorter; next != none {
			isLongest = false
			size = int(m.tokens[next].size)
			continue
		}
		m.ended[at/64] |= 1 << (at % 64)
		last := out[len(out)-1]
		out, at, next, size = out[:len(out)-1], at-int(last.Size), last.ID, int(last.Size)
		isLongest, wasLongest = false, false
	}
}
