// Package prompttext escapes texts of skills for a prompt, so that they cannot close a tag of
// Satchel or hide characters. It also estimates how many tokens a text takes.
package prompttext

import (
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/printable"
)

var (
	xmlEscaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	quoteEscaper = strings.NewReplacer(`"`, "&quot;")
)

// Text folds the white space of a text and escapes it for an element. Names and descriptions are
// untrusted: they must not open or close a tag or a line that Satchel writes, and must not hide
// or reorder other text.
func Text(s string) string { return Escape(Fold(s)) }

// Attribute escapes text as [Text] does, for a quoted attribute.
func Attribute(s string) string { return quoteEscaper.Replace(Text(s)) }

// Escape escapes text for an element and keeps its white space.
func Escape(s string) string { return xmlEscaper.Replace(s) }

// Fold writes a name on one line. Control characters, and those that take no room and
// that its script does not need, become U+FFFD.
func Fold(s string) string { return printable.Replaced(strings.Join(strings.Fields(s), " ")) }

// FoldDescription is Fold for a description. It removes invisible characters instead of replacing
// them.
func FoldDescription(s string) string {
	return strings.Join(strings.Fields(printable.Visible(s)), " ")
}

// closers are the names of the end tags that the text of a skill must not contain.
var closers = [...]string{"skill", "skill_doc", "active_skills", "available_skills"}

// Fence escapes every end tag in a body that Satchel writes too. So a skill cannot pretend that
// its text has ended and that the host's text begins. It also trims line ends. Most bodies have
// no such tag.
func Fence(body string) string {
	body = strings.Trim(body, "\n")
	var b strings.Builder
	done := 0
	for from := 0; ; {
		i := strings.Index(body[from:], "</")
		if i < 0 {
			break
		}
		if from += i + 2; closes(body[from:]) {
			b.WriteString(body[done : from-1])
			b.WriteByte('\\')
			done = from - 1
		}
	}
	if done == 0 {
		return body
	}
	b.WriteString(body[done:])
	return b.String()
}

// closes reports whether rest, the text after "</", begins with the end of a tag in closers.
func closes(rest string) bool {
	for _, c := range closers {
		if len(rest) > len(c) && strings.EqualFold(rest[:len(c)], c) &&
			strings.HasPrefix(strings.TrimLeft(rest[len(c):], " \t\r\n"), ">") {
			return true
		}
	}
	return false
}

// HasParagraph reports whether the last paragraph of text is the given one.
func HasParagraph(text, paragraph string) bool {
	rest, ok := strings.CutSuffix(text, paragraph)
	return ok && (rest == "" || strings.HasSuffix(rest, "\n\n"))
}

// Estimate counts one token for every four ASCII characters and one for every other
// character. For prose the estimate tends to be too high.
func Estimate(text string) int {
	ascii, other := 0, 0
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < utf8.RuneSelf {
			ascii++
		} else if utf8.RuneStart(c) {
			other++
		}
	}
	return (ascii+3)/4 + other
}
