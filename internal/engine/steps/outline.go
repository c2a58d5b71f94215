package steps

import (
	"regexp"
	"strings"

	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// outlineEnd is the last line of an outline.
const outlineEnd = "(outline of SKILL.md; load the skill again for all of it)"

// summaryEnd is the last line of a summary.
const summaryEnd = "(summary of SKILL.md; load the skill again for all of it)"

// Summary returns text, a summary of body, with a last line that says that it is a summary. It
// returns false if text is empty or not shorter than body.
func Summary(text, body string) (string, bool) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if text == "" {
		return "", false
	}
	text += "\n" + summaryEnd
	return text, prompttext.Estimate(text) < prompttext.Estimate(body)
}

// IsShort reports whether text is the result of [Outline] or [Summary].
func IsShort(text string) bool {
	return strings.HasSuffix(text, outlineEnd) || strings.HasSuffix(text, summaryEnd)
}

// rule matches a line that an outline must keep.
var rule = regexp.MustCompile(`\b(MUST|NEVER|ALWAYS|DO NOT|REQUIRED)\b`)

// Outline shortens the body of a skill to about so many tokens. It keeps the headings, the first
// sentence below each, and every line with MUST, NEVER, ALWAYS, DO NOT or REQUIRED. If these
// lines do not fit, it drops lines from the end. The last line says that the text is an outline.
func Outline(body string, tokens int) string {
	var kept []string
	fence, fresh := "", false
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n \t")
		trimmed := strings.TrimSpace(line)
		mark := fenceMark(trimmed)
		switch {
		case mark != "" && fence == "":
			fence = mark
		case mark != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case rule.MatchString(line):
			kept, fresh = append(kept, line), false
		case fence != "":
		case strings.HasPrefix(trimmed, "#"):
			kept, fresh = append(kept, line), true
		case fresh && trimmed != "":
			kept, fresh = append(kept, firstSentence(trimmed)), false
		}
	}
	left := tokens - prompttext.Estimate(outlineEnd) - 1
	n := 0
	for n < len(kept) {
		if left -= prompttext.Estimate(kept[n]) + 1; left < 0 {
			break
		}
		n++
	}
	return strings.Join(append(kept[:n:n], outlineEnd), "\n")
}

// firstSentence returns the first sentence of line.
func firstSentence(line string) string {
	for i := 0; i+1 < len(line); i++ {
		if strings.IndexByte(".!?", line[i]) >= 0 && line[i+1] == ' ' {
			return line[:i+1]
		}
	}
	return line
}
