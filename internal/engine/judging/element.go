package judging

import (
	"errors"
	"unicode/utf8"
)

// element is the pattern of one element of a path, between two slashes.
type element []token

// token matches one character, or any number of characters.
type token struct {
	kind   tokenKind
	char   rune       // of a literal
	ranges []runRange // of a class
	negate bool
}

type tokenKind uint8

const (
	literalToken tokenKind = iota
	anyOneToken            // ?
	classToken             // [a-z]
	anyRunToken            // *
)

type runRange struct{ low, high rune }

// isAnyDepth reports whether the element is "**", which matches any number of elements.
func (e element) isAnyDepth() bool {
	return len(e) == 2 && e[0].kind == anyRunToken && e[1].kind == anyRunToken
}

var (
	errClass  = errors.New("a class of characters […] that is not closed")
	errEscape = errors.New("a backslash at the end")
)

// newElement parses the pattern of one element.
func newElement(text string) (element, error) {
	var e element
	for len(text) > 0 {
		c, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch c {
		case '*':
			e = append(e, token{kind: anyRunToken})
		case '?':
			e = append(e, token{kind: anyOneToken})
		case '[':
			class, rest, err := newClass(text)
			if err != nil {
				return nil, err
			}
			e, text = append(e, class), rest
		case '\\':
			if text == "" {
				return nil, errEscape
			}
			c, size = utf8.DecodeRuneInString(text)
			text = text[size:]
			fallthrough
		default:
			e = append(e, token{char: c})
		}
	}
	return e, nil
}

// newClass parses a character class after its bracket: "a-z]", or "^a-z]" for all other
// characters.
func newClass(text string) (class token, rest string, err error) {
	class.kind = classToken
	if text != "" && (text[0] == '^' || text[0] == '!') {
		class.negate, text = true, text[1:]
	}
	for text != "" && (text[0] != ']' || len(class.ranges) == 0) {
		var r runRange
		if r.low, text, err = classChar(text); err != nil {
			return class, "", err
		}
		r.high = r.low
		if len(text) > 1 && text[0] == '-' && text[1] != ']' {
			if r.high, text, err = classChar(text[1:]); err != nil {
				return class, "", err
			}
		}
		class.ranges = append(class.ranges, r)
	}
	if text == "" {
		return class, "", errClass
	}
	return class, text[1:], nil
}

func classChar(text string) (c rune, rest string, err error) {
	if text[0] == '\\' {
		if text = text[1:]; text == "" {
			return 0, "", errClass
		}
	}
	c, size := utf8.DecodeRuneInString(text)
	return c, text[size:], nil
}

// is reports whether the token matches one character.
func (t *token) is(c rune) bool {
	switch t.kind {
	case literalToken:
		return t.char == c
	case classToken:
		for _, r := range t.ranges {
			if r.low <= c && c <= r.high {
				return !t.negate
			}
		}
		return t.negate
	}
	return true
}

// matches compares an element of a path. It takes at most the product of both lengths, because it
// only goes back to the last "*".
func (e element) matches(name string, m *meter) bool {
	at, rest := 0, name
	star, starRest := -1, ""
	for {
		if !m.spend(1) {
			return false
		}
		if at < len(e) && e[at].kind == anyRunToken {
			star, starRest = at, rest
			at++
			continue
		}
		if rest == "" && at == len(e) {
			return true
		}
		if rest != "" && at < len(e) {
			if c, size := utf8.DecodeRuneInString(rest); e[at].is(c) {
				at, rest = at+1, rest[size:]
				continue
			}
		}
		if star < 0 || starRest == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(starRest)
		starRest = starRest[size:]
		at, rest = star+1, starRest
	}
}

func (t *token) isDot() bool { return t.kind == literalToken && t.char == '.' }
