package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	escape "github.com/satchel-go/satchel/internal/text/printable"
)

// Printable makes text from outside safe to print on one line. White space becomes a
// space. Control sequences, and characters that people do not see or that change the order
// of others, become U+FFFD; those that join letters and emoji stay.
func Printable(s string) string {
	return escape.Replaced(lineBreaks.Replace(s))
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")

// WriteJSON writes a value as one line of JSON, which is printable.
func WriteJSON(out io.Writer, value any) error {
	text, err := plainjson.Encode(value)
	if err == nil {
		_, err = io.WriteString(out, escape.Lines(text)+"\n")
	}
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// OneLine returns an error's text on one line. Joined errors have one line each.
func OneLine(text string) string {
	return Printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// Count returns a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Shorten returns at most n characters of a text, and marks the cut.
func Shorten(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return strings.TrimRightFunc(string(runes[:n-1]), unicode.IsSpace) + "…"
}

// PlainText replaces the characters of a text that control a terminal or change the order of others. It
// keeps line feeds and tabs.
func PlainText(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c < ' ', c >= 0x7f && c < 0xa0, c >= '\u202a' && c <= '\u202e', c >= '\u2066' && c <= '\u2069':
			return '\uFFFD'
		}
		return c
	}, text)
}
