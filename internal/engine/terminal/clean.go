package terminal

import (
	"bytes"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// cleaner converts the output of a process to text: it restores line ends, replaces secrets, and
// makes the text valid UTF-8. The result does not depend on how the process divides its output.
// The cleaner holds back a part of a line end, a secret or a character until the next bytes
// arrive.
type cleaner struct {
	// lines is nil if line ends stay unchanged.
	lines   *lineEnds
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

// add appends the text of p to text. After the last p it holds nothing back.
func (c *cleaner) add(text, p []byte, last bool) []byte {
	if c.lines != nil {
		p = c.lines.add(p, last)
	}
	return c.chars.add(text, c.secrets.Add(p, last), last)
}

// lineEnds converts "\r\n", which a terminal writes for "\n", back to "\n".
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

// characters converts bytes to UTF-8. Each run of invalid bytes becomes one U+FFFD.
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

// pending returns the text that is held back. It may only be used to guess how the output
// continues, and must not be shown.
func (c *cleaner) pending() string { return string(c.secrets.Held()) + string(c.chars.held) }
