package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// part is a text of a skill that the model asks for: a body, a doc or a section of a doc.
type part struct {
	skill string
	doc   string // empty for the body
	// anchor names the section as in a link, and first and last are its lines, from 1.
	anchor      string
	first, last int
	lines       []string
	marks       []string
	// asked is how often the step has asked for it before.
	asked int
}

// readPart reads a part below dir. heading is empty for the whole text.
func readPart(dir, skill, doc, heading string) (part, error) {
	p := part{skill: skill, doc: doc}
	name := doc
	if name == "" {
		name = "SKILL.md"
	}
	data, err := os.ReadFile(filepath.Join(dir, skill, filepath.FromSlash(name)))
	if err != nil {
		return p, err
	}
	lines := strings.Split(string(data), "\n")
	p.first, p.last = 1, len(lines)
	if heading != "" {
		if p.first, p.last = section(lines, heading); p.first == 0 {
			return p, fmt.Errorf("%s/%s has no heading %q: name one as it stands there, without #", skill, doc, heading)
		}
		p.anchor = anchorOf(heading)
	}
	lines = lines[p.first-1 : p.last]
	if doc == "" {
		lines = withoutFrontmatter(lines)
	}
	p.lines, p.marks = lines, marksOf(lines)
	return p, nil
}

// isIn reports whether a request holds the part.
func (p part) isIn(request string) bool {
	for _, mark := range p.marks {
		if !strings.Contains(request, mark) {
			return false
		}
	}
	return true
}

func withoutFrontmatter(lines []string) []string {
	if strings.TrimSpace(lines[0]) == "---" {
		for i, line := range lines[1:] {
			if strings.TrimSpace(line) == "---" {
				return lines[i+2:]
			}
		}
	}
	return lines
}

// marksOf returns the longest line of the first half and of the second half. Agents may number
// lines or cut them, so a mark is the beginning of a line. Lines that JSON escapes are left out.
func marksOf(lines []string) []string {
	var marks []string
	for _, half := range [][]string{lines[:len(lines)/2], lines[len(lines)/2:]} {
		longest := ""
		for _, line := range half {
			line = strings.TrimSpace(line)
			if !strings.ContainsAny(line, "\"\\<>&\t") && len(line) > len(longest) {
				longest = line
			}
		}
		if runes := []rune(longest); len(runes) > 100 {
			longest = string(runes[:100])
		}
		if longest != "" {
			marks = append(marks, longest)
		}
	}
	return marks
}

// section returns the first and the last line of a section, from 1, or 0 if there is none.
func section(lines []string, heading string) (first, last int) {
	level, isCode := 0, false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			isCode = !isCode
		}
		text := strings.TrimLeft(line, "#")
		depth := len(line) - len(text)
		switch {
		case isCode || depth == 0 || depth > 6 || !strings.HasPrefix(text, " "):
		case first > 0 && depth <= level:
			return first, i
		case first == 0 && strings.TrimSpace(text) == heading:
			first, level = i+1, depth
		}
	}
	return first, len(lines)
}

// anchorOf returns the anchor of a heading as in links of GitHub.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
