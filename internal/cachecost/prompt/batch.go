package prompt

import (
	"runtime"
	"sync"
	"unicode/utf8"
)

// batch is a range of a text that is encoded at a time: pieces, or parts of a long piece.
type batch struct {
	text   string
	ends   []int // of pieces and parts
	tokens []Token
	done   chan struct{} // gets a value when the batch is encoded
}

// scanner divides a text into batches.
type scanner struct {
	rest string
	left int // bytes of the piece that rest begins within
}

// next sets the text of a batch to the next range. It returns false at the end of the text.
func (s *scanner) next(b *batch) bool {
	b.ends = b.ends[:0]
	n := 0
	for n < maxPart && n < len(s.rest) {
		if s.left == 0 {
			s.left = piece(s.rest[n:])
		}
		size := partSize(s.rest[n : n+s.left])
		n, s.left = n+size, s.left-size
		b.ends = append(b.ends, n)
	}
	b.text, s.rest = s.rest[:n], s.rest[n:]
	return n > 0
}

// partSize returns how many bytes of a piece are encoded at a time.
func partSize(piece string) int {
	if len(piece) <= maxPart {
		return len(piece)
	}
	n := maxPart
	for !utf8.RuneStart(piece[n]) {
		n--
	}
	return n
}

// encode sets the tokens of a batch.
func (b *batch) encode(m *merger) {
	b.tokens = b.tokens[:0]
	at := 0
	for _, end := range b.ends {
		b.tokens = m.encode(b.tokens, b.text[at:end])
		at = end
	}
}

// merge yields the tokens of a text in batches. It returns false if yield has done so.
func (p *Pieces) merge(s *scanner, yield func([]Token) bool) bool {
	workers := min(runtime.GOMAXPROCS(0), maxWorkers)
	if len(s.rest) <= minParallel {
		workers = 1
	}
	for len(p.mergers) < workers {
		p.mergers = append(p.mergers, &merger{ranks: p.ranks})
	}
	if workers > 1 {
		return mergeParallel(p.mergers[:workers], s, yield)
	}
	defer p.mergers[0].forget()
	for b := new(batch); s.next(b); {
		b.encode(p.mergers[0])
		if !yield(b.tokens) {
			return false
		}
	}
	return true
}

// mergeParallel encodes batches with one goroutine for each merger. Not many batches are ahead of yield.
func mergeParallel(mergers []*merger, s *scanner, yield func([]Token) bool) bool {
	batches := make([]batch, 2*len(mergers))
	work := make(chan *batch, len(batches))
	var workers sync.WaitGroup
	defer workers.Wait()
	defer close(work)
	for _, m := range mergers {
		workers.Go(func() {
			defer m.forget()
			for b := range work {
				b.encode(m)
				b.done <- struct{}{}
			}
		})
	}
	for i := range batches {
		batches[i].done = make(chan struct{}, 1)
	}
	for first, end := 0, 0; ; first++ {
		for end-first < len(batches) {
			b := &batches[end%len(batches)]
			if !s.next(b) {
				break
			}
			work <- b
			end++
		}
		if first == end {
			return true
		}
		b := &batches[first%len(batches)]
		<-b.done
		if !yield(b.tokens) {
			return false
		}
	}
}
