package langchaingo

import (
	"encoding/json"
	"strings"
)

// pieces joins the arguments of a call that arrive in pieces, and reports after each piece
// whether they are complete. The time it takes is proportional to the text, however small the
// pieces are.
type pieces struct {
	text                   strings.Builder
	depth                  int  // how many objects and lists are open
	inString, isEscaped    bool // the next byte is within a string, or follows a backslash
	hasStructure, hasEnded bool // an object or a list has begun, and ended
	hasMore                bool // something follows the end
	isChecked, isValid     bool
}

func (p *pieces) add(s string) {
	p.text.WriteString(s)
	for i := 0; i < len(s) && !p.hasMore; i++ {
		p.step(s[i])
	}
}

// step follows the structure of the JSON by one byte.
func (p *pieces) step(c byte) {
	switch {
	case p.isEscaped:
		p.isEscaped = false
	case p.inString:
		p.inString, p.isEscaped = c != '"', c == '\\'
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case p.hasEnded:
		p.hasMore = true
	case c == '{' || c == '[':
		p.hasStructure = true
		p.depth++
	case !p.hasStructure:
		p.hasMore = true
	case c == '"':
		p.inString = true
	case c == '}' || c == ']':
		p.depth--
		p.hasEnded = p.depth == 0
	}
}

// isJSON reports whether the pieces so far are one complete JSON value.
func (p *pieces) isJSON() bool {
	switch {
	case !p.hasStructure:
		return p.text.Len() <= maxScalar && json.Valid([]byte(p.text.String()))
	case !p.hasEnded || p.hasMore:
		return false
	case !p.isChecked:
		p.isChecked, p.isValid = true, json.Valid([]byte(p.text.String()))
	}
	return p.isValid
}
