package search

import "strings"

// markdown returns the headings of a text and the beginning of its prose. It leaves out fenced
// code blocks: names of commands and variables say little about the purpose of a skill.
func markdown(text string) (headings, prose string) {
	var h, p strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if mark := fenceOf(trimmed); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
				fence = ""
			}
			continue
		}
		switch {
		case fence != "":
		case isHeading(trimmed):
			h.WriteString(line)
		case p.Len() < maxBody:
			p.WriteString(line[:min(len(line), maxBody-p.Len())])
		}
	}
	return h.String(), p.String()
}

// fenceOf returns the run of three or more marks with which a line opens or closes a
// code block, or "".
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func isHeading(line string) bool {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	return level >= 1 && level <= 6 && len(line) > level && line[level] == ' '
}
