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

// Summary is what somebody has written for the body of a skill, with a line that says that
// it is a summary. It reports false if that is nothing or not shorter than the body.
func Summary(text, body string) (string, bool) {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if text == "" {
		return "", false
	}
	text += "\n" + summaryEnd
	return text, prompttext.Estimate(text) < prompttext.Estimate(body)
}

// IsShort reports a text that is an outline or a summary.
func IsShort(text string) bool {
	return strings.HasSuffix(text, outlineEnd) || strings.HasSuffix(text, summaryEnd)
}

// rule is a line that must not be lost.
var rule = regexp.MustCompile(`\b(MUST|NEVER|ALWAYS|DO NOT|REQUIRED)\b`)

// Outline shortens the body of a skill to about so many tokens. It keeps the headings, the
// first sentence below each, and whole lines with MUST, NEVER, ALWAYS, DO NOT or REQUIRED,
// in their order. Lines that do not fit are cut from the end. The outline says that it is
// one.
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

// firstSentence cuts a line behind its first sentence.
func firstSentence(line string) string {
	for i := 0; i+1 < len(line); i++ {
		if strings.IndexByte(".!?", line[i]) >= 0 && line[i+1] == ' ' {
			return line[:i+1]
		}
	}
	return line
}
