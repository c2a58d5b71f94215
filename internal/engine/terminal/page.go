package terminal

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Request is what a reader wants of a session's text.
type Request struct {
	// Offset is where to begin; below 0 it is where the last page ended.
	Offset int64
	// Wait is for how long to wait for text, at most.
	Wait time.Duration
	// Bytes and Lines bound the page; 0 is no bound. In JSON, where a control
	// character takes six bytes, a page has at most twice as many as Bytes.
	Bytes, Lines int
}

// Page is a part of a session's text. Pages that are read without an offset
// follow one another: nothing is in two of them.
type Page struct {
	Text string
	// Offset and Next are where the page begins and ends in the whole text, and
	// End is where that ends by now; all in bytes.
	Offset, Next, End int64
	// Lost is how much before the page was asked for and is not kept.
	Lost int64
	// Asks says what the process seems to wait for; nil is nothing.
	Asks *Question
	// Ended: the process has ended and this is the last page. Final is then what
	// the finish of the session returned.
	Ended bool
	Final []byte
}

// next returns a page when it is full, when the process has ended or asks for something, or
// when the time is over. It waits a moment longer if the process may just have asked. When ctx
// ends first nothing counts as read.
func (o *output) next(ctx context.Context, r Request) (Page, error) {
	until := time.NewTimer(r.Wait)
	defer until.Stop()
	for left := inTime; ; {
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
			until.Reset(2 * settle)
		}
	}
}

// How much time a reader has left.
const (
	inTime = iota
	aMoment
	noTime
)

// page returns the page that is due, or what to wait for: a change, or the time
// after which what was just written may be a question. It is cheap while a
// process writes a lot: nothing is copied, and no question looked for.
func (o *output) page(r Request, left int) (p Page, changed <-chan struct{}, again time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, rest := o.cut(r)
	p.Ended = isClosed(o.ended) && p.Next == p.End
	due := p.Ended || p.Next < p.End
	if !due {
		var asks *Question
		if again = settle - time.Since(o.wrote); again <= 0 || left == aMoment {
			asks = o.question()
		}
		switch {
		case asks == nil:
			due = left != inTime
		case again <= 0:
			p.Asks, due = asks, true
		}
	}
	if !due {
		return Page{}, o.changed, again
	}
	p.Text = string(rest)
	if p.Ended {
		p.Final = o.final
	}
	o.read = max(o.read, p.Next) // a page that is read again changes nothing
	return p, nil, 0
}

// cut returns the place of the page and its text, which belongs to o. The page ends with
// a line if the line's end is near, and never inside a character.
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
	for len(rest) > 0 && !utf8.RuneStart(rest[0]) { // an offset of the reader's own
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

// lineBytes is the length of the first lines of a text.
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
