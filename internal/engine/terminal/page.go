package terminal

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Request describes the page that a reader wants.
type Request struct {
	// Offset is where the page begins. If it is negative, the page begins where the last page
	// ended.
	Offset int64
	// Wait bounds how long to wait for text.
	Wait time.Duration
	// Bytes and Lines bound the page; 0 means no bound. In JSON, where a control character takes
	// six bytes, a page takes at most twice Bytes.
	Bytes, Lines int
}

// Page is a part of a session's text. Pages that are read without an offset follow each other
// without overlap.
type Page struct {
	Text string
	// Offset and Next are where the page begins and ends in the whole text, and End is the
	// present length of the text, all in bytes.
	Offset, Next, End int64
	// Lost is how many requested bytes before the page are not kept any more.
	Lost int64
	// Asks is what the process seems to wait for, nil for nothing.
	Asks *Question
	// IsLast reports that the process has ended and this is the last page. Final is then the
	// result of Finish.
	IsLast bool
	Final  []byte
}

// next returns a page when it is full, when the process has ended or asks for something, or when
// r.Wait is over. It waits a moment longer if the process may just have asked. If ctx ends first,
// nothing counts as read.
func (o *output) next(ctx context.Context, r Request) (Page, error) {
	until := time.NewTimer(r.Wait)
	defer until.Stop()
	for left := waiting; ; {
		page, changed, again := o.page(r, left)
		if changed == nil {
			return page, nil
		}
		var quiet <-chan time.Time
		if again > 0 {
			quiet = time.After(again)
		}
		select {
		case <-ctx.Done():
			return Page{}, ctx.Err()
		case <-changed:
		case <-quiet:
		case <-until.C:
			left++
			until.Reset(2 * settleTime)
		}
	}
}

// The stages of a reader's wait.
const (
	waiting = iota
	lastMoment
	timeOver
)

// page returns the page if it is ready. Otherwise it returns what to wait for: a change, or the
// time after which the last output may count as a question. It copies nothing and looks for no
// question while the process writes, because it is called for each write.
func (o *output) page(r Request, left int) (p Page, changed <-chan struct{}, again time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, rest := o.cut(r)
	p.IsLast = isClosed(o.ended) && p.Next == p.End
	due := p.IsLast || p.Next < p.End
	if !due {
		var asks *Question
		if again = settleTime - time.Since(o.lastWrite); again <= 0 || left == lastMoment {
			asks = o.question()
		}
		switch {
		case asks == nil:
			due = left != waiting
		case again <= 0:
			p.Asks, due = asks, true
		}
	}
	if !due {
		return Page{}, o.changed, again
	}
	p.Text = string(rest)
	if p.IsLast {
		p.Final = o.final
	}
	o.read = max(o.read, p.Next) // a page that is read again changes nothing
	return p, nil, 0
}

// cut returns the position and the text of a page. The text shares memory with o. The page ends
// with a line if a line end is near, and never within a character.
func (o *output) cut(r Request) (Page, []byte) {
	p := Page{Offset: r.Offset, End: o.endOffset()}
	if r.Offset < 0 {
		p.Offset = o.read
	}
	p.Offset = min(p.Offset, p.End)
	if lost := o.start - p.Offset; lost > 0 {
		p.Lost, p.Offset = lost, o.start
	}
	rest := o.text[p.Offset-o.start:]
	for len(rest) > 0 && !utf8.RuneStart(rest[0]) { // the reader chose an offset within a character
		rest = rest[1:]
		p.Offset++
	}
	n := len(rest)
	if r.Lines > 0 {
		n = lineBytes(rest, r.Lines)
	}
	if most := max(r.Bytes, utf8.UTFMax); r.Bytes > 0 && n > most {
		n = most
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n--
		}
		if i := bytes.LastIndexByte(rest[:n], '\n'); i >= n/2 {
			n = i + 1
		}
	}
	if r.Bytes > 0 {
		_, first := utf8.DecodeRune(rest[:n])
		n = min(n, max(len(plainjson.Prefix(string(rest[:n]), 2*r.Bytes)), first))
	}
	p.Next = p.Offset + int64(n)
	return p, rest[:n]
}

// lineBytes returns the length of the first lines of text.
func lineBytes(text []byte, lines int) int {
	n := 0
	for range lines {
		i := bytes.IndexByte(text[n:], '\n')
		if i < 0 {
			return len(text)
		}
		n += i + 1
	}
	return n
}
