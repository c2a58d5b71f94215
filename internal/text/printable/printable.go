// Package printable writes names and messages so that a reader sees every character. Some
// characters become the escapes of JSON: those that move a cursor, that take no room, or
// that change the order and the look of others. Read back as JSON, the text is the same.
package printable

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Lines returns a text of ours, which may have line breaks and tabs, or a value in
// JSON. Broken UTF-8 becomes U+FFFD.
func Lines(text string) string { return escape(text, "\n\t") }

// Line returns a name on one line.
func Line(text string) string { return escape(text, "") }

// Cut shortens text from outside to n bytes for an error message that quotes it, and
// makes it valid UTF-8.
func Cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// CutLine is Cut for text that is not quoted, and Line of it.
func CutLine(s string, n int) string { return Line(Cut(s, n)) }

func escape(text, kept string) string {
	return mapEscapes(text, kept, func(b *strings.Builder, r rune) {
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	})
}

// Text is a text whose JSON is printable.
type Text string

// MarshalJSON implements [json.Marshaler].
func (t Text) MarshalJSON() ([]byte, error) {
	text, err := plainjson.Encode(string(t))
	return []byte(Lines(text)), err
}

// Texts returns a list as texts.
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
