package processors

import (
	"strings"
)

var (
	xmlEscaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	quoteEscaper = strings.NewReplacer(`"`, "&quot;")
)

// xmlText escapes text for an element and folds its white space. Names and
// descriptions come from outside and must not be able to open or close a tag or a
// line that Satchel writes, nor to hide or turn around what stands in it.
func xmlText(s string) string { return escaped(folded(s)) }

// xmlAttribute is xmlText for a quoted attribute.
func xmlAttribute(s string) string { return quoteEscaper.Replace(xmlText(s)) }

func escaped(s string) string { return xmlEscaper.Replace(s) }

func folded(s string) string { return strings.Map(shown, strings.Join(strings.Fields(s), " ")) }

// shown replaces control characters, direction overrides and tag characters. Other
// format characters stay, because emoji and several scripts need them.
func shown(r rune) rune {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return '\uFFFD'
	}
	return r
}

// closers are the names of the end tags that the text of a skill must not contain.
var closers = [...]string{"skill", "skill_doc", "active_skills", "available_skills"}

// fenced returns a body with every end tag that Satchel writes escaped, so that a
// skill cannot pretend that its text has ended and the host's text begins. Text
// without such a tag, which is nearly all there is, comes back unchanged.
func fenced(body string) string {
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

// closes reports whether the text after "</" completes an end tag that Satchel
// writes.
func closes(rest string) bool {
	for _, c := range closers {
		if len(rest) > len(c) && strings.EqualFold(rest[:len(c)], c) &&
			strings.HasPrefix(strings.TrimLeft(rest[len(c):], " \t\r\n"), ">") {
			return true
		}
	}
	return false
}

// ends reports whether text ends with the paragraph.
func ends(text, paragraph string) bool {
	rest, ok := strings.CutSuffix(text, paragraph)
	return ok && (rest == "" || strings.HasSuffix(rest, "\n\n"))
}
