package skillargs

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrArguments reports arguments that no load takes. Its text is for people and for the model.
var ErrArguments = errors.New("cannot use the arguments")

// Check returns an error that wraps [ErrArguments] if arguments are too long, or contain control
// characters or line ends.
func Check(arguments string) error {
	switch {
	case len(arguments) > Max:
		return fmt.Errorf("%w: they have %d bytes, and at most %d are allowed", ErrArguments, len(arguments), Max)
	case !utf8.ValidString(arguments):
		return fmt.Errorf("%w: they are not valid UTF-8", ErrArguments)
	}
	for _, r := range arguments {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			return fmt.Errorf("%w: they contain %U, and control characters and line ends are not allowed", ErrArguments, r)
		}
	}
	return nil
}

// Words cuts arguments into words as a shell does. Single quotes keep every character between
// them. Double quotes keep spaces, and a backslash in them keeps a quote, a backslash, "$" or "`".
// Elsewhere a backslash keeps the next character. A quote that is not closed, and a backslash at
// the end, are ordinary characters.
func Words(arguments string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	for i := 0; i < len(arguments); {
		c := arguments[i]
		end := -1
		if c == '\'' || c == '"' {
			end = closing(arguments, i)
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
			i++
			continue
		case end < 0 && c == '\\' && i+1 < len(arguments):
			i++
			word.WriteByte(arguments[i])
			i++
		case end < 0:
			word.WriteByte(c)
			i++
		case c == '\'':
			word.WriteString(arguments[i+1 : end])
			i = end + 1
		default:
			writeQuoted(&word, arguments[i+1:end])
			i = end + 1
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// closing returns the index of the quote that closes the one at index open, or -1.
func closing(text string, open int) int {
	for i := open + 1; i < len(text); i++ {
		switch {
		case text[i] == text[open]:
			return i
		case text[i] == '\\' && text[open] == '"':
			i++
		}
	}
	return -1
}

// writeQuoted writes the text between double quotes.
func writeQuoted(word *strings.Builder, text string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0 {
			i++
		}
		word.WriteByte(text[i])
	}
}
