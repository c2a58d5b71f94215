package langchaingo

import (
	"encoding/json"
	"strings"
)

// pieces joins the arguments of a call that come in pieces, and knows at each whether
// they are whole. It takes time in proportion to the text, however small the pieces
// are.
type pieces struct {
	text             strings.Builder
	depth            int  // of objects and lists that are open
	quoted, escaped  bool // within a string
	structure, ended bool // an object or a list has begun, or ended
	beyond           bool // something follows it
	checked, valid   bool
}

func (p *pieces) add(s string) {
	p.text.WriteString(s)
	for i := 0; i < len(s) && !p.beyond; i++ {
		p.step(s[i])
	}
}

func (p *pieces) step(c byte) {
	switch {
	case p.escaped:
		p.escaped = false
	case p.quoted:
		p.quoted, p.escaped = c != '"', c == '\\'
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case p.ended:
		p.beyond = true
	case c == '{' || c == '[':
		p.structure = true
		p.depth++
	case !p.structure:
		p.beyond = true
	case c == '"':
		p.quoted = true
	case c == '}' || c == ']':
		p.depth--
		p.ended = p.depth == 0
	}
}

// isJSON reports whether the pieces are one whole JSON value.
func (p *pieces) isJSON() bool {
	switch {
	case !p.structure:
		return p.text.Len() <= maxScalar && json.Valid([]byte(p.text.String()))
	case !p.ended || p.beyond:
		return false
	case !p.checked:
		p.checked, p.valid = true, json.Valid([]byte(p.text.String()))
	}
	return p.valid
}
