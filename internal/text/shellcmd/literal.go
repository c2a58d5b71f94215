package shellcmd

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Reasons why a word is not literal, in words for the model.
var (
	errExpansion = errors.New("expansions and substitutions ($…, `…`, <(…))")
	errANSIQuote = errors.New("the quotes $'…' and $\"…\"")
	errGlob      = errors.New("patterns, braces and ~ outside of quotes")
	errBackslash = errors.New("a backslash at the end")
)

// literal returns the value of a word if it is the same for every shell, and
// otherwise an error that says why it is not.
func literal(word *syntax.Word) (string, error) {
	switch text := word.Lit(); text {
	case "[", "]", "{}":
		return text, nil // alone it is neither a pattern nor an expansion
	}
	var value strings.Builder
	for i, part := range word.Parts {
		var text string
		var err error
		switch part := part.(type) {
		case *syntax.Lit:
			text, err = unescape(part.Value, i == 0)
		case *syntax.SglQuoted:
			if text = part.Value; part.Dollar {
				err = errANSIQuote
			}
		case *syntax.DblQuoted:
			text, err = doubleQuoted(part)
		case *syntax.ExtGlob, *syntax.BraceExp:
			err = errGlob
		default:
			err = errExpansion
		}
		if err != nil {
			return "", err
		}
		value.WriteString(text)
	}
	return value.String(), nil
}

// unescape resolves the backslashes of text outside of quotes. It refuses a tilde where a shell
// expands it: at the start of a word, and in text that looks like an assignment.
func unescape(text string, first bool) (string, error) {
	var value strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i++; i == len(text) {
				return "", errBackslash
			}
			if text[i] == '\n' {
				continue // a continued line; the parser leaves some of them in
			}
		case '*', '?', '[', ']', '{', '}':
			return "", errGlob
		case '~':
			if i == 0 && first || i > 0 && strings.IndexByte("=:", text[i-1]) >= 0 {
				return "", errGlob
			}
		case '$', '`':
			return "", errExpansion
		}
		value.WriteByte(text[i])
	}
	return value.String(), nil
}

// doubleQuoted resolves the backslashes of text in double quotes. There a backslash quotes only
// $, `, " and another backslash.
func doubleQuoted(part *syntax.DblQuoted) (string, error) {
	if part.Dollar {
		return "", errANSIQuote
	}
	var value strings.Builder
	for _, inner := range part.Parts {
		lit, ok := inner.(*syntax.Lit)
		if !ok {
			return "", errExpansion
		}
		text := lit.Value
		for i := 0; i < len(text); i++ {
			if strings.HasPrefix(text[i:], "\\\n") {
				i++
				continue
			}
			if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\", text[i+1]) >= 0 {
				i++
			}
			value.WriteByte(text[i])
		}
	}
	return value.String(), nil
}
