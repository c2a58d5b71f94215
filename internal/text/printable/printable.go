// Package printable writes names and messages so that a reader sees every character. It escapes
// characters that move a cursor, take no room, or change the order or the look of others. The
// escapes are those of JSON, so a program that decodes the JSON gets the original text.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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

// An invisible character takes no room on a screen: a format character, a variation selector, a
// filler, a tag. Models read it and people do not. In some places writing needs these
// characters; there they count as ordinary:
//   - one U+FE0E or U+FE0F behind an emoji, a digit, "#" or "*",
//   - U+200D between emoji,
//   - U+200C and U+200D between letters of scripts that join,
//   - the blank of Braille between its patterns.

// HasInvisible reports whether a text holds an invisible character that is not ordinary.
func HasInvisible(text string) bool { return FirstInvisible(text) >= 0 }

// FirstInvisible returns the index of the first invisible character of a text that is not
// ordinary, -1 for none.
func FirstInvisible(text string) int {
	for i, r := range text {
		if r >= 0x80 && isInvisible(text, i, r) {
			return i
		}
	}
	return -1
}

// Visible removes invisible characters that are not ordinary. Control characters other than line
// feed and tab become spaces, and broken UTF-8 becomes U+FFFD.
func Visible(text string) string {
	return mapEscapes(text, "\n\t", func(b *strings.Builder, r rune) {
		if isControl(r) {
			b.WriteByte(' ')
		}
	})
}

// Replaced returns a text on one line. It writes U+FFFD for control characters and for invisible
// characters that are not ordinary.
func Replaced(text string) string {
	return mapEscapes(text, "", func(b *strings.Builder, _ rune) { b.WriteRune(utf8.RuneError) })
}

// mapEscapes calls replace for each control character that is not in kept, and for each
// invisible character that is not ordinary. replace writes the replacement.
func mapEscapes(text, kept string, replace func(*strings.Builder, rune)) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	done, some := 0, false
	for i, r := range text {
		if r >= ' ' && r < 0x7f || !isControl(r) && !isInvisible(text, i, r) || strings.ContainsRune(kept, r) {
			continue
		}
		some = true
		b.WriteString(text[done:i])
		replace(&b, r)
		done = i + utf8.RuneLen(r)
	}
	if !some {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

func isControl(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }

const (
	nonJoiner  = '\u200C'
	joiner     = '\u200D'
	textStyle  = '\uFE0E'
	emojiStyle = '\uFE0F'
	blank      = '\u2800' // of Braille
)

// takesNoRoom are the characters, besides format characters, that take no room on a screen in
// any context.
var takesNoRoom = []*unicode.RangeTable{unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, fillers}

// fillers show nothing although Unicode does not list them as ignorable: the joiner of Brahmi
// numbers, the filler of the Khitan script and the null notehead.
var fillers = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x1107F, Hi: 0x1107F, Stride: 1}, {Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, {Lo: 0x1D159, Hi: 0x1D159, Stride: 1}}}

// isInvisible reports whether the character r at text[i:] is invisible and not ordinary.
func isInvisible(text string, i int, r rune) bool {
	switch {
	case r == blank:
		return !isBraille(before(text, i)) && !isBraille(after(text, i, r))
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case !unicode.Is(unicode.Cf, r) && !unicode.In(r, takesNoRoom...):
		return false
	}
	prev, next := before(text, i), after(text, i, r)
	switch r {
	case textStyle, emojiStyle:
		return !isEmoji(prev) && !strings.ContainsRune("0123456789#*", prev)
	case joiner:
		if prev == emojiStyle {
			prev = before(text, i-utf8.RuneLen(prev))
		}
		return !(isEmoji(prev) && isEmoji(next)) && !joins(text, i, next)
	case nonJoiner:
		return !joins(text, i, next)
	}
	return true
}

func before(text string, i int) rune {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return r
}

func after(text string, i int, r rune) rune {
	next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
	return next
}

func isBraille(r rune) bool { return r > blank && r <= 0x28FF }

// emoji are the blocks of symbols that have an emoji form, and single such symbols of other
// blocks.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xA9, 0xA9, 1}, {0xAE, 0xAE, 1}, {0x203C, 0x203C, 1}, {0x2049, 0x2049, 1}, {0x2122, 0x2122, 1}, {0x2139, 0x2139, 1},
		{0x2194, 0x21AA, 1}, {0x231A, 0x23FF, 1}, {0x24C2, 0x24C2, 1}, {0x25AA, 0x25FE, 1}, {0x2600, 0x27BF, 1}, {0x2934, 0x2935, 1},
		{0x2B05, 0x2B55, 1}, {0x3030, 0x3030, 1}, {0x303D, 0x303D, 1}, {0x3297, 0x3299, 2},
	},
	R32: []unicode.Range32{{0x1F000, 0x1FAFF, 1}},
}

func isEmoji(r rune) bool { return unicode.Is(emoji, r) }

// joining are the scripts whose letters change their form beside other letters. U+200C and
// U+200D choose the form.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa, unicode.Manichaean,
	unicode.Psalter_Pahlavi, unicode.Hanifi_Rohingya, unicode.Adlam, unicode.Sogdian,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese,
	unicode.Javanese, unicode.Sundanese, unicode.Grantha, unicode.Tirhuta, unicode.Newa, unicode.Chakma, unicode.Meetei_Mayek,
}

// joins reports whether the joiner at text[i:] is between two letters of joining scripts. next is
// the character after it. A mark belongs to the letter before it.
func joins(text string, i int, next rune) bool {
	if !unicode.In(next, unicode.L, unicode.M) || !unicode.In(next, joining...) || unicode.In(next, takesNoRoom...) {
		return false
	}
	for range maxMarks {
		prev, size := utf8.DecodeLastRuneInString(text[:i])
		if !unicode.Is(unicode.M, prev) || unicode.In(prev, takesNoRoom...) {
			return unicode.IsLetter(prev) && unicode.In(prev, joining...)
		}
		i -= size
	}
	return false
}
