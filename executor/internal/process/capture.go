package process

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/satchel-go/satchel/executor"
)

// capture keeps the head and the tail of what is written to it. Its memory is
// bounded by headMax+tailMax and grows only as needed.
type capture struct {
	mu               sync.Mutex
	headMax, tailMax int
	head, tail       []byte
	oldest           int // index in tail of its oldest byte, once tail is full
	total            int64
}

func newCapture(keep int64) *capture {
	return &capture{headMax: int(keep - keep/2), tailMax: int(keep / 2)}
}

// Write never fails.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.headMax - len(c.head); room > 0 {
		take := min(room, len(p))
		c.head = append(c.head, p[:take]...)
		p = p[take:]
	}
	p = p[max(0, len(p)-c.tailMax):]
	if room := c.tailMax - len(c.tail); room > 0 {
		take := min(room, len(p))
		c.tail = append(c.tail, p[:take]...)
		p = p[take:]
	}
	for len(p) > 0 {
		copied := copy(c.tail[c.oldest:], p)
		c.oldest = (c.oldest + copied) % c.tailMax
		p = p[copied:]
	}
	return n, nil
}

// stream returns a copy of what the capture has kept.
func (c *capture) stream() executor.Stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	head := slices.Clone(c.head)
	tail := slices.Concat(c.tail[c.oldest:], c.tail[:c.oldest])
	if c.total == int64(len(head)+len(tail)) {
		return executor.Stream{Head: append(head, tail...)}
	}
	head, tail = wholeHead(head), wholeTail(tail)
	return executor.Stream{Head: head, Tail: tail, Dropped: c.total - int64(len(head)+len(tail))}
}

// wholeHead removes an incomplete character at the end.
func wholeHead(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if last := b[len(b)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-back]
			}
			return b
		}
	}
	return b
}

// wholeTail removes the rest of an incomplete character at the beginning.
func wholeTail(b []byte) []byte {
	cut := 0
	for cut < len(b) && cut < utf8.UTFMax-1 && !utf8.RuneStart(b[cut]) {
		cut++
	}
	return b[cut:]
}
