package terminal

import (
	"bytes"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// cleaner turns the bytes of a process into text that may be shown: lines end
// as the process wrote them, secrets are gone, and all is UTF-8. The text does
// not depend on how the bytes were divided. A piece that may go on as a line end, a
// secret or a character is held back until the next bytes decide.
type cleaner struct {
	lines   *lineEnds // nil: left as they are
	secrets redact.Stream
	chars   characters
}

func newCleaner(tty bool, secrets []Secret) *cleaner {
	c := &cleaner{secrets: redact.Stream{Set: redact.NewSet(secrets)}}
	if tty {
		c.lines = &lineEnds{}
	}
	return c
}

// add appends to text what p gives to show after all that came before it. After
// the last p nothing is held back.
func (c *cleaner) add(text, p []byte, last bool) []byte {
	if c.lines != nil {
		p = c.lines.add(p, last)
	}
	return c.chars.add(text, c.secrets.Add(p, last), last)
}

// lineEnds undoes what a terminal does to the end of a line, which is to show
// "\n" as "\r\n".
type lineEnds struct{ held bool }

func (l *lineEnds) add(p []byte, last bool) []byte {
	out := make([]byte, 0, len(p)+1)
	for _, b := range p {
		if l.held && b != '\n' {
			out = append(out, '\r')
		}
		if l.held = b == '\r'; !l.held {
			out = append(out, b)
		}
	}
	if l.held && last {
		out, l.held = append(out, '\r'), false
	}
	return out
}

// characters makes UTF-8 of bytes: each run of others is one U+FFFD.
type characters struct {
	held   []byte
	broken bool // the text ends with U+FFFD
}

func (c *characters) add(text, p []byte, last bool) []byte {
	p = append(c.held, p...)
	for len(p) > 0 && (last || utf8.FullRune(p)) {
		r, n := utf8.DecodeRune(p)
		switch broken := r == utf8.RuneError && n == 1; {
		case !broken:
			text, c.broken = append(text, p[:n]...), false
		case !c.broken:
			text, c.broken = utf8.AppendRune(text, utf8.RuneError), true
		}
		p = p[n:]
	}
	c.held = bytes.Clone(p)
	return text
}

// pending is what is held back, for a guess at what the text goes on with; it
// must not be shown.
func (c *cleaner) pending() string { return string(c.secrets.Held()) + string(c.chars.held) }
