// Package printable writes names and messages so that they show what they hold.
// Control and format characters, which move a cursor or change the order and the look
// of others, become the escapes of JSON: what is read back from JSON is the same text.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/plainjson"
)

// Lines returns a text of ours, which may have line breaks and tabs, or a value in
// JSON. Broken UTF-8 becomes U+FFFD.
func Lines(text string) string { return escaped(text, "\n\t") }

// Line returns a name on one line.
func Line(text string) string { return escaped(text, "") }

func escaped(text, kept string) string {
	hidden := func(r rune) bool {
		return r != utf8.RuneError && !strings.ContainsRune(kept, r) &&
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
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
