package search

import "slices"

// wordPairs finds the pairs of words of a text that the vocabulary has. Their vectors say what the words mean
// together: "pull request", "log in".
type wordPairs struct {
	vocabulary *vocabulary
	before     string    // the previous word
	topics     [2]string // the last words that are no stop words, the latest first
	found      []int     // places in the vocabulary
	key        []byte
}

// add takes the next word of the text. It makes a pair with the word before it. If it is no stop word, it makes
// one with each of the two such words before it, too.
func (p *wordPairs) add(word string) {
	if word == "" {
		return
	}
	p.look(p.before, word)
	p.before = word
	if stopWords[word] {
		return
	}
	for _, topic := range p.topics {
		p.look(topic, word)
	}
	p.topics = [2]string{word, p.topics[0]}
}

func (p *wordPairs) look(first, second string) {
	if first == "" {
		return
	}
	p.key = append(append(append(p.key[:0], first...), pairMark), second...)
	if i := p.vocabulary.find(p.key); i >= 0 {
		p.found = append(p.found, i)
	}
}

// addTo adds the vectors of the pairs, each once.
func (p *wordPairs) addTo(sum *[vectorSize]float32) {
	slices.Sort(p.found)
	for _, i := range slices.Compact(p.found) {
		p.vocabulary.addPiece(sum, i)
	}
}
