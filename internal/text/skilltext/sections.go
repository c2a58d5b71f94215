package skilltext

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// inlineLink matches a Markdown link or image. Its group is the text.
var inlineLink = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()]*\)`)

// Heading is a heading of a Markdown text, and the place of its section in bytes. The section
// begins with the heading and ends before the next heading of the same or a higher level.
type Heading struct {
	Text string
	// Anchor is the name that GitHub gives the heading in links. It is unique in its text. A
	// heading without letters and digits has the anchor "section".
	Anchor     string
	Level      int // from 1, the highest, to 6
	Start, End int
}

// Headings returns the headings that begin with "#" in a Markdown text, without those in fenced
// code. It returns no more than the first 2,000.
func Headings(text string) []Heading {
	var all []Heading
	var open []int // indexes of the headings whose sections have not ended
	anchors := map[string]int{}
	fence, at := "", 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimLeft(line, " \t")
		if mark := codeFence(trimmed); mark != "" {
			switch {
			case fence == "" && opensFence(trimmed, mark):
				fence = mark
				continue
			case fence != "" && strings.HasPrefix(mark, fence) && mark == trimmed:
				fence = ""
				continue
			}
		}
		level, title := heading(line)
		if fence != "" || level == 0 {
			continue
		}
		for n := len(open); n > 0 && all[open[n-1]].Level >= level; n-- {
			all[open[n-1]].End = start
			open = open[:n-1]
		}
		if len(all) < maxHeadings {
			open = append(open, len(all))
			all = append(all, Heading{title, uniqueAnchor(title, anchors), level, start, len(text)})
		}
	}
	return all
}

// opensFence reports whether a line that begins with a run of marks opens a code block. Text after
// a run of backticks must contain none, otherwise the line is code in a paragraph.
func opensFence(line, mark string) bool {
	return mark[0] != '`' || !strings.Contains(line[len(mark):], "`")
}

// heading returns the level and the text of a line that is a heading, or level 0. Four blanks or a
// tab before the line make it code.
func heading(line string) (level int, title string) {
	for range 3 {
		line = strings.TrimPrefix(line, " ")
	}
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level < 1 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	title = strings.Trim(rest, " \t")
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		title = strings.TrimRight(bare, " \t")
	}
	return level, cut(title)
}

// cut shortens the text of a heading.
func cut(title string) string {
	return strings.ToValidUTF8(title[:min(len(title), maxHeading)], "")
}

// Anchor returns the anchor that GitHub makes of the text of a heading: its letters, digits and
// "_" in lower case, with "-" for each blank.
func Anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(plainLinks(cut(title))) {
		switch {
		case r == ' ', r == '-':
			b.WriteByte('-')
		case r == '_', unicode.IsLetter(r), unicode.IsMark(r), unicode.Is(unicode.Nd, r), unicode.Is(unicode.Pc, r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainLinks replaces links by their texts.
func plainLinks(title string) string {
	if !strings.Contains(title, "](") {
		return title
	}
	return inlineLink.ReplaceAllString(title, "$1")
}

// uniqueAnchor returns the anchor of a heading, with a number if an earlier heading has it. used
// counts the anchors.
func uniqueAnchor(title string, used map[string]int) string {
	base := Anchor(title)
	if strings.Trim(base, "-") == "" {
		base = "section"
	}
	anchor := base
	for _, taken := used[anchor]; taken; _, taken = used[anchor] {
		used[base]++
		anchor = base + "-" + strconv.Itoa(used[base])
	}
	used[anchor] = 0
	return anchor
}

// FindHeading returns the index of the heading with this anchor, or else of the first one with
// this text in any case, or -1.
func FindHeading(headings []Heading, name string) int {
	name = strings.Trim(strings.TrimLeft(name, "# \t"), " \t")
	text, anchor, byText, byAnchor := cut(name), Anchor(name), -1, -1
	for i, h := range headings {
		switch {
		case h.Anchor == name:
			return i
		case byText < 0 && text != "" && strings.EqualFold(h.Text, text):
			byText = i
		case byAnchor < 0 && anchor != "" && h.Anchor == anchor:
			byAnchor = i
		}
	}
	if byText >= 0 {
		return byText
	}
	return byAnchor
}
