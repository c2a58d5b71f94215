package prompt

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// errEnough ends the encoding of a text.
var errEnough = errors.New("enough")

// Pieces is the vocabulary o200k_base of OpenAI's models since GPT-4o. It finds the pieces of a text without
// a regular expression. A piece of more than 64 KiB, such as one letter a million times, is encoded in parts of
// that size. Long texts are encoded by several goroutines. It is not safe for concurrent use.
type Pieces struct {
	// codec encodes the first pieces, which are known then. When it has encoded many bytes, which news counts,
	// mergers take its place. To read their ranks takes longer than a few texts.
	codec   tokenizer.Codec
	known   map[string][]Token
	news    int
	ranks   *ranks
	mergers []*merger
}

// Token is a token of a text and its size in bytes.
type Token struct {
	ID   uint32
	Size uint16
}

// NewPieces opens the vocabulary.
func NewPieces() (*Pieces, error) {
	readClasses()
	codec, err := openCodec()
	if err != nil {
		return nil, err
	}
	return &Pieces{codec: codec, known: make(map[string][]Token)}, nil
}

// Encode implements [Vocabulary].
func (p *Pieces) Encode(text string) (ids []uint, tokens []string, err error) {
	at := 0
	err = p.Each(text, func(all []Token) bool {
		for _, t := range all {
			ids, tokens = append(ids, uint(t.ID)), append(tokens, text[at:at+int(t.Size)])
			at += int(t.Size)
		}
		return true
	})
	return ids, tokens, err
}

// Each calls yield with the tokens of one or more pieces of a text, in order. The text must be valid UTF-8. yield
// must not change or keep the tokens. If it returns false, Each ends with an error.
func (p *Pieces) Each(text string, yield func([]Token) bool) error {
	for p.ranks == nil && len(text) > 0 {
		n := piece(text)
		tokens, isKnown := p.known[text[:n]]
		if !isKnown {
			p.news += n
			if p.news > maxNews || len(text) > minParallel || isDivided(text[:n]) {
				r, err := readRanks()
				if err != nil {
					return err
				}
				p.ranks, p.known = r, nil
				break
			}
			var err error
			if tokens, err = p.encode(text[:n]); err != nil {
				return err
			}
			p.known[strings.Clone(text[:n])] = tokens // the text can be freed
		}
		if !yield(tokens) {
			return errEnough
		}
		text = text[n:]
	}
	if text != "" && !p.merge(&scanner{rest: text}, yield) {
		return errEnough
	}
	return nil
}

// encode returns the tokens of a part by the codec.
func (p *Pieces) encode(part string) ([]Token, error) {
	ids, texts, err := p.codec.Encode(part)
	if err != nil {
		return nil, fmt.Errorf("encode text: %w", err)
	}
	tokens := make([]Token, len(ids))
	for i := range ids {
		tokens[i] = Token{uint32(ids[i]), uint16(len(texts[i]))}
	}
	return tokens, nil
}

// isDivided reports whether the codec takes a piece for several: white space with ends of lines before the
// last ones. It also loses the delete character.
func isDivided(part string) bool {
	if strings.Contains(part, del) {
		return true
	}
	before := strings.TrimRight(part, "\r\n")
	return strings.ContainsAny(before, "\r\n") && strings.TrimSpace(before) == ""
}

// class is the set of the classes of a character.
type class uint8

const (
	isUpper  class = 1 << iota // may stand in the first part of a word
	isLower                    // may stand in the second part of a word
	isLetter                   // not a mark
	isNumber
	isSpace
	isNewline
	isSign // none of the others, or a mark
)

// isWord are the classes of the characters of words, which are letters and marks.
const isWord = isUpper | isLower

// classes holds the classes of all characters below 1<<16.
var classes [1 << 16]class

// readClasses fills classes.
var readClasses = sync.OnceFunc(func() {
	set := func(t *unicode.RangeTable, c class) {
		for _, span := range t.R16 {
			for r := int(span.Lo); r <= int(span.Hi); r += int(span.Stride) {
				classes[r] |= c
			}
		}
	}
	set(unicode.Ll, isLetter|isLower)
	set(unicode.Lu, isLetter|isUpper)
	set(unicode.Lt, isLetter|isUpper)
	set(unicode.Lm, isLetter|isUpper|isLower)
	set(unicode.Lo, isLetter|isUpper|isLower)
	set(unicode.M, isUpper|isLower)
	set(unicode.N, isNumber)
	set(unicode.White_Space, isSpace)
	classes['\r'] |= isNewline
	classes['\n'] |= isNewline
	for r := range classes {
		if classes[r]&(isSpace|isLetter|isNumber) == 0 {
			classes[r] |= isSign
		}
	}
})

func classOf(r rune) class {
	if r < 1<<16 {
		return classes[r]
	}
	return classify(r)
}

func classify(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return isSpace | isNewline
	case unicode.IsSpace(r):
		return isSpace
	case unicode.Is(unicode.Ll, r):
		return isLetter | isLower
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return isLetter | isUpper
	case unicode.IsLetter(r):
		return isLetter | isUpper | isLower
	case unicode.IsMark(r):
		return isUpper | isLower | isSign
	case unicode.IsNumber(r):
		return isNumber
	}
	return isSign
}

// piece returns the length of the first piece of a text. A piece is one of these:
//   - a word, with one character before it and a contraction behind it
//   - up to three digits
//   - other characters, with the space before them and the ends of lines behind them
//   - white space
func piece(text string) int {
	first, size := rune(text[0]), 1
	if first >= utf8.RuneSelf {
		first, size = utf8.DecodeRuneInString(text)
	}
	c := classOf(first)
	if c&isLetter != 0 {
		return word(text)
	}
	if c&(isNumber|isNewline) == 0 { // it may stand before a word
		if n := word(text[size:]); n > 0 {
			return size + n
		}
	}
	switch {
	case c&isWord != 0: // a mark
		return word(text)
	case c&isNumber != 0:
		return number(text)
	case c&isSpace == 0:
		return signs(text)
	case first == ' ' && len(text) > 1:
		if next, _ := utf8.DecodeRuneInString(text[1:]); classOf(next)&isSign != 0 {
			return 1 + signs(text[1:])
		}
	}
	return space(text)
}

// span returns the length of the first characters of a text that have one of some classes.
func span(text string, of class) (n int) {
	for n < len(text) {
		if b := text[n]; b < utf8.RuneSelf {
			if classes[b]&of == 0 {
				break
			}
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		if classOf(r)&of == 0 {
			break
		}
		n += size
	}
	return n
}

// number returns the length of up to three numbers at the beginning of a text.
func number(text string) (n int) {
	for count := 0; count < 3 && n < len(text); count++ {
		r, size := utf8.DecodeRuneInString(text[n:])
		if classOf(r)&isNumber == 0 {
			break
		}
		n += size
	}
	return n
}

// word returns the length of the word at the beginning of a text, or 0. A word has a first part and a
// second one. Where a character may stand in both, the second part gets at least one.
func word(text string) int {
	n, last := 0, 0 // last is the end of the last character that both parts may have
	for n < len(text) {
		if b := text[n]; b < utf8.RuneSelf {
			if classes[b]&isUpper == 0 {
				break
			}
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		c := classOf(r)
		if c&isUpper == 0 {
			break
		}
		if n += size; c&isLower != 0 {
			last = n
		}
	}
	switch lower := span(text[n:], isLower); {
	case lower > 0:
		n += lower
	case last > 0:
		n = last
	}
	if n == 0 || n == len(text) || text[n] != '\'' {
		return n
	}
	return n + contraction(text[n:])
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at the beginning of a text.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	second := byte(0)
	if len(text) > 2 {
		second = text[2] | 0x20
	}
	switch first := text[1] | 0x20; {
	case first == 's' || first == 't' || first == 'm' || first == 'd':
		return 2
	case (first == 'r' || first == 'v') && second == 'e', first == 'l' && second == 'l':
		return 3
	}
	return 0
}

// signs returns the length of the characters at the beginning of a text that are no letters, numbers
// and white space, with the slashes and ends of lines behind them.
func signs(text string) int {
	n := span(text, isSign)
	for n < len(text) && (text[n] == '\r' || text[n] == '\n' || text[n] == '/') {
		n++
	}
	return n
}

// space returns the length of a piece of white space: to the last end of a line, or all, but for the
// last character if a word or sign follows.
func space(text string) int {
	n, line, last := 0, 0, 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		c := classOf(r)
		if c&isSpace == 0 {
			break
		}
		last = n
		if n += size; c&isNewline != 0 {
			line = n
		}
	}
	switch {
	case line > 0:
		return line
	case n < len(text) && last > 0:
		return last
	}
	return n
}
