// Package printable writes names and messages so that a reader sees every character. It escapes
// characters that move a cursor, take no room, or change the order or the look of others. The
// escapes are those of JSON, so a program that decodes the JSON gets the original text.
package printable

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Lines escapes a text of several lines, or JSON. It keeps line breaks and tabs. Broken UTF-8
// becomes U+FFFD.
func Lines(text string) string { return escape(text, "\n\t") }

// Line escapes a text and returns it on one line.
func Line(text string) string { return escape(text, "") }

// Cut shortens a text to n bytes and makes it valid UTF-8, for an error message that quotes it
// with %q.
func Cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// CutLine is Cut and then Line, for a message that shows the text without quotes.
func CutLine(s string, n int) string { return Line(Cut(s, n)) }

func escape(text, kept string) string {
	return mapEscapes(text, kept, func(b *strings.Builder, r rune) {
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	})
}

// Text is a text that marshals to printable JSON.
type Text string

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	text, err := plainjson.Encode(string(t))
	return []byte(Lines(text)), err
}

// Texts converts a list of strings.
func Texts(list []string) []Text {
	if list == nil {
		return nil
	}
	texts := make([]Text, len(list))
	for i, s := range list {
		texts[i] = Text(s)
	}
	return texts
}

// Size returns the length of a text in printable JSON, without its quotes.
func Size(text string) int {
	encoded, _ := Text(text).MarshalJSON() // strings always marshal
	return len(encoded) - len(`""`)
}
