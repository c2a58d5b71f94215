package processors

import (
	"strings"
)

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// xmlText escapes text for an element or a quoted attribute and folds its
// white space: names and descriptions are outside input and must not be able
// to open or close a tag, or a line, of ours.
func xmlText(s string) string {
	return xmlEscaper.Replace(strings.Join(strings.Fields(s), " "))
}

// closers are the names of the end tags that a skill's text must not contain as
// such.
var closers = [...]string{"skill", "skill_doc", "active_skills", "available_skills"}

// fenced returns a body in which no end tag of ours stands, so that a skill
// cannot pretend that its text ended and the host's begins. Text without such
// a tag, which is nearly all there is, comes back unchanged.
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

// closes reports whether what follows "</" makes it an end tag of ours.
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
