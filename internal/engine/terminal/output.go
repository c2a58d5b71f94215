package terminal

import (
	"sync"
	"time"
	"unicode/utf8"
)

// output is the text of a session from a certain point on. Offsets count bytes
// of the whole text, the part that is kept no longer included.
type output struct {
	limit int
	guess Guess // may be nil

	mu    sync.Mutex
	clean *cleaner
	text  []byte
	start int64 // offset of text
	read  int64 // all before it was returned
	// answeredUpTo is the offset up to which prompts have been answered.
	answeredUpTo int64
	changed      chan struct{} // closed with the next change
	wrote        time.Time     // the last write
	ended        chan struct{} // closed with the last change
	final        []byte
}

func newOutput(limit int, clean *cleaner) *output {
	return &output{limit: limit, clean: clean, changed: make(chan struct{}), ended: make(chan struct{})}
}

// Write never fails and never waits.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(p, false)
	o.wrote = time.Now()
	return len(p), nil
}

// end says that nothing more will be written, and what became of the session.
func (o *output) end(final []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.final = final
	o.add(nil, true)
	close(o.ended)
}

// add adds to the text and tells those who wait for it. o.mu is held.
func (o *output) add(p []byte, last bool) {
	o.text = o.clean.add(o.text, p, last)
	// With some room to spare, so that not every write moves the whole text.
	if len(o.text) > o.limit+o.limit/4 {
		o.forget(len(o.text) - o.limit)
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// forget drops the oldest n bytes, and the rest of the character that they end
// in.
func (o *output) forget(n int) {
	for n < len(o.text) && !utf8.RuneStart(o.text[n]) {
		n++
	}
	o.text = append(o.text[:0], o.text[n:]...)
	o.start += int64(n)
}

// answer notes that the process was given input.
func (o *output) answer() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answeredUpTo = o.endOffset()
}

// tail returns the last n bytes of the text.
func (o *output) tail(n int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text[max(0, len(o.text)-n):])
}

func (o *output) endOffset() int64 { return o.start + int64(len(o.text)) }
