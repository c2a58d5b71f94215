package terminal

import (
	"sync"
	"time"
	"unicode/utf8"
)

// output keeps the end of a session's text. Offsets count bytes from the beginning of the whole
// text.
type output struct {
	limit int
	guess Guess // may be nil

	mu    sync.Mutex
	clean *cleaner
	text  []byte
	start int64 // offset at which text begins
	read  int64 // offset up to which pages have returned the text
	// answeredUpTo is the offset up to which prompts have been answered.
	answeredUpTo int64
	changed      chan struct{} // closed with the next change
	lastWrite    time.Time     // the last write
	ended        chan struct{} // closed with the last change
	final        []byte
}

func newOutput(limit int, clean *cleaner) *output {
	return &output{limit: limit, clean: clean, changed: make(chan struct{}), ended: make(chan struct{})}
}

// Write adds output of the process. It never fails and never blocks.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.add(p, false)
	o.lastWrite = time.Now()
	return len(p), nil
}

// end notes that the process will write nothing more. final is the result of Finish.
func (o *output) end(final []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.final = final
	o.add(nil, true)
	close(o.ended)
}

// add adds to the text and wakes those who wait for it. The caller holds o.mu.
func (o *output) add(p []byte, last bool) {
	o.text = o.clean.add(o.text, p, last)
	// With some room to spare, so that not every write moves the whole text.
	if len(o.text) > o.limit+o.limit/4 {
		o.forget(len(o.text) - o.limit)
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// forget drops the oldest n bytes, and the rest of a character that they would cut.
func (o *output) forget(n int) {
	for n < len(o.text) && !utf8.RuneStart(o.text[n]) {
		n++
	}
	o.text = append(o.text[:0], o.text[n:]...)
	o.start += int64(n)
}

// answer notes that the process has got input.
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
